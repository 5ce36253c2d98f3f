"""A split written by hand, as an allocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from budget_opt.allocation.allocation import Allocation
from budget_opt.allocation.build import Statement, allocate
from budget_opt.errors import MISSING, Fault, InputError
from budget_opt.model.clusters.block import Block
from budget_opt.model.parts import nearest
from budget_opt.model.problem import Problem
from budget_opt.model.values import UnfitError, budget

GIVEN = "given"
"""What stands for the solver of a split that somebody wrote."""


def allocation_from(problem: Problem, epsilons: Mapping[str, Any]) -> Allocation:
    """The allocation of a split by hand: `allocation_from(problem, {"smoker": 1.5, "income": 2})`.

    `epsilons` in nats, one for every attribute by name, 0 for one that is not released, and one for a cluster
    ("smoker + income", or the same for its members); a number is the
    decimal of its shortest text, and nothing is rounded. Budgets, floors and bounds may be broken: `judge`
    and `verify` say which, and nothing is randomized above the total. Raises `InputError` with every name
    that is missing or unknown, and every epsilon that is none.
    """
    known = {name for block in problem.blocks for name in (block.name, *block.names)}
    faults = [_unknown(name, value, problem) for name, value in epsilons.items() if name not in known]
    split = []
    for block in problem.blocks:
        epsilon, found = _epsilon_of(block, epsilons)
        faults += found
        split.append(epsilon)
    if faults:
        raise InputError.from_faults(faults, "the split")
    return allocate(problem, np.array(split), Statement(solver=GIVEN))


def _epsilon_of(block: Block, epsilons: Mapping[str, Any]) -> tuple[float, list[Fault]]:
    """That under the block's name; of a cluster also under those of its members, where they agree."""
    if block.name in epsilons or not block.is_cluster:
        return _epsilon(block.name, epsilons.get(block.name, MISSING))
    found = [_epsilon(name, epsilons[name]) for name in block.names if name in epsilons]
    faults = [fault for _, own in found for fault in own]
    numbers = {epsilon for epsilon, _ in found}
    if not found or faults:
        return (0.0, faults) if faults else _epsilon(block.name, MISSING)
    if len(numbers) > 1:
        limit = "has one epsilon for all its members, and they are given different ones"
        return 0.0, [Fault(block.name, sorted(numbers), limit, "Give the cluster one epsilon.")]
    return numbers.pop(), []


def _unknown(name: object, value: object, problem: Problem) -> Fault:
    near = nearest(str(name), problem.block_names)
    hint = f'Did you mean "{near}"?' if near else f"Attributes are {', '.join(problem.block_names)}."
    return Fault(str(name), value, "is not the epsilon of an attribute", hint)


def _epsilon(name: str, value: object) -> tuple[float, list[Fault]]:
    if value is MISSING:
        return 0.0, [Fault(name, MISSING, "needs an epsilon", "Give 0 to leave the attribute out.")]
    try:
        return budget(value), []
    except UnfitError as why:
        return 0.0, [Fault(name, value, why.limit, f"{why.remedy}.")]
