"""From a problem to an allocation whose gap is proved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation, Statement, allocate
from budget_opt.allocation.rounding import fitted, tidied
from budget_opt.api.arguments import require, require_number
from budget_opt.errors import InputError, NotSolvedError
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.solvers.answer import Callback, Candidate

LARGEST_GAP = 1.0
SMALLEST_GAP = 1e-12
LOST_BY_TIDYING = 0.01
"""Part of the asked gap that tidy epsilons may cost."""


def solve(
    problem: Problem,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Callback | None = None,
) -> Allocation:
    """The best split of the budget, with a bound from the problem itself that says how good it is.

    `gap` is the relative gap that counts as optimal, 1e-12 to 1; `time_limit` in seconds; without one,
    a `weighted_sum` ends after 60 with the gap that it has proved by then; `progress`
    is called with the state of the solve. The status is `optimal` where the bound proves `gap`, else
    `feasible` with its honest gap. Budgets, groups, bounds and pins hold exactly as decimals, floors
    and ceilings with the lambda that the sampler implements. Raises `InfeasibleError` where no split
    keeps all constraints, `NotSolvedError` where none was found within the limits.
    """
    from budget_opt.solvers.answer import Settings
    from budget_opt.solvers.explanation import Names
    from budget_opt.solvers.table import solve as find_split

    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    require_number(gap, "gap")
    if not SMALLEST_GAP <= gap <= LARGEST_GAP:
        raise InputError(f"gap: is {gap!r}, must be from {SMALLEST_GAP:g} to {LARGEST_GAP:g}.")
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds, or None.")
    names = Names(problem.names, [moment.label for moment in problem.moments])
    candidate = find_split(problem.arrays, Settings(gap=gap, time_limit=time_limit), progress, names)
    return _kept(problem, candidate, gap)


def _kept(problem: Problem, candidate: Candidate, gap: float) -> Allocation:
    """The candidate as decimals: with 12 digits and the whole total where nothing is lost by it."""
    statement = Statement(
        bound=candidate.certificate.bound,
        gap_tolerance=gap,
        solver=candidate.solver,
        seconds=candidate.seconds,
    )
    splits = [fitted(problem.arrays, candidate.epsilon), tidied(problem.arrays, candidate.epsilon)]
    made = [allocate(problem, split, statement) for split in splits if split is not None]
    kept = [allocation for allocation in made if _keeps_all(allocation)]
    if not kept:
        raise NotSolvedError(
            "the floors and ceilings leave no room for the rounding of the sampler's integers. "
            "Raise total_epsilon a little, or lower the floors that bind.",
            relative_gap=candidate.certificate.relative_gap,
        )
    enough = min(map(_gap, kept)) + LOST_BY_TIDYING * gap
    return next(allocation for allocation in reversed(kept) if _gap(allocation) <= enough)


def _keeps_all(allocation: Allocation) -> bool:
    return all(moment.keeps_floor and moment.keeps_ceiling for moment in allocation.moments)


def _gap(allocation: Allocation) -> float:
    gap = allocation.objective.relative_gap
    return math.inf if gap is None else gap
