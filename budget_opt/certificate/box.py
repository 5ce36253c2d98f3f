"""What every feasible split obeys, as a box and linear rows: bounds, budgets and floors relaxed outward.

A floor bounds each of its attributes from below once the others are at their upper bounds, a budget
from above once the others are at their lower bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import float_at_least
from budget_opt.model.arrays import Arrays, FloatArray

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
    coefficient = np.zeros((len(arrays.budgets), arrays.blocks))
    for row, budget in enumerate(arrays.budgets):
        coefficient[row, budget.members] = 1.0
    return Rows(coefficient, np.array([cap_at_least(budget.cap) for budget in arrays.budgets]))


def root_box(arrays: Arrays) -> Box:
    """The bounds of the problem, tightened by floors and budgets, rounded outward."""
    lower, upper = arrays.lower.copy(), arrays.upper.copy()
    floors = arrays.floors
    rows = csr_array(arrays.incidence[floors])
    for _ in range(_ROUNDS):
        before = lower.copy(), upper.copy()
        np.maximum.at(lower, rows.indices, _least(arrays, upper, rows, arrays.log_floor[floors]))
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


def _least(arrays: Arrays, upper: FloatArray, rows: csr_array, log_floor: FloatArray) -> FloatArray:
    """The least epsilon of each member of each row when the row's others are at their upper bounds."""
    kept = rr.log_retention(upper, arrays.cardinality)
    owner = np.repeat(np.arange(log_floor.size), np.diff(rows.indptr))
    own = kept[rows.indices]
    with np.errstate(invalid="ignore"):
        needed = log_floor[owner] - ((rows @ kept)[owner] - own)
        needed = needed - _OUTWARD * np.maximum(1.0, np.abs(needed))
    # inf or NaN: some other member has no retention at all, and no epsilon of this one would do
    needed = np.where(np.isnan(needed), np.inf, needed)
    least = rr.epsilon_for_log_retention(np.minimum(needed, -1e-15), arrays.cardinality[rows.indices])
    shrunk: FloatArray = np.where(needed >= 0, np.inf, least * (1 - _OUTWARD))
    return shrunk
