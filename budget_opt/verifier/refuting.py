"""A feasible split that passes a stated bound, where a short climb finds one: it proves that bound wrong.

A bound says that no feasible split is better, so one that is refutes it, whatever was searched and how. That
none is found proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from budget_opt.mechanisms.exact import exact_sum
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions
from budget_opt.model.objectives import value as objective_value
from budget_opt.model.problem import Problem

PASSES = 1e-9
"""Relative; a value must pass the bound by more, so that no rounding of a double is taken for a proof."""
_VALUES = 6_000
"""Values that a search may compute, fewer where the moments have many members (`_WORK`)."""
_WORK = 30_000_000
_ENDS = 3
"""Blocks with the largest and with the smallest slope between which a step may move budget."""
_HALVINGS = 24
_MOMENTS = 12
"""The weightiest moments, on each of which alone the budget is put."""
_GRID = 1e12
"""Moved epsilons are rounded down to this many parts of a nat, which keeps exact sums within their caps."""


@dataclass(frozen=True)
class Better:
    """A split (M,) in nats that keeps every constraint, and its value, which passes the bound."""

    epsilon: FloatArray
    value: float


def better_split(problem: Problem, epsilon: FloatArray, bound: float) -> Better | None:
    """A split that passes the bound, climbed to from this one; None where none was found.

    With a total delta, where constraints are no sums, none is looked for.
    """
    if problem.total_delta > 0:
        return None
    climber = _Climber(problem.arrays)
    needed = climber.sign * bound + PASSES * abs(bound)
    for split, score in climber.splits(epsilon):
        if score > needed and _keeps_budgets(problem.arrays, split):
            return Better(split, climber.sign * score)
    return None


def _keeps_budgets(arrays: Arrays, epsilon: FloatArray) -> bool:
    """On the decimals; bounds and floors were held against the same doubles before."""
    return all(exact_sum(epsilon[budget.members]) <= budget.cap for budget in arrays.budgets)


class _Climber:
    """Splits that get better and better, from one start after the other, until the work is used up."""

    def __init__(self, arrays: Arrays) -> None:
        self.sign = -1.0 if arrays.objective in MINIMIZED else 1.0
        self._arrays = arrays
        self._left = min(_VALUES, _WORK // max(1, arrays.incidence.nnz))

    def splits(self, epsilon: FloatArray) -> Iterator[tuple[FloatArray, float]]:
        """From the split itself, then from others that spend as much, the best of them first."""
        yield from self._climbed(epsilon, self._score(epsilon))
        for start, score in sorted(self._others(epsilon), key=lambda found: -found[1]):
            yield start, score
            yield from self._climbed(start, score)

    def _others(self, epsilon: FloatArray) -> Iterator[tuple[FloatArray, float]]:
        """All on the attributes of one moment, of the weightiest, and the same on every attribute."""
        weightiest = np.argsort(-self._arrays.weight, kind="stable")[:_MOMENTS].tolist()
        chosen = [self._arrays.members(k) for k in weightiest]
        for members in (*chosen, np.arange(epsilon.size)):
            split = self._spread(epsilon, members)
            if self._is_inside(split):
                yield split, self._score(split)

    def _spread(self, epsilon: FloatArray, members: IntArray) -> FloatArray:
        """What the split spends above the lower bounds, on these attributes alone, the same on each."""
        lower = self._arrays.lower
        split = lower.copy()
        split[members] += np.sum(epsilon - lower) / members.size
        return np.maximum(np.minimum(np.floor(split * _GRID) / _GRID, self._arrays.upper), lower)

    def _score(self, epsilon: FloatArray) -> float:
        self._left -= 1
        found = self.sign * objective_value(self._arrays, epsilon)
        return found if np.isfinite(found) else -np.inf

    def _climbed(self, start: FloatArray, score: float) -> Iterator[tuple[FloatArray, float]]:
        now = start
        while self._left > 0 and np.isfinite(score):
            tried = ((split, self._score(split)) for split in self._moves(now, self._slope(now, score)))
            best = max(tried, key=lambda found: found[1], default=(now, score))
            if best[1] <= score:
                return
            now, score = best
            yield best

    def _slope(self, epsilon: FloatArray, score: float) -> FloatArray:
        """What a little more of each attribute brings, as a difference."""
        slope = np.zeros(epsilon.size)
        for m in range(epsilon.size):
            step = 1e-6 * max(epsilon[m], 1e-3)
            raised = epsilon.copy()
            raised[m] += step
            slope[m] = (self._score(raised) - score) / step
        return slope

    def _moves(self, epsilon: FloatArray, slope: FloatArray) -> Iterator[FloatArray]:
        """Budget moved to an attribute that makes much of it, from one that makes little or from nobody."""
        arrays, order = self._arrays, np.argsort(slope, kind="stable").tolist()
        takers = [m for m in order[::-1] if epsilon[m] < arrays.upper[m]][:_ENDS]
        givers = [m for m in order if epsilon[m] > arrays.lower[m]][:_ENDS]
        for to, of in product(takers, [*givers, None]):
            if to == of:
                continue
            room = self._room(epsilon, to, of)
            for part in 0.5 ** np.arange(_HALVINGS):
                moved = self._moved(epsilon, to, of, part * room)
                if self._left > 0 and self._is_inside(moved):
                    yield moved

    def _room(self, epsilon: FloatArray, to: int, of: int | None) -> float:
        arrays = self._arrays
        spare = [float(arrays.upper[to] - epsilon[to])]
        if of is not None:
            spare.append(float(epsilon[of] - arrays.lower[of]))
        return min(*spare, 700.0)

    def _moved(self, epsilon: FloatArray, to: int, of: int | None, step: float) -> FloatArray:
        moved = epsilon.copy()
        moved[to] = np.floor((epsilon[to] + step) * _GRID) / _GRID
        if of is not None:
            moved[of] = max(self._arrays.lower[of], np.floor((epsilon[of] - step) * _GRID) / _GRID)
        return moved

    def _is_inside(self, epsilon: FloatArray) -> bool:
        arrays = self._arrays
        if np.any(epsilon < arrays.lower) or np.any(epsilon > arrays.upper):
            return False
        # sums of doubles; those that count are taken exactly at the end
        if any(np.sum(epsilon[one.members]) > float(one.cap) * (1 + 1e-12) for one in arrays.budgets):
            return False
        kept = log_retentions(arrays, epsilon)
        return bool(np.all(kept >= arrays.log_floor) and np.all(kept <= arrays.log_ceiling))


def split_text(names: tuple[str, ...], epsilon: FloatArray, most: int = 12) -> str:
    """The epsilons of the first so many blocks, by name."""
    told = ", ".join(f"{name} {value!r}" for name, value in zip(names[:most], epsilon.tolist(), strict=False))
    return told if len(names) <= most else f"{told} and {len(names) - most:,} more"
