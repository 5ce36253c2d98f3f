"""What a little more or less of every budget, floor, ceiling and bound would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require, require_sums
from budget_opt.errors import InputError
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.certificate.prices.prices import Prices


def prices(allocation: Allocation, problem: Problem) -> Prices | None:
    """The derivatives of the optimal value in every number that limits it, on raising and on lowering it.

    Per nat of a budget, pin or bound, per unit of retention of a floor or ceiling (by the moment's position).
    Computed from the split of a solved allocation and the `problem` that it was made from; of a
    `weighted_sum` as long as no other split overtakes this one. The allocation itself carries one of both
    sides each. None where the split does not satisfy the conditions of an optimum, or the problem has
    several levels. Raises `InputError` where the allocation is of another problem.
    """
    from budget_opt.certificate.prices.prices import prices as prices_at

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    require_sums(problem, "prices")
    if allocation.problem_sha256 != problem.sha256:
        raise InputError("problem: is not the one that the allocation was made from. Give that one.")
    return None if len(problem.levels) > 1 else prices_at(problem.arrays, allocation.epsilons)
