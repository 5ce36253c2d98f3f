"""Corrected covariance and correlation matrices of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.estimate.asking import require_release

if TYPE_CHECKING:
    import numpy as np

    from budget_opt.estimators.matrices.result import CorrelationMatrix, CovarianceMatrix


def covariance(  # noqa: PLR0913 (each a word that users type)
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Literal["population", "data"] = "population",
    scores: Mapping[str, Sequence[float] | Mapping[Any, float]] | None = None,
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
    bootstrap: int = 0,
    rng: np.random.Generator | None = None,
) -> CovarianceMatrix:
    """The original covariance matrix of these columns, or of all attributes that have scores, with errors.

    Public columns take part, without noise, as in `bo.estimate.moment`, where they are named beside an
    attribute. Of a `grouping` the matrix is of the merged categories, as a note says.
    Off the diagonal the retention is divided out, or, of members of one cluster, their joint table corrected;
    variances do not follow it (DESIGN 2.2) and come from the corrected marginals, without bias. Entries whose
    error is above `noise_limit` times the largest size there can be are withheld; `NoiseError` where every
    pair is. Everything else as in `bo.estimate.moment`.
    """
    from budget_opt.estimators.bootstrap.asked import bootstrap_of
    from budget_opt.estimators.matrices import released_matrices
    from budget_opt.estimators.moments.options import MomentOptions

    require_release(released, allocation, attributes)
    options = MomentOptions(target, scores, weight, noise_limit, bootstrap_of(bootstrap, rng))
    return released_matrices.covariance(released, allocation, attributes, options)


def correlation(  # noqa: PLR0913 (each a word that users type)
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Literal["population", "data"] = "population",
    scores: Mapping[str, Sequence[float] | Mapping[Any, float]] | None = None,
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
    bootstrap: int = 0,
    rng: np.random.Generator | None = None,
) -> CorrelationMatrix:
    """The original correlation matrix of these columns, or of all attributes that have scores, with errors.

    Of a `grouping` it is of the merged categories, as a note says.
    The errors contain those of the corrected variances. An attribute whose corrected variance is not clearly
    above 0 has no correlations, and estimates outside [-1, 1] are flagged, both in `.notes`;
    `.repaired()` is the nearest correlation matrix. Everything else as in `covariance`.
    """
    from budget_opt.estimators.bootstrap.asked import bootstrap_of
    from budget_opt.estimators.matrices import released_matrices
    from budget_opt.estimators.moments.options import MomentOptions

    require_release(released, allocation, attributes)
    options = MomentOptions(target, scores, weight, noise_limit, bootstrap_of(bootstrap, rng))
    return released_matrices.correlation(released, allocation, attributes, options)
