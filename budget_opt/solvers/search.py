"""Where to start: local optima of a weighted sum from many starts, and swaps of their supports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.ascent import Sum, ascend, starts, swapped

_STARTS, _FEW_STARTS = 50, 6
"""Of every kind; and beside good splits that were given."""
_TOPS, _FEW_TOPS = 4, 2
_MOVES, _FEW_MOVES = 120, 40
_ROUNDS = 20
_CLIMB, _TO_THE_END = 25, 3000
_FEW_STEPS, _FAR = 10, 200
"""Steps of the ascent, of candidates and of the best."""
_DISTINCT = 1e-6
"""Relative difference above which two values belong to two local optima."""


def best_splits(
    problem: Sum, check: Callable[[], None], seen: Callable[[FloatArray], None]
) -> list[FloatArray]:
    """The best local optima found (n,), best first; `seen` is shown each as it is found.

    Deterministic: the starts come from a generator of its own with a fixed seed.
    """
    first = starts(problem, _STARTS, np.random.default_rng(0))
    epsilon, value = ascend(problem, first, check, _CLIMB)
    tops: list[int] = []
    for column in np.argsort(-value, kind="stable"):
        if all(abs(value[column] - value[top]) > _DISTINCT * value[column] for top in tops):
            tops.append(int(column))
            seen(epsilon[:, column])
        if len(tops) == _TOPS:
            break
    best, reached = _with_swaps(problem, epsilon[:, tops], value[tops], check, seen)
    best, reached = ascend(problem, best, check, _TO_THE_END)
    for split in best.T:
        seen(split)
    return _distinct([best[:, column] for column in np.argsort(-reached, kind="stable")])


def from_starts(
    problem: Sum,
    given: Sequence[FloatArray],
    check: Callable[[], None],
    seen: Callable[[FloatArray], None],
) -> list[FloatArray]:
    """The best local optima found (n,) from splits given and a few more, best first, as `best_splits`."""
    few = starts(problem, _FEW_STARTS, np.random.default_rng(0))
    epsilon, value = ascend(problem, np.column_stack([*given, few]), check, _CLIMB)
    top = epsilon[:, [int(np.argmax(value))]]
    moves, moved = ascend(problem, swapped(problem, top[:, 0], _FEW_MOVES), check, _FEW_STEPS)
    columns, values = np.hstack([epsilon, moves]), np.concatenate([value, moved])
    tops = np.argsort(-values, kind="stable")[:_FEW_TOPS]
    best, reached = ascend(problem, columns[:, tops], check, _FAR)
    for split in best.T:
        seen(split)
    return _distinct([best[:, column] for column in np.argsort(-reached, kind="stable")])


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
    value: FloatArray,
    check: Callable[[], None],
    seen: Callable[[FloatArray], None],
) -> tuple[FloatArray, FloatArray]:
    """Exchange attributes of the supports of the splits (n, S) while that helps; values (S,)."""
    epsilon, value = epsilon.copy(), value.copy()
    hopeful = list(range(value.size))
    for _ in range(_ROUNDS):
        moves = [swapped(problem, epsilon[:, column], _MOVES) for column in hopeful]
        climbed, reached = ascend(problem, np.hstack(moves), check, _CLIMB)
        ends = np.cumsum([0, *(move.shape[1] for move in moves)])
        improved = []
        for column, start, stop in zip(hopeful, ends[:-1], ends[1:], strict=True):
            best = start + int(np.argmax(reached[start:stop])) if stop > start else None
            if best is not None and reached[best] > value[column] * (1 + 1e-9):
                epsilon[:, column], value[column] = climbed[:, best], reached[best]
                seen(epsilon[:, column])
                improved.append(column)
        if not improved:
            break
        hopeful = improved
    return epsilon, value
