"""What every feasible split obeys, as a box and linear rows: bounds, floors and ceilings relaxed outward.

A floor bounds each of its attributes from below once the others are at their upper bounds, a budget
from above once the others are at their lower bounds. log lambda is concave, so over the box it lies
above its chord, and a ceiling  sum_S log lambda <= log c  implies the linear  sum_S s e <= beta  with the
chords' slopes s > 0 (shared/GLOBAL_SOLVER_PROOFS.md 4b).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import float_at_least
from budget_opt.model.arrays import Arrays, FloatArray, IntArray

_OUTWARD = 1e-12
"""Relative; far above the roundings of one logarithm and one sum of a moment's few attributes."""
_ROUNDS = 4


@dataclass(frozen=True)
class Box:
    """lower <= epsilon <= upper, shape (M,).

    `empty` where the bounds alone show that no split meets the floors; the box is then the stated one.
    """

    lower: FloatArray
    upper: FloatArray
    empty: bool = False


@dataclass(frozen=True)
class Rows:
    """coefficient @ epsilon <= limit; coefficient (C, M) >= 0, limit (C,) rounded up."""

    coefficient: FloatArray
    limit: FloatArray

    @property
    def size(self) -> int:
        """C."""
        return int(self.limit.size)


def cap_at_least(cap: Fraction) -> float:
    """A double whose binary value is >= the exact cap."""
    return float(np.nextafter(float_at_least(cap), np.inf))


def budget_rows(arrays: Arrays) -> Rows:
    """The problem's own budgets, caps rounded up."""
    coefficient = np.zeros((len(arrays.budgets), arrays.attributes))
    for row, budget in enumerate(arrays.budgets):
        coefficient[row, budget.members] = 1.0
    return Rows(coefficient, np.array([cap_at_least(budget.cap) for budget in arrays.budgets]))


def root_box(arrays: Arrays) -> Box:
    """The bounds of the problem, tightened by floors and budgets, rounded outward."""
    lower, upper = arrays.lower.copy(), arrays.upper.copy()
    members = [arrays.members(k) for k in arrays.floors]
    for _ in range(_ROUNDS):
        before = lower.copy(), upper.copy()
        for k, inside in zip(arrays.floors, members, strict=True):
            lower[inside] = np.maximum(lower[inside], _least(arrays, upper, inside, arrays.log_floor[k]))
        if np.any(lower > upper):
            return Box(arrays.lower, arrays.upper, empty=True)
        for budget in arrays.budgets:
            inside = budget.members
            spare = (cap_at_least(budget.cap) - np.sum(lower[inside])) * (1 + _OUTWARD)
            spare += _OUTWARD * np.sum(lower[inside])
            upper[inside] = np.minimum(upper[inside], lower[inside] + spare)
        if np.any(lower > upper):
            return Box(arrays.lower, arrays.upper, empty=True)
        if np.array_equal(before[0], lower) and np.array_equal(before[1], upper):
            break
    return Box(lower, upper)


def _least(arrays: Arrays, upper: FloatArray, inside: IntArray, log_floor: float) -> FloatArray:
    """The least epsilon of each member of a floor when its other members are at their upper bounds."""
    kept = rr.log_retention(upper[inside], arrays.cardinality[inside])
    with np.errstate(invalid="ignore"):
        needed = log_floor - (np.sum(kept) - kept)
        needed = needed - _OUTWARD * np.maximum(1.0, np.abs(needed))
    # inf or NaN: some other member has no retention at all, and no epsilon of this one would do
    needed = np.where(np.isnan(needed), np.inf, needed)
    least = rr.epsilon_for_log_retention(np.minimum(needed, -1e-15), arrays.cardinality[inside])
    shrunk: FloatArray = np.where(needed >= 0, np.inf, least * (1 - _OUTWARD))
    return shrunk


def chord_rows(arrays: Arrays, box: Box) -> Rows:
    """The ceilings over the box as linear rows, in the order of `arrays.ceilings`.

    A ceiling with a member that may have no retention (lower bound 0), or none to choose, has a
    chord of no use; its row is 0 <= 0.
    """
    ceilings = arrays.ceilings
    coefficient, limit = np.zeros((ceilings.size, arrays.attributes)), np.zeros(ceilings.size)
    for row, k in enumerate(ceilings):
        inside = arrays.members(k)
        low, high = box.lower[inside], box.upper[inside]
        if np.any(low <= 0) or not np.all(np.isfinite(high)):
            continue
        at_low = rr.log_retention(low, arrays.cardinality[inside])
        at_high = rr.log_retention(high, arrays.cardinality[inside])
        width = high - low
        slope = np.zeros_like(width)
        np.divide(at_high - at_low, width, out=slope, where=width > 0)
        slope = np.maximum(slope * (1 - _OUTWARD), 0.0)  # a smaller slope from the lower end stays below
        coefficient[row, inside] = slope
        parts = np.concatenate([[arrays.log_ceiling[k]], -at_low, slope * low])
        limit[row] = np.sum(parts) + _OUTWARD * np.sum(np.abs(parts))
    return Rows(coefficient, limit)
