"""The next level of an objective that is a sum, or the logarithm of a mean: its weights join, times delta.

With F the levels so far and F' the next one, to be maximized (logarithms for `geometric_mean`), the split e*
that maximizes F + delta F' is kept for the largest delta, of those tried, at which every level before stays
within its allowance. From  F(e) + delta F'(e) <= bound  for every split e follows

    F(e) >= F(e*)  implies  F'(e) <= (bound - F(e*)) / delta:

no split that is as good on the levels before is better on this one by more than the proved gap. It needs
nothing but other weights. For convex objectives e* is also the best split at the tolerance that it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers.answer import Candidate
from budget_opt.solvers.levels.delta import Search
from budget_opt.solvers.levels.kept import Advance, Kept

_TRIALS_CONVEX, _TRIALS = 14, 4
"""Of delta, one solve each."""
_OUTWARD = 1e-12
"""Relative, far above the rounding of one difference."""

Solve = Callable[[Arrays], Candidate]


@dataclass(frozen=True)
class Sum:
    """Levels so far in one set of weights, and the next one; those of a mean sum to one in each level."""

    so_far: Arrays
    following: Arrays

    def joined(self, delta: float) -> Arrays:
        """Both levels in one problem."""
        return replace(self.so_far, weight=self.so_far.weight + delta * self.following.weight)

    def bound(self, delta: float, proved: float, epsilon: FloatArray) -> float:
        """From a bound of both to one of the next level, for all that is as good as `epsilon` (M,) so far.

        Rounded outward.
        """
        whole, before = self._summed(self.joined(delta), proved), self._value(epsilon)
        outward = _OUTWARD * (abs(whole) + abs(before))
        if self.so_far.objective in MINIMIZED:
            return max((whole - before - outward) / delta, 0.0)
        found = (whole - before + outward) / delta
        return float(np.exp(min(found, 0.0))) if self._is_mean else found

    def first_delta(self, split: FloatArray, allowance: float) -> float:
        """A delta to begin with: of a `weighted_sum`, one that certainly keeps the levels so far.

        There F' lies between 0 and its sum of weights, so that F loses no more than delta times that sum.
        """
        if self._is_mean:
            return allowance
        before, after = (arrays.weight * arrays.variance for arrays in (self.so_far, self.following))
        if self.so_far.objective in MINIMIZED:
            return allowance * float(np.sum(before) / np.sum(after))
        return 0.9 * allowance * max(self._value(split), 1e-300) / float(np.sum(self.following.weight))

    @property
    def _is_mean(self) -> bool:
        return self.so_far.objective == "geometric_mean"

    def _value(self, epsilon: FloatArray) -> float:
        return self._summed(self.so_far, objective_value(self.so_far, epsilon))

    def _summed(self, arrays: Arrays, value: float) -> float:
        """The objective as a sum over its moments: of logarithms for a mean."""
        if not self._is_mean:
            return value
        with np.errstate(divide="ignore"):
            return float(np.sum(arrays.weight) * np.log(value))


def next_level(
    pair: Sum, split: FloatArray, kept: Sequence[Kept], allowances: Sequence[float], solve: Solve
) -> tuple[Advance, Arrays] | None:
    """The next level's split and bound, and the weights of all levels so far; None where no delta would do.

    `split` (M,) is that of the levels before; each of `kept` may lose its allowance.
    """
    best: tuple[Advance, Arrays] | None = None
    search = Search(pair.first_delta(split, min(allowances)))
    trials = _TRIALS_CONVEX if pair.so_far.is_convex else _TRIALS
    for _ in range(trials):
        joined = pair.joined(search.delta)
        try:
            found = solve(joined)
        except NotSolvedError:
            break
        used = max(
            level.loss(found.epsilon) / allowance for level, allowance in zip(kept, allowances, strict=True)
        )
        if used <= 1.0:
            bound_at = partial(pair.bound, search.delta, found.certificate.bound)
            best = Advance(found.epsilon, bound_at), joined
        search = search.after(used)
        if search.done:
            break
    return best
