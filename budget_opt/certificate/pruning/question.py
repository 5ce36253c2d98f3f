"""What the search knows of one problem before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.certificate.box import Box, budget_rows, root_box
from budget_opt.certificate.box import Rows as BudgetRows
from budget_opt.certificate.boxes.bound import Limits, Relaxation, Rows
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.pruning.symmetry import classes
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray, IntArray

_OUTWARD = 1e-12


@dataclass(frozen=True)
class Question:
    """A weighted sum with weights divided by `scale`, on the root box lower <= e <= upper (M, 1).

    `budgets` (R, M) e <= `caps` (R,), one that contains all attributes first; floors as 0-1 rows and
    ceilings as lists of members, with logarithms of their limits;
    `highest` (M, 1) the upper bounds besides `budgets`; `twins` the classes of interchangeable attributes, in
    order.
    """

    arrays: Arrays
    layout: Layout
    scale: float
    r: FloatArray
    lower: FloatArray
    upper: FloatArray
    highest: FloatArray
    budgets: FloatArray
    caps: FloatArray
    floors: FloatArray
    log_floor: FloatArray
    ceilings: tuple[IntArray, ...]
    log_ceiling: FloatArray
    twins: tuple[IntArray, ...]

    @classmethod
    def of(cls, arrays: Arrays) -> Question:
        """The question of a weighted sum with a positive weight."""
        scale = float(np.max(arrays.weight))
        box = _used_box(arrays)
        rows = budget_rows(arrays)
        binding = _told(rows, box)
        return cls(
            arrays,
            Layout.of(arrays.incidence, arrays.weight / scale, np.exp(np.minimum(arrays.log_ceiling, 0.0))),
            scale,
            arrays.cardinality[:, None],
            box.lower[:, None],
            box.upper[:, None],
            _highest(arrays, box, rows.coefficient[binding], rows.limit[binding])[:, None],
            rows.coefficient[binding],
            rows.limit[binding],
            arrays.incidence[arrays.floors].toarray(),
            arrays.log_floor[arrays.floors],
            tuple(arrays.members(k) for k in arrays.ceilings),
            arrays.log_ceiling[arrays.ceilings],
            classes(arrays),
        )

    @property
    def only_total(self) -> bool:
        """True where the total and bounds are the only constraints that can bind."""
        return len(self.caps) == 1 and not self.log_floor.size and not self.log_ceiling.size

    @cached_property
    def floors_by_size(self) -> tuple[tuple[IntArray, FloatArray], ...]:
        """Members (F, w) and logarithms (F,) of the floors on w attributes, for every w there is."""
        rows, columns = np.nonzero(self.floors)
        sizes = np.bincount(rows, minlength=self.log_floor.size)
        return tuple(
            (columns[sizes[rows] == size].reshape(-1, size), self.log_floor[sizes == size])
            for size in np.unique(sizes)
        )

    @cached_property
    def limits(self) -> Limits:
        """Floors and ceilings."""
        ceilings = np.zeros((self.log_ceiling.size, len(self.r)))
        for row, inside in zip(ceilings, self.ceilings, strict=True):
            row[inside] = 1.0
        return Limits(self.floors, self.log_floor, ceilings, self.log_ceiling)

    def rows(self, lower: FloatArray, upper: FloatArray, caps: FloatArray | None = None) -> Rows:
        """Budgets, and the ceilings' chords on boxes (M, B); `caps` (R, B) where each box has its own."""
        coefficient = self.budgets[:, :, None]
        limit = self.caps[:, None] if caps is None else caps
        count = lower.shape[1]
        if caps is not None or self.log_ceiling.size:
            coefficient = np.repeat(coefficient, count, axis=2)
            limit = np.broadcast_to(limit, (len(limit), count))
        if self.log_ceiling.size:
            chords, limits = self._chords(lower, upper, limit[0])
            coefficient, limit = np.concatenate([coefficient, chords]), np.concatenate([limit, limits])
        return Rows(coefficient, limit, len(limit) == 1 and bool(np.all(coefficient == 1.0)))

    def _chords(
        self, lower: FloatArray, upper: FloatArray, unit: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Ceilings as rows s e <= beta (C, M, B), by chords of log lambda; 0 <= 0 where a lower end is 0.

        log lambda is concave and lies above its chord, so  sum log lambda <= log c  implies the row
        (GLOBAL_SOLVER_PROOFS 4b); a smaller slope from the lower end stays below. Rows are in the `unit` of
        the total (B,), so that their multipliers are of the size of its price.
        """
        slopes = np.zeros((self.log_ceiling.size, *lower.shape))
        limits = np.zeros((self.log_ceiling.size, lower.shape[1]))
        for row, (inside, top) in enumerate(zip(self.ceilings, self.log_ceiling, strict=True)):
            low, high, r = lower[inside], upper[inside], self.r[inside]
            told = np.all(low > 0, axis=0)
            low, high = np.where(told, low, 1.0), np.where(told, high, 1.0)
            at_low, at_high = rr.log_retention(low, r), rr.log_retention(high, r)
            rise = np.divide(at_high - at_low, high - low, out=np.zeros_like(low), where=high > low)
            rise = np.maximum(rise * (1 - _OUTWARD), 0.0) * told
            parts = np.abs(top) + np.sum(np.abs(at_low) + rise * low, axis=0)
            slopes[row, inside] = rise
            limits[row] = (top - np.sum(at_low - rise * low, axis=0) + _OUTWARD * parts) * told
        return slopes * unit, limits * unit

    def relaxation(
        self, lower: FloatArray, upper: FloatArray, point: FloatArray, caps: FloatArray | None = None
    ) -> Relaxation:
        """The relaxation on boxes (M, B) with tangents at `point` in z; `caps` (R, B) as in `rows`."""
        rows = self.rows(lower, upper, caps)
        return Relaxation.of(self.layout, self.r, (lower, upper), point, rows, self.limits)

    def only(self, index: IntArray) -> Question:
        """The question of some of its boxes: the same."""
        del index
        return self


def _told(rows: BudgetRows, box: Box) -> IntArray:
    """The budgets with something of their own to say: the least that contains everybody, and those that bind.

    A budget says nothing where one with all its members, and more, has no larger cap.
    """
    member, cap = rows.coefficient > 0, rows.limit
    kept: list[int] = []
    for k in sorted(range(cap.size), key=lambda k: (-int(np.sum(member[k])), cap[k])):
        told = not any(np.all(member[j] | ~member[k]) and cap[j] <= cap[k] for j in kept)
        if told and (not kept or np.sum(box.upper[member[k]]) > cap[k]):
            kept.append(k)
    return np.array(kept)


def _highest(arrays: Arrays, box: Box, rows: FloatArray, caps: FloatArray) -> FloatArray:
    """The upper bounds (M,) that are not a matter of the budgets kept: stated ones, and what others leave.

    A budget that was dropped because the box says it all holds its members down like a stated bound.
    """
    left = caps[:, None] - (rows @ box.lower)[:, None] + rows * box.lower
    by_rows = np.min(np.where(rows > 0, left, np.inf), axis=0)
    return np.where(box.upper < by_rows * (1 - _OUTWARD), box.upper, arrays.stated_upper)


def _used_box(arrays: Arrays) -> Box:
    """The root box, in which attributes that no weight and no floor uses stand at their lower bounds."""
    box = root_box(arrays)
    needed = ((arrays.weight > 0) | np.isfinite(arrays.log_floor)).astype(np.float64)
    used = arrays.incidence.T @ needed > 0
    return Box(box.lower, np.where(used, box.upper, box.lower), box.empty)
