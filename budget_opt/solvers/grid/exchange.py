"""Local search on a grid: a little epsilon is moved, given or taken, as long as that helps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.grid.worth import Worth

_LEAST = 1e-13
"""A smaller gain is rounding."""
_MOVES = 10_000


def exchanged(worth: Worth, start: IntArray, check: Callable[[], None], largest: int = 1) -> IntArray:
    """The point (n,) that no move of a step improves: first what fails, then what it is worth.

    Moves are from any attribute to any other, more, and less; `start` keeps bounds and caps. They begin with
    `largest` steps at a time, and are halved where none of that size helps.
    """
    moves, point, size = _moves(start.size), start, max(largest, 1)
    while size >= 1:
        point = _climbed(worth, point, size * moves, check)
        size //= 2
    return point


def _climbed(worth: Worth, start: IntArray, moves: IntArray, check: Callable[[], None]) -> IntArray:
    """The point (n,) that none of these moves improves."""
    point, failing, value = start, *_judged(worth, start[:, None])
    for _ in range(_MOVES):
        check()
        tried = point[:, None] + moves
        tried = tried[:, worth.lattice.within(tried)]
        if not tried.shape[1]:
            return point
        fails, values = _judged(worth, tried)
        best = int(np.lexsort((-values, fails))[0])
        less = fails[best] < failing[0] - _LEAST
        if not less and not (fails[best] <= failing[0] and values[best] > value[0] + _LEAST):
            return point
        point, failing, value = tried[:, best], fails[[best]], values[[best]]
    return point


def _judged(worth: Worth, index: IntArray) -> tuple[FloatArray, FloatArray]:
    return worth.missing(index), worth.of(index) + worth.hints(index)


def _moves(n: int) -> IntArray:
    """A step more or less for one attribute, or from one to another, in columns."""
    one = np.eye(n, dtype=np.int64)
    pairs = [one[i] - one[j] for i in range(n) for j in range(n) if i != j]
    return np.column_stack([one, -one, *pairs])
