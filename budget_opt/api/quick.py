"""A good split at once, for sliders that are being dragged."""

from __future__ import annotations

from budget_opt.allocation import Allocation, uniform
from budget_opt.api.arguments import require
from budget_opt.api.solving import found, with_level_bounds, without_prices
from budget_opt.model.problem import Problem

GAP = 1e-3
"""Relative gap that counts as optimal."""
LEVEL_TOLERANCE = 1e-3
"""Of `solve`, for a level of moments."""
STEPS = 1
"""Of the bound of a weighted sum: few, as it is not what a slider waits for."""


def quick_split(problem: Problem, start: Allocation | None = None) -> Allocation:
    """A good split of the budget in a small part of `solve`'s time, with whatever bound comes with it.

    A convex objective, and a problem with several levels, is solved as by `solve`, to a gap of 1e-3. A
    `weighted_sum` climbs from `start`, a split of a problem with the same attributes and clusters, or the
    even split, and from a few more: mostly it ends at the optimum or near it, and nothing proves that. Its
    bound is valid and loose, so that its status is `feasible` and says so. Raises as `solve` does, without a
    long explanation of what is impossible. The allocation carries no prices.
    """
    from budget_opt.solvers.answer import Settings
    from budget_opt.solvers.explanation import Names
    from budget_opt.solvers.table import solve_quickly

    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    if problem.objective != "weighted_sum" or len(problem.levels) > 1:
        asked = Settings(gap=GAP, explanation_limit=0.0)
        solved, bounds = found(problem, asked, None, LEVEL_TOLERANCE)
        allocation = without_prices(problem, solved, GAP, LEVEL_TOLERANCE if bounds else GAP)
        return with_level_bounds(allocation, bounds)
    names = Names.of_problem(problem)
    of_these = start is not None and start.question.block_names == problem.block_names
    starts = [start.epsilons if start is not None and of_these else uniform(problem).epsilons]
    candidate = solve_quickly(problem.arrays, starts, STEPS, names)
    return without_prices(problem, candidate, GAP, GAP)
