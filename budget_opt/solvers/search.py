"""Where to start: local optima of a weighted sum from many starts, and swaps of their supports."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.ascent import Sum, ascend, starts, swapped

_STARTS = 50
_TOPS = 4
_MOVES = 120
_ROUNDS = 20
_DISTINCT = 1e-6
"""Relative difference above which two values belong to two local optima."""


def best_splits(
    problem: Sum, check: Callable[[], None], seen: Callable[[FloatArray], None]
) -> list[FloatArray]:
    """The best local optima found (n,), best first; `seen` is shown each as it is found.

    Deterministic: the starts come from a generator of its own with a fixed seed.
    """
    first = starts(problem, _STARTS, np.random.default_rng(0))
    epsilon, value = ascend(problem, first, check, steps=50)
    tops: list[int] = []
    for column in np.argsort(-value, kind="stable"):
        if all(abs(value[column] - value[top]) > _DISTINCT * value[column] for top in tops):
            tops.append(int(column))
        if len(tops) == _TOPS:
            break
    found: list[tuple[float, int, FloatArray]] = []
    for column in tops:
        seen(epsilon[:, column])
        better, reached = _with_swaps(problem, epsilon[:, column], float(value[column]), check, seen)
        found.append((reached, len(found), better))
    return _distinct([split for _, _, split in sorted(found, key=lambda one: (-one[0], one[1]))])


def _distinct(splits: list[FloatArray]) -> list[FloatArray]:
    """The splits without those that repeat an earlier one."""
    kept: list[FloatArray] = []
    for split in splits:
        if not any(np.allclose(split, one, rtol=1e-6, atol=1e-9 * float(np.max(one))) for one in kept):
            kept.append(split)
    return kept


def _with_swaps(
    problem: Sum,
    epsilon: FloatArray,
    value: float,
    check: Callable[[], None],
    seen: Callable[[FloatArray], None],
) -> tuple[FloatArray, float]:
    """Exchange attributes of the support while that helps, then climb to the last digits."""
    for _ in range(_ROUNDS):
        moves = swapped(problem, epsilon, _MOVES)
        if not moves.shape[1]:
            break
        climbed, reached = ascend(problem, moves, check, steps=25)
        best = int(np.argmax(reached))
        if reached[best] <= value * (1 + 1e-9):
            break
        epsilon, value = climbed[:, best], float(reached[best])
        seen(epsilon)
    climbed, reached = ascend(problem, epsilon[:, None], check, steps=3000)
    seen(climbed[:, 0])
    return climbed[:, 0], float(reached[0])
