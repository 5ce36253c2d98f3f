"""A problem with several levels, one solve after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers import table
from budget_opt.solvers.answer import Callback, Candidate, Clock, Settings
from budget_opt.solvers.explanation import Names
from budget_opt.solvers.global_search.method import DEFAULT_LIMIT
from budget_opt.solvers.levels import floors, mixing, weights
from budget_opt.solvers.levels.kept import Advance, Kept
from budget_opt.solvers.reduction import alive

_AIM = 1.0 - 1e-6
"""Of the tolerance, so that the rounding of epsilons does not pass it."""
_FINEST_GAP = 1e-9
"""The relative gap asked of several levels together, of which the later ones count little."""


@dataclass(frozen=True)
class Ask:
    """`levels`: one problem's arrays, first priority first, that differ in weights alone; not `min_epsilon`.

    `tolerance` is the relative gap by which a level may stay behind what is proved possible for it.
    """

    levels: Sequence[Arrays]
    tolerance: float
    settings: Settings
    callback: Callback | None = None
    names: Names | None = None

    @property
    def time(self) -> float | None:
        """Seconds of one level."""
        limit = self.settings.time_limit
        if limit is not None:
            return limit / len(self.levels)
        return None if self.levels[0].is_convex else DEFAULT_LIMIT

    def solve(self, arrays: Arrays, settings: Settings, clock: Clock) -> Candidate:
        """One solve in what is left of a level's time; raises NotSolvedError where nothing is."""
        left = clock.left()
        if left <= 0:
            raise NotSolvedError("no time is left for this level. Allow more.")
        limit = left if np.isfinite(left) else None
        return table.solve(arrays, replace(settings, time_limit=limit), self.callback, self.names)


def solve(ask: Ask) -> tuple[Candidate, tuple[float | None, ...]]:
    """The split, certified for the first level, and the bound of each level, None where none is proved.

    Every level stays within the tolerance of what is possible for it, given the levels before; of the first
    that is proved by its bound. The bound of a later level is passed by no split that is as good as this one
    on the levels before (for `max_min`: that keeps them to the tolerance). Raises as `table.solve` does; a
    level that finds nothing in its time leaves the split as it is.
    """
    clock = Clock(None)
    first = ask.solve(ask.levels[0], ask.settings, Clock(ask.time))
    split, proofs = first.epsilon, [Advance(first.epsilon, lambda _: first.certificate.bound)]
    kept, so_far = [Kept.of(ask.levels[0], proofs[0], ask.tolerance)], _normalized(ask.levels[0])
    for number, arrays in enumerate(ask.levels[1:], start=1):
        found, so_far = _next(ask, number, kept, so_far, split)
        proofs.append(found or Advance(split, lambda _: np.nan))
        split = proofs[-1].epsilon
        kept.append(Kept.of(arrays, proofs[-1], ask.tolerance))
    bounds = [proof.bound_at(split) for proof in proofs]
    proved = tuple(bound if np.isfinite(bound) else None for bound in bounds)
    return _candidate(ask, first, split, clock.seconds), proved


def _normalized(arrays: Arrays) -> Arrays:
    """With weights that sum to one, for a mean."""
    if arrays.objective != "geometric_mean":
        return arrays
    return replace(arrays, weight=arrays.weight / np.sum(arrays.weight))


def _next(
    ask: Ask, number: int, kept: Sequence[Kept], so_far: Arrays, split: FloatArray
) -> tuple[Advance | None, Arrays]:
    """The advance of one level, and the weights of all levels so far."""
    arrays, clock, settings = ask.levels[number], Clock(ask.time), replace(ask.settings, record=False)
    if arrays.objective == "max_min":
        if np.any(arrays.weight > alive(arrays)):  # one of its moments cannot survive: the least is 0
            return Advance(split, lambda _: 0.0), so_far
        tolerance = _AIM * ask.tolerance
        try:
            found = floors.next_level(arrays, kept, tolerance, lambda one: ask.solve(one, settings, clock))
        except NotSolvedError:
            return None, so_far
        return found, so_far
    # a level before the last shares its tolerance out among those that follow it
    last = len(ask.levels) - 1
    allowances = [_AIM * ask.tolerance * (number - i) / (last - i) for i in range(number)]
    settings = replace(settings, gap=max(_FINEST_GAP, settings.gap * ask.tolerance))
    pair = weights.Sum(so_far, _normalized(arrays))
    better = weights.next_level(pair, split, kept, allowances, lambda one: ask.solve(one, settings, clock))
    if better is None:
        return None, so_far
    advance, weighted = better
    if arrays.is_convex:  # the best split at the tolerance that it uses
        return advance, weighted
    wanted = mixing.own_optimum(arrays, lambda one: ask.solve(one, settings, clock))
    return mixing.towards(advance, wanted, arrays, kept, allowances), weighted


def _candidate(ask: Ask, first: Candidate, split: FloatArray, seconds: float) -> Candidate:
    """The split with the proof of the first level."""
    reached = objective_value(ask.levels[0], split)
    gap = relative_gap(reached, first.certificate.bound)
    return replace(
        first,
        epsilon=split,
        certificate=replace(first.certificate, value=reached, relative_gap=gap),
        status="optimal" if gap <= ask.tolerance else "feasible",
        solver=f"{first.solver}, {len(ask.levels)} levels kept to {ask.tolerance:g}",
        seconds=seconds,
    )
