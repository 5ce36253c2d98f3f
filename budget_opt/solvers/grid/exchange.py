"""Local search on a grid: a little epsilon is moved, given or taken, as long as that helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.answer import OutOfTimeError
from budget_opt.solvers.grid.worth import Worth

_LEAST = 1e-13
"""A smaller gain is rounding."""
_MOVES = 10_000
_WORK = 1_000_000
"""Numbers in a table of moves at most, so that the clock is looked at often and memory stays small."""
_NOBODY = -1
"""Stands for the giver or taker of a move that has none."""


def exchanged(worth: Worth, start: IntArray, check: Callable[[], None], largest: int = 1) -> IntArray:
    """The point (n,) that no move of a step improves: first what fails, then what it is worth.

    Moves are more, less, and from any attribute to any other; `start` keeps bounds and caps. They begin with
    `largest` steps at a time, and are halved where none of that size helps. Moves of one attribute come
    first: they are few. Where the time is over (`check` raises OutOfTimeError), the best point so far.
    """
    single, all_moves = _single(start.size), _moves(start.size)
    climb = _Climb(worth, start, check)
    size = max(largest, 1)
    try:
        while size >= 1:
            climb.by(single, size)
            climb.by(all_moves, size)
            size //= 2
    except OutOfTimeError:
        pass
    return climb.point


class _Climb:
    """A point on its way up: what fails there, and what it is worth."""

    def __init__(self, worth: Worth, point: IntArray, check: Callable[[], None]) -> None:
        self.worth, self.check, self.point = worth, check, point
        failing, value = _judged(worth, point[:, None])
        self.failing, self.value = float(failing[0]), float(value[0])
        rows = max(point.size, worth.terms.size, worth.lattice.arrays.floors.size)
        self._block = max(1, _WORK // max(rows, 1))

    def by(self, moves: IntArray, size: int) -> None:
        """Make the best of these moves (2, S) of `size` steps until none helps."""
        for _ in range(_MOVES):
            if not self._moved(moves, size):
                return

    def _moved(self, moves: IntArray, size: int) -> bool:
        """Make the best move, if one helps."""
        best: tuple[float, float] | None = None
        chosen = self.point
        for tried in self._tried(moves, size):
            fails, values = _judged(self.worth, tried)
            first = int(np.lexsort((-values, fails))[0])
            found = (float(fails[first]), -float(values[first]))
            if best is None or found < best:
                best, chosen = found, tried[:, first]
        if best is None:
            return False
        fails_less = best[0] < self.failing - _LEAST
        if not fails_less and not (best[0] <= self.failing and -best[1] > self.value + _LEAST):
            return False
        self.point, self.failing, self.value = chosen, best[0], -best[1]
        return True

    def _tried(self, moves: IntArray, size: int) -> Iterator[IntArray]:
        """The points (n, S) that the moves lead to and bounds and caps admit, a block at a time."""
        for begin in range(0, moves.shape[1], self._block):
            self.check()
            givers, takers = moves[:, begin : begin + self._block]
            tried = np.repeat(self.point[:, None], givers.size, axis=1)
            column = np.arange(givers.size)
            gives, takes = givers != _NOBODY, takers != _NOBODY
            tried[givers[gives], column[gives]] -= size
            tried[takers[takes], column[takes]] += size
            tried = tried[:, self.worth.lattice.within(tried)]
            if tried.shape[1]:
                yield tried


def _judged(worth: Worth, index: IntArray) -> tuple[FloatArray, FloatArray]:
    return worth.missing(index), worth.of(index) + worth.hints(index)


def _single(n: int) -> IntArray:
    """More or less for one attribute: givers and takers, (2, 2 n)."""
    every, nobody = np.arange(n), np.full(n, _NOBODY)
    return np.array([np.concatenate([nobody, every]), np.concatenate([every, nobody])])


def _moves(n: int) -> IntArray:
    """The same, and from every attribute to every other: (2, n (n + 1))."""
    giver, taker = np.divmod(np.arange(n * n), n)
    apart = giver != taker
    return np.hstack([_single(n), np.array([giver[apart], taker[apart]])])
