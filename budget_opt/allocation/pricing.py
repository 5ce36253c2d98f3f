"""The prices that an allocation file carries: one number a constraint (DESIGN 3.2).

Each is the derivative of the objective's value in the number as it stands in the problem: per nat of
`total_epsilon`, a group's `epsilon_max`, a pin or a bound, per unit of retention of a floor or ceiling.
Where raising and lowering the number count differently, the file has the side that loosens the constraint
(a pin, and an attribute without epsilon: on raising).
"""

from __future__ import annotations

import math
from dataclasses import replace

from budget_opt.allocation.allocation import AllocatedMoment, Allocation
from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.prices.prices import Price, Prices, prices
from budget_opt.model.clusters.block import Block
from budget_opt.model.problem import Problem

LARGEST_GAP = 1e-3
"""Relative gap above which another split, with other prices, may be the optimum."""


def priced(allocation: Allocation, problem: Problem, known: Multipliers | None = None) -> Allocation:
    """The allocation with its prices; without any where its split is not proved to be optimal, or has levels.

    `problem` is what it was made from, with its pins and bounds; `known` are multipliers of its bound.
    """
    if not _is_an_optimum(allocation):
        return allocation
    found = prices(problem.arrays, allocation.epsilons, known)
    if found is None:
        return allocation
    return replace(
        allocation,
        blocks=tuple(
            replace(block, shadow_price=_of_bound(problem.blocks[i], block, price))
            for i, (block, price) in enumerate(zip(allocation.blocks, found.bounds, strict=True))
        ),
        moments=tuple(_moment(moment, found, k) for k, moment in enumerate(allocation.moments)),
        sensitivity={
            name: price.raising for name, price in found.budgets.items() if math.isfinite(price.raising)
        },
    )


def _is_an_optimum(allocation: Allocation) -> bool:
    """True where the split is proved to be one, of a single level."""
    outcome = allocation.objective
    small = outcome.relative_gap is not None and outcome.relative_gap <= LARGEST_GAP
    return outcome.status == "optimal" and small and len(allocation.question.levels) <= 1


def _of_bound(stated: Block, block: AllocatedBlock, price: Price) -> float | None:
    """On lowering an epsilon_min that is above 0 and holds, else on raising."""
    lower, upper = stated.lower, stated.upper
    at_minimum = 0 < lower < upper and block.epsilon - lower < upper - block.epsilon
    return _finite(price.lowering if at_minimum else price.raising)


def _moment(moment: AllocatedMoment, found: Prices, k: int) -> AllocatedMoment:
    floor, ceiling = found.floors.get(k), found.ceilings.get(k)
    return replace(
        moment,
        floor_price=None if floor is None else _finite(floor.lowering),
        ceiling_price=None if ceiling is None else _finite(ceiling.raising),
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
