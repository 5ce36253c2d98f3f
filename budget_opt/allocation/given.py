"""A split written by hand, as an allocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from budget_opt.allocation.allocation import Allocation
from budget_opt.allocation.build import Statement, allocate
from budget_opt.errors import MISSING, Fault, InputError
from budget_opt.model.parts import nearest
from budget_opt.model.problem import Problem
from budget_opt.model.values import UnfitError, budget

GIVEN = "given"
"""What stands for the solver of a split that somebody wrote."""


def allocation_from(problem: Problem, epsilons: Mapping[str, Any]) -> Allocation:
    """The allocation of a split by hand: `allocation_from(problem, {"smoker": 1.5, "income": 2})`.

    `epsilons` in nats, one for every attribute by name, 0 for one that is not released; a number is the
    decimal of its shortest text, and nothing is rounded. Budgets, floors and bounds may be broken: `judge`
    and `verify` say which, and nothing is randomized above the total. Raises `InputError` with every name
    that is missing or unknown, and every epsilon that is none.
    """
    faults = [_unknown(name, value, problem) for name, value in epsilons.items() if name not in problem.names]
    split = []
    for name in problem.names:
        epsilon, found = _epsilon(name, epsilons.get(name, MISSING))
        faults += found
        split.append(epsilon)
    if faults:
        raise InputError.from_faults(faults, "the split")
    return allocate(problem, np.array(split), Statement(solver=GIVEN))


def _unknown(name: object, value: object, problem: Problem) -> Fault:
    near = nearest(str(name), problem.names)
    hint = f'Did you mean "{near}"?' if near else f"Attributes are {', '.join(problem.names)}."
    return Fault(str(name), value, "is not the epsilon of an attribute", hint)


def _epsilon(name: str, value: object) -> tuple[float, list[Fault]]:
    if value is MISSING:
        return 0.0, [Fault(name, MISSING, "needs an epsilon", "Give 0 to leave the attribute out.")]
    try:
        return budget(value), []
    except UnfitError as why:
        return 0.0, [Fault(name, value, why.limit, f"{why.remedy}.")]
