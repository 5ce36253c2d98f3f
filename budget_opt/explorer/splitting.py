"""The split that follows a slider, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from budget_opt.allocation import Allocation
from budget_opt.api.checking import check
from budget_opt.api.quick import quick_split
from budget_opt.errors import BudgetOptError
from budget_opt.model.problem import Problem

THINKING = 0.0
"""Seconds for the explanation of a wish that cannot be met, beside single solves."""


@dataclass(frozen=True)
class Step:
    """A split, or why the wishes have none."""

    allocation: Allocation | None
    why: BudgetOptError | None = None


def split_for(problem: Problem, start: Allocation | None) -> Step:
    """A good split of the problem, found quickly from `start`; floors are looked at first.

    Whether they can be kept is told in a tenth of a second, with the least total that would do; `solve`
    would look for the best explanation for seconds.
    """
    try:
        if problem.arrays.floors.size or problem.arrays.ceilings.size:
            impossible = check(problem, time_limit=THINKING).impossible
            if impossible is not None:
                return Step(None, impossible)
        return Step(quick_split(problem, start))
    except BudgetOptError as failure:
        return Step(None, failure)


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
