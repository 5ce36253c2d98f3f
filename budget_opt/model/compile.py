"""From a problem to the arrays that solvers work on."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.model.arrays import Arrays, Budget, FloatArray

if TYPE_CHECKING:
    from budget_opt.model.problem import Problem


def arrays_of(problem: Problem) -> Arrays:
    """The numeric view of a problem in its order, with the weights of its first level."""
    index = {name: i for i, name in enumerate(problem.names)}
    budgets = tuple(
        Budget(name, np.array(sorted(index[member] for member in members), dtype=np.int64), cap)
        for name, members, cap in problem.budgets()
    )
    lower = [attribute.lower for attribute in problem.attributes]
    upper = _upper(problem, lower, budgets)
    rows = [i for i, moment in enumerate(problem.moments) for _ in moment.attributes]
    columns = [index[name] for moment in problem.moments for name in moment.attributes]
    shape = (len(problem.moments), len(problem.attributes))
    spread = [attribute.spread for attribute in problem.attributes]
    return Arrays(
        objective=problem.objective,
        cardinality=np.array([attribute.effective_cardinality for attribute in problem.attributes]),
        lower=np.array(lower),
        upper=np.array(upper),
        stated_upper=np.array([attribute.upper for attribute in problem.attributes]),
        incidence=csr_array((np.ones(len(rows)), (rows, columns)), shape=shape),
        weight=weights_of(problem, min(problem.levels, default=1)),
        log_floor=np.array(
            [-math.inf if moment.floor is None else math.log(moment.floor) for moment in problem.moments]
        ),
        log_ceiling=np.array(
            [0.0 if moment.ceiling is None else math.log(moment.ceiling) for moment in problem.moments]
        ),
        target=np.array([moment.target for moment in problem.moments]),
        variance=np.array([moment.variance for moment in problem.moments]),
        spread_a=np.array([a for a, _ in spread]),
        spread_b=np.array([b for _, b in spread]),
        budgets=budgets,
    )


def weights_of(problem: Problem, level: int) -> FloatArray:
    """The weights (K,) of the moments of one level, 0 for those of the others."""
    return np.array([moment.weight if moment.level == level else 0.0 for moment in problem.moments])


def _upper(problem: Problem, lower: list[float], budgets: tuple[Budget, ...]) -> list[float]:
    """Each attribute's own upper bound, cut to what every budget leaves, rounded down."""
    least = [exact(low) for low in lower]
    upper = [attribute.upper for attribute in problem.attributes]
    for budget in budgets:
        left = budget.cap - sum((least[i] for i in budget.members), Fraction(0))
        for i in budget.members:
            if upper[i] > lower[i]:
                upper[i] = max(lower[i], min(upper[i], float_at_most(least[i] + left)))
    return upper
