"""Why no split meets all wishes, and what would do: in numbers here, in words in `explanation`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from budget_opt.certificate.box import budget_rows, root_box
from budget_opt.errors import NotSolvedError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.model.arrays import TOTAL, Arrays, BoolArray, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers import convex_method
from budget_opt.solvers.phase_one import Margin, elastic, margin
from budget_opt.solvers.reduction import alive

_CONFLICTS = 1e-6
"""Share of the largest multiplier of a floor, of the sum for a budget, above which it is in the conflict."""
_SPARE = 1e-6
"""Relative distance that an advised total or floor keeps from the very limit, so that following it works."""


@dataclass(frozen=True)
class Conflict:
    """Constraints that no split meets together, all indices into the arrays.

    `floors` by decreasing multiplier, `budgets` (groups, and the total), `ceilings`, `bounds` attributes
    whose upper bound stands in the way. `least_total` (nats) would do if nothing else is changed, None where
    no total does; `factor` on the floors of `lowered` would do at the given budgets, None where none does.
    """

    floors: IntArray
    budgets: IntArray
    ceilings: IntArray
    bounds: IntArray
    least_total: float | None
    factor: float | None
    lowered: IntArray


def conflict(arrays: Arrays) -> Conflict:
    """The conflict of a problem whose floors are proved impossible."""
    found = margin(arrays, exact=True)
    weights = found.multipliers.moments
    floors = np.flatnonzero(weights > _CONFLICTS * np.max(weights))
    floors = floors[np.argsort(-weights[floors], kind="stable")]
    factor, lowered = _relaxation(arrays, found, floors)
    spent = found.multipliers.budgets * budget_rows(arrays).limit
    budgets = np.flatnonzero(spent > _CONFLICTS * max(float(np.sum(spent)), 1e-300))
    ceilings = np.flatnonzero(found.multipliers.ceilings > _CONFLICTS * np.max(weights))
    bounds = _bounds_in_the_way(arrays, found, floors)
    return Conflict(floors, budgets, ceilings, bounds, least_total(arrays), factor, lowered)


def least_total(arrays: Arrays) -> float | None:
    """A total epsilon (nats) that the floors certainly fit in, 1e-6 above the least; None without one."""
    relaxed = without_total(arrays)
    try:
        epsilon, _ = convex_method.solve_quietly(relaxed)
    except (convex_method.ImpossibleError, NotSolvedError):
        return None
    return float(sum((exact(e) for e in epsilon), Fraction(0))) * (1 + _SPARE)


def without_total(arrays: Arrays) -> Arrays:
    """The least epsilon problem under all constraints but the total."""
    budgets = tuple(budget for budget in arrays.budgets if budget.name != TOTAL)
    upper = np.where(arrays.lower < arrays.upper, arrays.stated_upper, arrays.upper)
    # an attribute that the total leaves nothing above its lower bound is free again
    upper = np.where(arrays.stated_upper > arrays.lower, arrays.stated_upper, upper)
    for budget in budgets:
        left = budget.cap - sum((exact(e) for e in arrays.lower[budget.members]), Fraction(0))
        for m in budget.members:
            most = float_at_most(exact(arrays.lower[m]) + left)
            upper[m] = max(arrays.lower[m], min(upper[m], most))
    return replace(
        arrays,
        objective="min_epsilon",
        budgets=budgets,
        upper=upper,
    )


def _relaxation(arrays: Arrays, found: Margin, floors: IntArray) -> tuple[float | None, IntArray]:
    """The factor that makes room if only the conflicting floors are lowered, else if all are."""
    if not np.isfinite(found.reached):
        return None, floors
    only = np.zeros(arrays.moments, dtype=bool)
    only[floors] = True
    factor = _common_factor(arrays, only)
    if factor is not None:
        return factor, floors
    return float(np.exp(found.reached)) * (1 - _SPARE), arrays.floors


def _common_factor(arrays: Arrays, relaxed: BoolArray) -> float | None:
    """The largest common factor on the floors of `relaxed` that leaves room for all; None without one."""
    stretched = elastic(arrays, relaxed)
    try:
        epsilon, certificate = convex_method.solve_quietly(stretched)
    except (convex_method.ImpossibleError, NotSolvedError):
        return None
    others = np.isfinite(stretched.log_floor)
    kept = log_retentions(arrays, epsilon)
    if np.any(kept[others] < arrays.log_floor[others]) or not certificate.value > 0:
        return None
    return certificate.value * (1 - _SPARE)


def _bounds_in_the_way(arrays: Arrays, found: Margin, floors: IntArray) -> IntArray:
    """Attributes of these floors that would take more epsilon than their own bound or pin admits."""
    used = np.zeros(arrays.attributes, dtype=bool)
    for k in floors:
        used[arrays.members(int(k))] = True
    top = arrays.stated_upper
    own = used & np.isfinite(top) & (arrays.upper >= top)
    gain = arrays.incidence.T @ (found.multipliers.moments - found.multipliers.ceilings)
    price = found.multipliers.budgets @ budget_rows(arrays).coefficient
    slope = gain * rr.log_retention_slope(np.where(own, top, 1.0), arrays.cardinality)
    return np.flatnonzero(own & (slope > price * (1 + 1e-6)))


def unreleased(arrays: Arrays) -> IntArray:
    """Weighted moments of `min_variance` that no split releases: their variance is infinite."""
    if arrays.objective != "min_variance":
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(arrays.weight > alive(arrays))


@dataclass(frozen=True)
class CeilingConflict:
    """A ceiling that the bounds, pins and floors of the problem already pass."""

    ceiling: int
    least_retention: float


def passed_ceilings(arrays: Arrays) -> list[CeilingConflict]:
    """The ceilings that no split keeps: bounds, pins and floors force a retention above them."""
    least = log_retentions(arrays, root_box(arrays).lower) - 1e-12
    found = []
    for k in arrays.ceilings:
        forced = max(float(least[k]), _floor_around(arrays, int(k)))
        if forced > arrays.log_ceiling[k]:
            found.append(CeilingConflict(int(k), float(np.exp(forced))))
    return found


def _floor_around(arrays: Arrays, ceiling: int) -> float:
    """The highest log floor of a moment that contains all attributes of this one; it bounds this one too."""
    inside = arrays.members(ceiling)
    shared = arrays.incidence[:, inside].sum(axis=1)
    return float(np.max(np.where(shared == inside.size, arrays.log_floor, -np.inf)))


def lowered_floors(arrays: Arrays, found: Conflict) -> FloatArray:
    """The floors (K,) after the advised relaxation; those that stay are unchanged."""
    floors = np.exp(arrays.log_floor)
    if found.factor is not None:
        floors[found.lowered] = floors[found.lowered] * found.factor
    return floors
