"""From a problem and a step to the best split on the grid, and what is proved about it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

import numpy as np

from budget_opt.certificate.convex import in_objective_unit
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.solvers.answer import Clock, OutOfTimeError
from budget_opt.solvers.grid.dual import Dual, Prices
from budget_opt.solvers.grid.exchange import exchanged
from budget_opt.solvers.grid.lattice import Lattice
from budget_opt.solvers.grid.search import Incumbent, Search
from budget_opt.solvers.grid.worth import Worth
from budget_opt.solvers.phase_one import elastic
from budget_opt.solvers.reduction import FLOOR_MARGIN
from budget_opt.solvers.threads import one_thread

RESOLUTION = 1e-9
"""On the logarithm of the objective: a smaller gain is none."""
_SHAKES, _SELDOM = 100, 4
"""Local searches of a weighted sum, which no bound here ends; every so many from anywhere."""
_LISTED, _BLOCK = 50_000, 4_000
"""Points up to which the grid of a weighted sum is listed, and how many at a time."""
_PHASE_ONE = 0.5
"""Of the time, for a point that keeps all floors."""


@dataclass(frozen=True)
class GridAnswer:
    """The best split found (M,), None where none was; `bound` of all on the grid, None where none is proved.

    It is in the objective's unit. `complete` where the search ended by itself: no split on the grid is better
    (by more than `RESOLUTION`), or none keeps everything.
    """

    epsilon: FloatArray | None
    bound: float | None
    complete: bool
    nodes: int


@dataclass(frozen=True)
class GridTask:
    """What is asked: the levels of a problem (one, mostly), the step, good splits to start from, the clock.

    `known` are multipliers of the continuous problem. `tolerance` is the relative gap that a level may lose
    to those after it. With `any_split` the first split that keeps everything will do.
    """

    levels: Sequence[Arrays]
    step: Fraction
    starts: Sequence[FloatArray]
    clock: Clock
    known: Multipliers | None = None
    tolerance: float = 1e-3
    any_split: bool = False

    @property
    def arrays(self) -> Arrays:
        """Of the first level."""
        return self.levels[0]


def solve(task: GridTask) -> GridAnswer:
    """The best split on the grid; raises NoMultipleError and TooFineError of `lattice`.

    Ends at the time limit or at Ctrl-C with the best split so far and its bound.
    """
    with one_thread():
        lattice = Lattice.of(task.arrays, task.step)
        if not lattice.possible:
            return GridAnswer(None, None, complete=True, nodes=0)
        run = _Run(task, lattice)
        with suppress(OutOfTimeError, KeyboardInterrupt):
            run.all()
        return run.answer()


class _Run:
    """One solve: what is known at any moment."""

    def __init__(self, task: GridTask, lattice: Lattice) -> None:
        self.task, self.lattice = task, lattice
        self.worth = Worth(lattice, task.arrays)
        self.incumbent = Incumbent()
        self.search: Search | None = None
        self.nodes, self.impossible, self.listed = 0, False, False

    def all(self) -> None:
        """Local search, then what proves; a point inside the floors first where there is none yet."""
        self._climb()
        if self.incumbent.count is None:
            self._phase_one()
        if self.incumbent.count is None or self.impossible or self.task.any_split:
            return
        self.check()
        if len(self.task.levels) > 1:
            self._later_levels()
        elif self.task.arrays.objective == "weighted_sum":
            if np.prod(self.lattice.width + 1.0) <= _LISTED:
                self._list()
            else:
                self._shaken()
        else:
            self._prove()

    def answer(self) -> GridAnswer:
        """What is known now."""
        lattice, count = self.lattice, self.incumbent.count
        epsilon = None if count is None else lattice.expand(count - lattice.first)
        bound, complete = None, self.impossible or self.listed
        if self.listed:
            bound = in_objective_unit(self.task.arrays, self.incumbent.value + RESOLUTION)
        if self.search is not None:
            self.nodes += self.search.nodes
            bound = self._bound(self.search.bound)
            complete = self.search.done
        return GridAnswer(epsilon, bound if np.isfinite(bound or 0.0) else None, complete, self.nodes)

    def _bound(self, worth: float) -> float:
        """The worth in the objective's unit; a sum of epsilons is at least the next multiple."""
        if self.task.arrays.objective != "min_epsilon":
            return in_objective_unit(self.task.arrays, worth)
        step = float(self.task.step)
        return self.worth.base + step * float(np.ceil((-worth - self.worth.base) / step - 1e-6))

    def check(self) -> None:
        """Raise OutOfTimeError at the limit."""
        self.task.clock.check()

    def _climb(self) -> None:
        """Local search from the starts, rounded down, and from the least point.

        All of them are offered before the first search: one that keeps everything is an answer at any time.
        """
        starts = [
            _inside(self.lattice, self.lattice.rounded_down(start))
            for start in (*self.task.starts, self.lattice.fixed)
        ]
        for point in starts:
            self.incumbent.offer(self.worth, point[:, None])
        for point in starts:
            self._climb_from(point)
            if self.incumbent.count is not None and self.task.arrays.objective != "weighted_sum":
                break

    def _climb_from(self, point: IntArray, largest: int = 1) -> None:
        """Local search from one point (n,)."""
        self.incumbent.offer(self.worth, exchanged(self.worth, point, self.check, largest)[:, None])

    def _list(self) -> None:
        """Every point of a small grid, so that the best is known."""
        sizes = [int(width) + 1 for width in self.lattice.width]
        every = product(*(range(size) for size in sizes))
        while block := list(islice(every, _BLOCK)):
            self.check()
            self.incumbent.offer(self.worth, np.array(block, dtype=np.int64).reshape(len(block), -1).T)
        self.listed = True

    def _shaken(self) -> None:
        """Local search again and again: from near the best point, and from anywhere."""
        lattice, rng = self.lattice, np.random.default_rng(1)
        for turn in range(_SHAKES):
            self.check()
            assert self.incumbent.count is not None
            point = self.incumbent.count - lattice.first
            point = _near(lattice, point, rng) if turn % _SELDOM else _anywhere(lattice, rng)
            self._climb_from(point, int(lattice.width.max(initial=1)) // 4)

    def _phase_one(self) -> None:
        """A point that keeps all floors, or the proof that there is none: by their largest common factor."""
        arrays = elastic(self.task.arrays)
        lattice = replace(self.lattice, arrays=arrays)
        worth = Worth(lattice, arrays)
        incumbent = Incumbent()
        for start in (*self.task.starts, lattice.fixed):
            point = _inside(lattice, lattice.rounded_down(start))
            incumbent.offer(worth, exchanged(worth, point, self.check)[:, None])
        shares = np.zeros(0)
        if self.task.known is not None:
            shares = self.task.known.floors[worth.terms]
        prices = Dual(worth).start(
            np.zeros(0), np.zeros(arrays.ceilings.size), np.zeros(len(lattice.cap)), shares
        )
        search = Search(
            worth,
            incumbent,
            RESOLUTION,
            lambda: self.task.clock.check(_PHASE_ONE),
            ignored=0.0,
            enough=FLOOR_MARGIN,
        )
        try:
            search.run(prices)
        except OutOfTimeError:
            return
        finally:
            self.nodes += search.nodes
        if incumbent.count is None or incumbent.value < FLOOR_MARGIN:
            self.impossible = search.done
            return
        point = incumbent.count - lattice.first
        self.incumbent.offer(self.worth, point[:, None])
        self._climb_from(point)

    def _prove(self) -> None:
        """Branch and bound from the whole grid."""
        kind = self.task.arrays.objective
        resolution = 0.5 * float(self.task.step) if kind == "min_epsilon" else RESOLUTION
        self.search = Search(self.worth, self.incumbent, resolution, self.check)
        self.search.run(self._prices())

    def _prices(self) -> Prices:
        """Those of the continuous problem, and shares at its split."""
        lattice, known, arrays = self.lattice, self.task.known, self.task.arrays
        known = Multipliers.zero(arrays) if known is None else known
        members = [budget.members for budget in arrays.budgets]
        caps = [
            price
            for price, inside in zip(known.budgets, members, strict=True)
            if np.isin(inside, lattice.free).any()
        ]
        shares = known.moments[self.worth.terms]
        if arrays.objective == "min_variance" and self.incumbent.count is not None:
            point = (self.incumbent.count - lattice.first)[:, None]
            values = self.worth.term_values(point)[:, 0]
            shares = np.exp(values - np.logaddexp.reduce(values))
        return Dual(self.worth).start(
            known.floors[arrays.floors], known.ceilings[arrays.ceilings], np.array(caps), shares
        )

    def _later_levels(self) -> None:
        """Each level as good as local search makes it with those before it kept to the tolerance."""
        lattice = self.lattice
        kept: list[tuple[Worth, float]] = []
        for arrays in self.task.levels:
            worth = Worth(lattice, arrays, tuple(kept))
            assert self.incumbent.count is not None
            found = Incumbent()
            starts = [_inside(lattice, lattice.rounded_down(start)) for start in self.task.starts]
            for point in (self.incumbent.count - lattice.first, *starts):
                found.offer(worth, exchanged(worth, point, self.check)[:, None])
            if found.count is not None:
                self.incumbent.count = found.count
            allowed = abs(found.value) if arrays.objective == "min_epsilon" else 1.0
            kept.append((worth, found.value - allowed * self.task.tolerance))


def _near(lattice: Lattice, point: IntArray, rng: np.random.Generator) -> IntArray:
    """The point (n,) after a few random moves of one or two steps between attributes."""
    for _ in range(int(rng.integers(2, 6))):
        moved = point.copy()
        given, taken = rng.integers(0, point.size, 2)
        steps = int(rng.integers(1, 3))
        moved[given] += steps
        moved[taken] -= steps
        point = moved if bool(lattice.within(moved[:, None])[0]) else point
    return point


def _anywhere(lattice: Lattice, rng: np.random.Generator) -> IntArray:
    """A random point (n,) within the caps, with most of them spent on some of the attributes."""
    shares = rng.exponential(size=lattice.free.size) * (rng.random(lattice.free.size) < 0.6)
    point = lattice.width.copy()
    for row, room in zip(lattice.cap, lattice.room, strict=True):
        inside = row > 0
        part = shares / max(float(np.sum(shares[inside])), 1e-300)
        point[inside] = np.minimum(point[inside], np.floor(part[inside] * room).astype(np.int64))
    return point


def _inside(lattice: Lattice, point: IntArray) -> IntArray:
    """The point (n,), or the least one where it passes a cap."""
    return point if bool(lattice.within(point[:, None])[0]) else np.zeros_like(point)
