"""The split that follows a slider, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from budget_opt.allocation import Allocation
from budget_opt.api.quick import quick_split
from budget_opt.api.solving import solve
from budget_opt.errors import BudgetOptError, InfeasibleError, NotSolvedError
from budget_opt.model.problem import Problem
from budget_opt.solvers.answer import Callback


@dataclass(frozen=True)
class Step:
    """What the sliders have: a problem, None where they make none, and its split or why it has none."""

    problem: Problem | None
    allocation: Allocation | None = None
    why: BudgetOptError | None = None

    @property
    def reason(self) -> BudgetOptError:
        """Why there is no split; where nothing is known, that nothing was found out."""
        return self.why or NotSolvedError(
            "the search for the split of these wishes was cut short. Move a slider again, or press prove."
        )


def split_for(problem: Problem, start: Allocation | None) -> Step:
    """A good split of the problem, found quickly from `start`, or why there is none.

    An impossible wish is told at once, with the least total that would do; `solve` would look for the best
    explanation for seconds.
    """
    try:
        return Step(problem, quick_split(problem, start))
    except BudgetOptError as failure:
        return Step(problem, why=failure)


def proved_for(problem: Problem, time_limit: float, progress: Callback) -> Step:
    """The problem solved to the default gap in so many seconds, or why it is impossible.

    Raises `NotSolvedError` where neither was found.
    """
    try:
        return Step(problem, solve(problem, time_limit=time_limit, progress=progress))
    except InfeasibleError as failure:
        return Step(problem, why=failure)


def largest_floor(problem: Problem, k: int) -> float | None:
    """What moment k can keep at most while everything else stays, rounded down to a thousandth.

    None where the rest cannot be kept either, or where the problem has no total.
    """
    if problem.total_epsilon is None:
        return None
    alone = [
        moment.with_fields(weight=1.0, floor=None) if i == k else moment.with_fields(weight=0.0)
        for i, moment in enumerate(problem.moments)
    ]
    question = problem.with_fields(moments=alone, objective="geometric_mean")
    found = split_for(question, None).allocation
    return None if found is None else math.floor(1000 * found.moments[k].retention) / 1000
