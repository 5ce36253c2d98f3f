"""From a solver's doubles to epsilons that keep every budget exactly (DESIGN 2.7)."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_UP, Context, Decimal
from fractions import Fraction

import numpy as np

from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.model.arrays import TOTAL, Arrays, BoolArray, Budget, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions
from budget_opt.model.values import LARGEST_EPSILON, SMALLEST_EPSILON

DIGITS = 12
"""Significant digits of an epsilon that can be said aloud; the objective does not notice the rest."""
UNSPENT = Fraction(1, 10**6)
"""A share of the total up to which what a solver left over is its rounding, and not its choice."""
NEGLIGIBLE = 1e-8
"""An epsilon below this share of the largest is a solver's way of saying 0."""
FLOOR_MARGIN = 1e-12
"""How far above a log floor a split aims, so that the sampler's rounding keeps the floor (DESIGN 2.7)."""


def fitted(arrays: Arrays, candidate: FloatArray) -> FloatArray:
    """The candidate within every bound and budget in exact decimals.

    Overshoot comes off what lies above the lower bounds, in proportion.
    """
    epsilon = np.clip(candidate, arrays.lower, arrays.upper)
    for budget in arrays.budgets:
        spent = _sum(epsilon[budget.members])
        if spent <= budget.cap:
            continue
        least = _sum(arrays.lower[budget.members])
        share = (budget.cap - least) / (spent - least)
        for i in budget.members:
            low = exact(arrays.lower[i])
            epsilon[i] = max(arrays.lower[i], float_at_most(low + (exact(epsilon[i]) - low) * share))
    return _without_traces(epsilon)


def tidied(arrays: Arrays, candidate: FloatArray) -> FloatArray | None:
    """The candidate with 12 significant digits and the whole total used, None where that cannot be.

    `min_epsilon` rounds every epsilon up; the others to nearest, and the attribute with the largest
    epsilon takes the remainder, unless that is more than rounding: what buys nothing is not spent. A
    `weighted_sum` that gives an attribute next to nothing gives it nothing, so that no column of noise is
    released. Only where no ceiling could be passed.
    """
    spend = arrays.objective != "min_epsilon"
    if arrays.ceilings.size:
        return None
    context = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN if spend else ROUND_UP)
    free = arrays.lower < arrays.upper
    epsilon = candidate.copy()
    for i in np.flatnonzero(free & (candidate > 0)):
        epsilon[i] = float(context.create_decimal(Decimal(repr(float(candidate[i])))))
    if arrays.objective == "weighted_sum":
        epsilon[epsilon < NEGLIGIBLE * np.max(epsilon, initial=0.0)] = 0.0
    epsilon = np.clip(epsilon, arrays.lower, arrays.upper)
    total = _total(arrays)
    if spend and total is not None and free.any():
        largest = int(np.argmax(np.where(free, epsilon, -1.0)))
        rest = total.cap - _sum(epsilon)
        if rest <= total.cap * UNSPENT:
            whole = float_at_most(exact(epsilon[largest]) + rest)
            epsilon[largest] = np.clip(whole, 0.0, arrays.upper[largest])
        epsilon = _without_traces(epsilon)
    return epsilon if _keeps_all(arrays, epsilon) else None


def even(arrays: Arrays) -> FloatArray:
    """The even split: the same epsilon for all, as far as bounds, pins and groups let it.

    Without a total (`min_epsilon`) the least common epsilon that meets every floor.
    """
    free = np.ones(arrays.blocks, dtype=bool)
    epsilon = arrays.lower.copy()
    if _total(arrays) is None:
        return fitted(arrays, np.clip(_least_common(arrays), arrays.lower, arrays.upper))
    while free.any():
        levels = [_level(arrays, budget, free, epsilon) for budget in arrays.budgets]
        # the tightest budget fixes its members first; what it leaves goes to the others
        height, members = min((level for level in levels if level is not None), key=lambda level: level[0])
        epsilon[members] = np.clip(height, arrays.lower[members], arrays.upper[members])
        free[members] = False
    return fitted(arrays, epsilon)


def _level(
    arrays: Arrays, budget: Budget, free: BoolArray, epsilon: FloatArray
) -> tuple[float, IntArray] | None:
    """The common epsilon at which the free members of a budget use up what the fixed ones leave."""
    inside = budget.members[free[budget.members]]
    if inside.size == 0:
        return None
    left = budget.cap - _sum(epsilon[budget.members[~free[budget.members]]])
    low, high = arrays.lower[inside], arrays.upper[inside]
    height = float_at_most(left / inside.size)
    if np.all(low <= height) and np.all(height <= high):
        return height, inside
    # in exact decimals, so that nothing has to be taken back from an attribute at its bound
    return _bisected(lambda level: _sum(np.clip(level, low, high)) > left, float(high.max())), inside


def _bisected(too_high: Callable[[float], bool], top: float) -> float:
    """The largest number in [0, top] that is not too high, to the last digits."""
    if not too_high(top):
        return top
    low, high = 0.0, top
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if too_high(middle) else (middle, high)
    return low


def _least_common(arrays: Arrays) -> float:
    """The least common epsilon that meets every floor with a hair to spare, at most 1e4."""
    floors = arrays.floors

    def meets(height: float) -> bool:
        epsilon = np.clip(np.full(arrays.blocks, height), arrays.lower, arrays.upper)
        return bool(
            np.all(log_retentions(arrays, epsilon)[floors] >= arrays.log_floor[floors] + FLOOR_MARGIN)
        )

    return min(math.nextafter(_bisected(meets, LARGEST_EPSILON), math.inf), LARGEST_EPSILON)


def _without_traces(epsilon: FloatArray) -> FloatArray:
    """What no file carries and no sampler serves is nothing."""
    return np.where(epsilon < SMALLEST_EPSILON, 0.0, epsilon)


def _total(arrays: Arrays) -> Budget | None:
    return next((budget for budget in arrays.budgets if budget.name == TOTAL), None)


def _keeps_all(arrays: Arrays, epsilon: FloatArray) -> bool:
    if np.any(epsilon < arrays.lower) or np.any(epsilon > arrays.upper):
        return False
    return all(_sum(epsilon[budget.members]) <= budget.cap for budget in arrays.budgets)


def _sum(epsilon: FloatArray) -> Fraction:
    return sum((exact(value) for value in epsilon), Fraction(0))
