"""A problem whose free epsilons are multiples of a step, as integers and tables.

Letters: n free attributes, N + 1 multiples of the widest window, K moments, C caps, J spread columns of the
free attributes. A point is its index j (n,): the number of steps above the least multiple that an attribute
may have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from budget_opt.allocation.rounding import FLOOR_MARGIN
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact, exact_sum
from budget_opt.model.arrays import Arrays, BoolArray, FloatArray, IntArray
from budget_opt.model.objectives import log_spread_at, log_spread_of
from budget_opt.solvers.reduction import CEILING_MARGIN
from budget_opt.solvers.spread_columns import Columns

_DIGITS = 40.0
"""Nats above log r at which lambda is 1 to the last digit: a larger epsilon is worth nothing more."""
NOTHING = 1e30
"""Stands for infinity in tables of logarithms, where it must not make 0 times itself undefined."""
LARGEST = 4_000_000
"""Numbers in a table at most."""


class TooFineError(Exception):
    """The tables would be too large; never leaves `solvers`."""


class NoMultipleError(Exception):
    """Attribute `index` has no multiple of the step between its bounds; never leaves `solvers`."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@dataclass(frozen=True, eq=False)
class Lattice:
    """See the module. `first` (n,) are the least multiples, `width` (n,) the steps above them.

    `fixed` (M,) holds the pins. `cap` (C, n) is 1 for members and `room` (C,) the steps that a cap leaves
    above `first`. `rows` (K, n) is the incidence and `offset` (K,) the log retention of pins.
    """

    arrays: Arrays
    step: Fraction
    free: IntArray
    fixed: FloatArray
    first: IntArray
    width: IntArray
    cap: FloatArray
    room: IntArray

    @classmethod
    def of(cls, arrays: Arrays, step: Fraction) -> Lattice:
        """The grid of a problem; raises NoMultipleError and TooFineError."""
        pinned = arrays.lower == arrays.stated_upper
        free = np.flatnonzero(~pinned)
        enough = np.log(arrays.cardinality) + _DIGITS
        first = np.array([math.ceil(exact(arrays.lower[i]) / step) for i in free], dtype=np.int64)
        last = [
            math.floor(exact(arrays.stated_upper[i]) / step)
            if math.isfinite(arrays.stated_upper[i])
            else math.inf
            for i in free
        ]
        for i, low, high in zip(free, first, last, strict=True):
            if low > high:
                raise NoMultipleError(int(i))
        fixed = np.where(pinned, arrays.lower, 0.0)
        cap, room = _caps(arrays, free, fixed, first, step)
        useful = [
            max(0, math.ceil(Fraction(float(enough[i])) / step) - int(low))
            for i, low in zip(free, first, strict=True)
        ]
        most = [int(min(high - low, some)) for low, high, some in zip(first, last, useful, strict=True)]
        width = np.array(most, dtype=np.int64)
        for row, left in zip(cap, room, strict=True):
            width = np.where(row > 0, np.minimum(width, max(int(left), 0)), width)
        if free.size * (int(width.max(initial=0)) + 1) > LARGEST:
            raise TooFineError
        return cls(arrays, step, free, fixed, first, width, cap, room)

    @property
    def possible(self) -> bool:
        """False where the least multiples alone pass a cap."""
        return bool(np.all(self.room >= 0))

    @cached_property
    def above(self) -> FloatArray:
        """Nats above the least multiple by index, (N + 1,)."""
        return np.asarray(np.arange(int(self.width.max(initial=0)) + 1) * float(self.step), dtype=np.float64)

    @cached_property
    def epsilon(self) -> FloatArray:
        """Epsilon by attribute and index, (n, N + 1): the doubles of the decimals."""
        count = self.first[:, None] + np.arange(self.above.size)[None, :]
        # both are integers below 2^53, so that the quotient is the double nearest to the decimal
        return np.asarray(count * self.step.numerator / self.step.denominator, dtype=np.float64)

    @cached_property
    def log_kept(self) -> FloatArray:
        """log lambda by attribute and index, (n, N + 1)."""
        r = self.arrays.cardinality[self.free][:, None]
        kept: FloatArray = np.maximum(rr.log_retention(self.epsilon, r), -NOTHING)
        return kept

    @cached_property
    def columns(self) -> Columns:
        """The spread columns of the free attributes."""
        return Columns.of(self.arrays, self.free)

    @cached_property
    def spread(self) -> FloatArray:
        """log of the variance factor by spread column and index, (J, N + 1)."""
        r = self.arrays.cardinality[self.free][:, None]
        log_tau = rr.log_tau(self.epsilon, r)[self.columns.block]
        a, b = (part[self.columns.taken][:, None] for part in (self.arrays.spread_a, self.arrays.spread_b))
        return np.minimum(log_spread_at(a, b, log_tau), NOTHING)

    @cached_property
    def spread_rows(self) -> FloatArray:
        """Which moment has which spread column, (K, J)."""
        rows: FloatArray = self.arrays.spread_incidence[:, self.columns.taken].toarray()
        return rows

    @cached_property
    def rows(self) -> FloatArray:
        """Which moment has which free attribute, (K, n)."""
        incidence: FloatArray = self.arrays.incidence[:, self.free].toarray()
        return incidence

    @cached_property
    def offset(self) -> FloatArray:
        """log retention of the pinned members of every moment, (K,)."""
        kept = np.clip(rr.log_retention(self.fixed, self.arrays.cardinality), -NOTHING, NOTHING)
        kept[self.free] = 0.0
        summed: FloatArray = self.arrays.incidence @ kept
        return summed

    @cached_property
    def spread_offset(self) -> FloatArray:
        """log variance factor of the pinned members of every moment, (K,)."""
        log_tau = rr.log_tau(self.fixed, self.arrays.cardinality)
        lost = np.clip(log_spread_of(self.arrays, log_tau), -NOTHING, NOTHING)
        lost[self.columns.taken] = 0.0
        summed: FloatArray = self.arrays.spread_incidence @ lost
        return summed

    @cached_property
    def least(self) -> FloatArray:
        """What the free members of every floor must keep, (floors,)."""
        floors = self.arrays.floors
        margin = np.minimum(FLOOR_MARGIN, 1e-3 * np.abs(self.arrays.log_floor[floors]))
        bound: FloatArray = self.arrays.log_floor[floors] + margin - self.offset[floors]
        return bound

    @cached_property
    def most(self) -> FloatArray:
        """What the free members of every ceiling may keep, (ceilings,)."""
        ceilings = self.arrays.ceilings
        bound: FloatArray = self.arrays.log_ceiling[ceilings] - CEILING_MARGIN - self.offset[ceilings]
        return bound

    def at(self, table: FloatArray, index: IntArray) -> FloatArray:
        """The entries of a table at points (n, S)."""
        entries: FloatArray = np.take_along_axis(table, index, axis=1)
        return entries

    def within(self, index: IntArray) -> BoolArray:
        """Which points (n, S) lie in the windows and keep every cap, (S,)."""
        inside = np.all((index >= 0) & (index <= self.width[:, None]), axis=0)
        spent = np.all(self.cap @ index <= self.room[:, None], axis=0)
        kept: BoolArray = inside & spent
        return kept

    def expand(self, index: IntArray) -> FloatArray:
        """Epsilon of all attributes (M,) at a point (n,)."""
        whole = self.fixed.copy()
        whole[self.free] = self.at(self.epsilon, index[:, None])[:, 0]
        return whole

    def rounded_down(self, epsilon: FloatArray) -> IntArray:
        """The point (n,) just below a split (M,), within the windows."""
        steps = np.floor(epsilon[self.free] / float(self.step) + 1e-9).astype(np.int64) - self.first
        return np.asarray(np.clip(steps, 0, self.width), dtype=np.int64)

    def narrowed(self, lower: IntArray, upper: IntArray) -> Lattice:
        """The same grid between two points (n,)."""
        room = self.room - (self.cap @ lower).astype(np.int64)
        return replace(self, first=self.first + lower, width=upper - lower, room=room)


def _caps(
    arrays: Arrays, free: IntArray, fixed: FloatArray, first: IntArray, step: Fraction
) -> tuple[FloatArray, IntArray]:
    """Members and steps left of every budget that has free members, in exact decimals."""
    place = {int(i): position for position, i in enumerate(free)}
    rows, room = [], []
    for budget in arrays.budgets:
        members = [place[int(i)] for i in budget.members if int(i) in place]
        pins = [fixed[i] for i in budget.members if int(i) not in place]
        left = budget.cap - exact_sum(pins) - step * int(np.sum(first[members]))
        if members:
            row = np.zeros(free.size)
            row[members] = 1.0
            rows.append(row)
            room.append(math.floor(left / step))
    return np.array(rows).reshape(len(rows), free.size), np.array(room, dtype=np.int64)
