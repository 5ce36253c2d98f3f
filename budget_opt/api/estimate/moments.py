"""Corrected cross-moments of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require, require_names

if TYPE_CHECKING:
    from budget_opt.estimators.estimate import MomentEstimate

_ORDER = "Read one from a file with Allocation.read(path); the released table comes first."


def moment(
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Literal["population", "data"] = "population",
    scores: Mapping[str, Sequence[float]] | None = None,
) -> MomentEstimate:
    """The original cross-moment of these attributes (one: its mean), corrected for the randomization.

    `released` is a table or path. `target` says what the standard error is measured from: the
    `population` (sampling and randomization), or `data` (the value in the original table). `scores`
    gives or replaces f of an attribute, one number a category. Raises `InputError`, `DataError`.
    """
    from budget_opt.estimators import moments as estimators

    require_names(attributes)
    require(allocation, Allocation, "allocation", _ORDER)
    return estimators.moment(released, allocation, *attributes, target=target, scores=scores)


def moments(
    released: Any,
    allocation: Allocation,
    wanted: Sequence[Sequence[str]],
    target: Literal["population", "data"] = "population",
    scores: Mapping[str, Sequence[float]] | None = None,
) -> tuple[MomentEstimate, ...]:
    """Several moments of one release, which is read once; everything else as in `moment`."""
    from budget_opt.estimators import moments as estimators

    require(allocation, Allocation, "allocation", _ORDER)
    return estimators.moments(released, allocation, wanted, target=target, scores=scores)
