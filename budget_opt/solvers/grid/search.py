"""Branch and bound on a grid: boxes of points, the largest bound first, until none can hold a better one."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from budget_opt.model.arrays import BoolArray, FloatArray, IntArray
from budget_opt.solvers.grid.dual import Dual, Prices
from budget_opt.solvers.grid.exchange import exchanged
from budget_opt.solvers.grid.narrowing import narrowed
from budget_opt.solvers.grid.worth import Worth

_STEPS = 8
"""Subgradient steps of a box."""
_BATCH, _WORK = 64, 2_000_000
"""Boxes at a time, and numbers in a table of theirs, at most: the clock is looked at for each table."""
_LISTED = 256
"""Points up to which a box is listed instead of split."""
_EARLY, _SELDOM = 10, 20
"""The first batches, and then every so many, from whose best points local search starts."""


@dataclass
class Incumbent:
    """The best point so far, in multiples of the step (n,), and its worth; -inf before there is one."""

    count: IntArray | None = None
    value: float = -np.inf

    def offer(self, worth: Worth, index: IntArray) -> None:
        """Keep the best of the points (n, S) if it keeps everything and is better."""
        index = index[:, worth.lattice.within(index)]
        index = index[:, worth.missing(index) == 0]
        if not index.shape[1]:
            return
        values = worth.of(index)
        best = int(np.argmax(values))
        if values[best] > self.value:
            self.count, self.value = worth.lattice.first + index[:, best], float(values[best])


@dataclass
class Boxes:
    """B boxes lower <= j <= upper (n, B), their prices and bounds (B,)."""

    lower: IntArray
    upper: IntArray
    prices: Prices
    bound: FloatArray

    def only(self, index: IntArray) -> Boxes:
        """Some of them, which may be named twice."""
        return Boxes(self.lower[:, index], self.upper[:, index], self.prices.only(index), self.bound[index])


@dataclass
class Search:
    """The state of a search; `bound` is proved at any moment: no point of the grid is worth more.

    A gain of `resolution` or less is none, and points at or below `ignored` are not looked for. The search
    ends when the incumbent is worth `enough`.
    """

    worth: Worth
    incumbent: Incumbent
    resolution: float
    check: Callable[[], None]
    ignored: float = -np.inf
    enough: float = np.inf
    nodes: int = 0
    in_hand: float = np.inf
    _heap: list[tuple[float, int, Boxes]] = field(default_factory=list)
    _number: count[int] = field(default_factory=count)

    @property
    def cut(self) -> float:
        """Boxes whose bound is at or below are dropped."""
        return max(self.ignored, self.incumbent.value + self.resolution)

    @property
    def bound(self) -> float:
        """The largest worth that a point may have."""
        waiting = -self._heap[0][0] if self._heap else -np.inf
        return max(waiting, self.in_hand, self.cut)

    @property
    def done(self) -> bool:
        """True where no box is left above the cut, or the incumbent is good enough."""
        return self.incumbent.value >= self.enough or self.bound <= self.cut

    def run(self, prices: Prices) -> None:
        """Search from the whole grid at these prices."""
        lattice = self.worth.lattice
        lower = np.zeros((lattice.width.size, 1), dtype=np.int64)
        whole = Boxes(lower, lattice.width[:, None], prices, np.array([np.inf]))
        self._bounded(whole)
        self.in_hand = -np.inf
        turn = 0
        rows = self.worth.terms.size + lattice.arrays.floors.size + lattice.arrays.ceilings.size
        size = lattice.width.size * max(lattice.above.size, rows)
        width = max(1, min(_BATCH, _WORK // max(size, 1)))
        while self._heap and self.bound > self.cut and self.incumbent.value < self.enough:
            self.check()
            taken = [heapq.heappop(self._heap) for _ in range(min(width, len(self._heap)))]
            self.in_hand = -taken[0][0]
            parents = [box for bound, _, box in taken if -bound > self.cut]
            if parents:
                self._bounded(_together(parents), climb=turn < _EARLY or turn % _SELDOM == 0)
            self.in_hand = -np.inf
            turn += 1

    def _bounded(self, boxes: Boxes, *, climb: bool = True) -> None:
        """Bound, tighten, list or split the boxes, and queue their parts."""
        boxes, mean = self._improved(boxes)
        self.nodes += boxes.bound.size
        if not boxes.bound.size:
            return
        points = np.clip(np.rint(mean).astype(np.int64), boxes.lower, boxes.upper)
        self.incumbent.offer(self.worth, points)
        if climb:
            start = self._within_caps(points[:, int(np.argmax(boxes.bound))])
            self.incumbent.offer(self.worth, exchanged(self.worth, start, self.check)[:, None])
        sizes = np.prod((boxes.upper - boxes.lower + 1).astype(np.float64), axis=0)
        for b in range(boxes.bound.size):
            if sizes[b] <= _LISTED:
                self.incumbent.offer(self.worth, _listed(boxes.lower[:, b], boxes.upper[:, b]))
            elif boxes.bound[b] > self.cut:
                self._split(boxes.only(np.array([b])), mean[:, b])

    def _improved(self, boxes: Boxes) -> tuple[Boxes, FloatArray]:
        """The boxes that may hold a better point, after some steps of the prices, and mean points (n, B)."""
        worth, dual = self.worth, Dual(self.worth)
        lower, upper, possible = narrowed(worth, boxes.lower, boxes.upper, self.cut)
        boxes = Boxes(lower, upper, boxes.prices, boxes.bound).only(np.flatnonzero(possible))
        prices, summed = boxes.prices, np.zeros(boxes.lower.shape)
        for _ in range(_STEPS):
            if not boxes.bound.size:
                break
            self.check()
            boxes, prices, point, keeps = self._stepped(dual, boxes, prices)
            summed = (summed + point)[:, keeps]
        lower, upper, possible = narrowed(worth, boxes.lower, boxes.upper, self.cut)
        index = np.flatnonzero(possible)
        boxes = Boxes(lower, upper, boxes.prices, boxes.bound).only(index)
        return boxes, summed[:, index] / _STEPS

    def _stepped(self, dual: Dual, boxes: Boxes, prices: Prices) -> tuple[Boxes, Prices, IntArray, IntArray]:
        """One bound of all boxes at these prices, and the next prices.

        Also the maximizers (n, B), and the indices of the boxes that are left.
        """
        found = dual.bound(prices, boxes.lower, boxes.upper)
        best = _chosen(found.bound < boxes.bound, prices, boxes.prices)
        bound = np.minimum(boxes.bound, found.bound)
        allowed = found.bound - found.lost > self.cut
        keeps = np.flatnonzero(np.any(allowed, axis=1).all(axis=0) & (bound > self.cut))
        lower = np.argmax(allowed, axis=1)
        upper = allowed.shape[1] - 1 - np.argmax(allowed[:, ::-1], axis=1)
        following = dual.stepped(prices, found, self.cut).only(keeps)
        return Boxes(lower, upper, best, bound).only(keeps), following, found.point, keeps

    def _split(self, box: Boxes, mean: FloatArray) -> None:
        """Queue both parts of one box, split at the attribute whose maximizers disagree most."""
        lower, upper = box.lower[:, 0], box.upper[:, 0]
        room = upper - lower
        at = np.clip(np.floor(mean).astype(np.int64), lower, np.maximum(upper - 1, lower))
        apart = np.minimum(np.maximum(mean - at, 0.0), np.maximum(at + 1 - mean, 0.0))
        chosen = int(np.argmax(np.where(room > 0, apart + 1e-3 * np.minimum(room, 100), -1.0)))
        for part in range(2):
            low, high = lower.copy(), upper.copy()
            if part == 0:
                high[chosen] = at[chosen]
            else:
                low[chosen] = at[chosen] + 1
            half = Boxes(low[:, None], high[:, None], box.prices, box.bound)
            heapq.heappush(self._heap, (-float(box.bound[0]), next(self._number), half))

    def _within_caps(self, index: IntArray) -> IntArray:
        """The point (n,), lowered in proportion until the caps hold."""
        lattice, point = self.worth.lattice, index
        for row, room in zip(lattice.cap, lattice.room, strict=True):
            spent = int(row @ point)
            if spent > room:
                point = np.where(row > 0, point * int(room) // spent, point)
        return point


def _chosen(better: BoolArray, first: Prices, second: Prices) -> Prices:
    """The first where it is better, box by box."""
    return Prices(
        np.where(better, first.floors, second.floors),
        np.where(better, first.ceilings, second.ceilings),
        np.where(better, first.caps, second.caps),
        np.where(better, first.shares, second.shares),
    )


def _together(boxes: list[Boxes]) -> Boxes:
    """Single boxes as one batch."""
    return Boxes(
        np.hstack([box.lower for box in boxes]),
        np.hstack([box.upper for box in boxes]),
        Prices(
            np.hstack([box.prices.floors for box in boxes]),
            np.hstack([box.prices.ceilings for box in boxes]),
            np.hstack([box.prices.caps for box in boxes]),
            np.hstack([box.prices.shares for box in boxes]),
        ),
        np.concatenate([box.bound for box in boxes]),
    )


def _listed(lower: IntArray, upper: IntArray) -> IntArray:
    """All points of a box (n, S)."""
    sizes = upper - lower + 1
    grid = np.indices(tuple(int(size) for size in sizes)).reshape(sizes.size, int(np.prod(sizes)))
    points: IntArray = lower[:, None] + grid
    return points
