"""Corrected cross-moments of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require_names
from budget_opt.api.estimate.asking import require_release

if TYPE_CHECKING:
    import numpy as np

    from budget_opt.estimators.estimate import MomentEstimate
    from budget_opt.estimators.moments.moment_estimates import MomentEstimates


def moment(  # noqa: PLR0913 (each a word that users type)
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Literal["population", "data"] = "population",
    scores: Mapping[str, Sequence[float] | Mapping[Any, float]] | None = None,
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
    bootstrap: int = 0,
    rng: np.random.Generator | None = None,
) -> MomentEstimate:
    """The original cross-moment of these attributes (one: its mean), corrected for the randomization.

    Of an attribute with a `grouping` it is the moment of its merged categories, whose scores are the means of
    those that were merged: `merged` and a note say so. How these differ was not released; where what is
    related to the attribute differs between them, the moment of the declared scores is another one, and no
    interval covers it.

    `released` is a table, the path of one, or `Counts`. `target` says what the standard error is measured
    from: the `population` (sampling and randomization), or `data` (the value in the original table). `scores`
    gives or replaces f of an attribute, one number a category, and f of a public column of categories, as a
    mapping from its values; other public columns take part with their numbers, without noise. `weight` is the
    public column of survey weights, None for the allocation's own, if any. `bootstrap` asks for so many
    replicates beside the error by formula (`.bootstrap`), drawn by `rng`, seeded with 0 unless given.

    Where two members of one cluster take part, the raw moment is not the retention times the original one,
    and is corrected through their joint table (DESIGN 2.9).

    Raises `InputError` for attributes that cannot be estimated and for too few rows, `DataError` for cells
    outside the domain, and `NoiseError` where the error is above `noise_limit` times the largest size that
    the moment can have.
    """
    require_names(attributes)
    return moments(
        released,
        allocation,
        [attributes],
        target,
        scores,
        weight=weight,
        noise_limit=noise_limit,
        bootstrap=bootstrap,
        rng=rng,
    )[0]


def moments(  # noqa: PLR0913 (each a word that users type)
    released: Any,
    allocation: Allocation,
    wanted: Sequence[Sequence[str]],
    target: Literal["population", "data"] = "population",
    scores: Mapping[str, Sequence[float] | Mapping[Any, float]] | None = None,
    *,
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
    bootstrap: int = 0,
    rng: np.random.Generator | None = None,
) -> MomentEstimates:
    """Several moments of one release, which is read once: a sequence of estimates, and a table of them.

    Everything else as in `moment`.
    """
    from budget_opt.estimators.bootstrap.asked import bootstrap_of
    from budget_opt.estimators.moments import released_moments
    from budget_opt.estimators.moments.options import MomentOptions

    require_release(released, allocation)
    options = MomentOptions(target, scores, weight, noise_limit, bootstrap_of(bootstrap, rng))
    return released_moments.moments(released, allocation, wanted, options)
