"""From a problem to an allocation whose gap is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation, Statement, allocate
from budget_opt.allocation.rounding import fitted, tidied
from budget_opt.api.arguments import require, require_gap, require_listener, require_number
from budget_opt.api.certifying import certified, require_place, with_margin
from budget_opt.errors import InputError, NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.solvers.answer import Callback, Candidate, Settings

SMALLEST_TOLERANCE, LARGEST_TOLERANCE = 1e-6, 0.5
"""Of a level: below, the later levels would be lost in the digits of the earlier ones."""
LOST_BY_TIDYING = 0.01
"""Part of the asked gap that tidy epsilons may cost."""


def solve(  # noqa: PLR0913, PLR0917 (each a word that users type)
    problem: Problem,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Callback | None = None,
    solver: str | None = None,
    certificate: str | Path | None = None,
    level_tolerance: float = 1e-3,
) -> Allocation:
    """The best split of the budget, with a bound from the problem itself that says how good it is.

    `gap` is the relative gap that counts as optimal, 1e-12 to 1: the status is `optimal` where the bound
    proves it, else `feasible` with its honest gap. `time_limit` in seconds, shared alike by the levels;
    without one a `weighted_sum` takes 60 for each level at most. At the limit and at Ctrl-C the best split
    so far is the answer. `progress` is called with a `Report`: value, bound, gap, seconds, boxes. Budgets,
    groups, bounds and pins hold exactly as decimals, floors and ceilings with the lambda that the sampler
    implements. Where several splits of a convex objective are optimal, the one with the least sum of squares
    is chosen.

    `solver` names another method than the objective's default: "cvxpy" instead of "interior point" (a
    readable reference, whose gap is usually larger), "local search" instead of "global search" for a
    `weighted_sum`. `certificate` is a file for all that proves the bound, which `verify` evaluates again: the
    allocation states the bound that the file proves, with several levels that of the first. To complete the
    record of a search may take 5 seconds or half the time of the search, whichever is more, beyond the limit.
    `level_tolerance`, 1e-6 to 0.5, is the relative gap by which a level of moments may stay behind what is
    possible for it, so that later levels improve: value, bound and gap are then those of the first level,
    and `optimal` means within it.

    With a `total_delta` the total holds as (epsilon, delta)-DP by exact convolution. Solved is the same
    problem with the largest sum of epsilons found whose best split keeps that; the bound is that of the
    problem with a sum that no such split exceeds (proved), so its gap is larger, and the status usually
    `feasible`. It has no prices, no certificate file, one level, and tells no `progress`.

    Raises `InfeasibleError` where no split keeps all constraints, whose `why` says what conflicts and what
    would do; `NotSolvedError` where none was found; `InputError` for an argument outside its range.
    """
    from budget_opt.solvers.answer import Settings

    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    gap = require_gap(gap)
    if time_limit is not None:
        time_limit = require_number(time_limit, "time_limit")
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds, or None.")
    if solver is not None:
        require(solver, str, "solver", "Name a method, or leave it out.")
    require_listener(progress)
    place = None if certificate is None else require_place(certificate)
    level_tolerance = require_number(level_tolerance, "level_tolerance")
    if not SMALLEST_TOLERANCE <= level_tolerance <= LARGEST_TOLERANCE:
        limits = f"{SMALLEST_TOLERANCE:g} to {LARGEST_TOLERANCE:g}"
        raise InputError(f"level_tolerance: is {level_tolerance!r}, must be from {limits}.")
    settings = Settings(gap=gap, time_limit=time_limit, solver=solver, record=place is not None)
    if problem.total_delta > 0:
        return _with_delta(problem, settings)
    candidate, bounds = found(problem, settings, progress, level_tolerance)
    if place is not None:
        candidate = replace(candidate, certificate=with_margin(problem, candidate.certificate))
    allocation = kept(problem, candidate, gap, level_tolerance if bounds else gap)
    if place is not None:
        allocation = certified(allocation, problem, candidate.certificate, place)
    return with_level_bounds(allocation, bounds)


def _with_delta(problem: Problem, settings: Settings) -> Allocation:
    """A problem whose total is no sum, which no certificate file can carry."""
    from budget_opt.api.approximate import solve_approximate

    if settings.record:
        raise InputError(
            f"total_delta: is {problem.total_delta!r}, and no certificate file can carry such a bound. Leave "
            "certificate (--certificate) out: verify with the problem (--problem) computes the bound again."
        )
    return solve_approximate(problem, settings)


def with_level_bounds(allocation: Allocation, bounds: Sequence[float | None]) -> Allocation:
    """The allocation with the bound of every level, where it has several."""
    levels = [replace(level, bound=bound) for level, bound in zip(allocation.levels, bounds, strict=True)]
    return replace(allocation, levels=tuple(levels))


def found(
    problem: Problem,
    settings: Settings,
    progress: Callback | None,
    tolerance: float,
    starts: Sequence[FloatArray] = (),
) -> tuple[Candidate, tuple[float | None, ...]]:
    """The split that a solver finds, and the bound of every level where there are several.

    `starts` are splits (M,) of problems nearby, for a weighted sum of one level.
    """
    from budget_opt.solvers.explanation import Names
    from budget_opt.solvers.levels import method as by_levels
    from budget_opt.solvers.table import solve as find_split

    names = Names.of_problem(problem)
    if len(problem.levels) <= 1:
        return find_split(problem.arrays, settings, progress, names, starts), ()
    levels = [problem.arrays_of_level(level) for level in problem.levels]
    return by_levels.solve(by_levels.Ask(levels, tolerance, settings, progress, names))


def kept(problem: Problem, candidate: Candidate, gap: float, enough: float) -> Allocation:
    """The candidate as an allocation with prices; a gap of `enough` counts as optimal."""
    from budget_opt.allocation.pricing import priced
    from budget_opt.certificate import Multipliers

    known = candidate.certificate.multipliers
    chosen = without_prices(problem, candidate, gap, enough)
    return priced(chosen, problem, known if isinstance(known, Multipliers) else None)


def without_prices(problem: Problem, candidate: Candidate, gap: float, enough: float) -> Allocation:
    """The candidate as decimals: with 12 digits and the whole total where no part of `gap` is lost by it."""
    statement = Statement(
        bound=candidate.certificate.bound,
        gap_tolerance=enough,
        solver=candidate.solver,
        seconds=candidate.seconds,
    )
    splits = [fitted(problem.arrays, candidate.epsilon), tidied(problem.arrays, candidate.epsilon)]
    made = [allocate(problem, split, statement) for split in splits if split is not None]
    able = [allocation for allocation in made if _keeps_all(allocation)]
    if not able:
        raise NotSolvedError(
            "the floors and ceilings leave no room for the rounding of the sampler's integers. "
            "Raise total_epsilon a little, or lower the floors that bind.",
            relative_gap=candidate.certificate.relative_gap,
        )
    least = min(map(_gap, able)) + LOST_BY_TIDYING * gap
    return next(allocation for allocation in reversed(able) if _gap(allocation) <= least)


def _keeps_all(allocation: Allocation) -> bool:
    return all(moment.keeps_floor and moment.keeps_ceiling for moment in allocation.moments)


def _gap(allocation: Allocation) -> float:
    gap = allocation.objective.relative_gap
    return math.inf if gap is None else gap
