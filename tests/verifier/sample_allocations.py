"""A sound allocation to be verified, and copies of it that are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from budget_opt.allocation import Allocation, Statement, allocate, uniform
from budget_opt.errors import VerificationError
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, Group
from budget_opt.model.problem import Problem
from budget_opt.verifier.static import verify_allocation


def asked(**changes: Any) -> Problem:
    fields: dict[str, Any] = {
        "name": "survey",
        "total_epsilon": 3.0,
        "objective": "geometric_mean",
        "attributes": [
            Attribute("smoker", categories=["no", "yes"], epsilon_max=1.5),
            Attribute("income", categories=5, epsilon=0.9),
            Attribute("region", categories=["north", "south", "east"]),
        ],
        "moments": [
            CrossMoment("smoker", "income", floor=0.1, ceiling=0.9),
            CrossMoment("income", "region", weight=2.0),
        ],
        "groups": [Group("health", attributes=["smoker", "income"], epsilon_max=2.0)],
    }
    return Problem(**fields | changes)


def sound(problem: Problem | None = None, epsilon: list[float] | None = None) -> Allocation:
    problem = asked() if problem is None else problem
    split = uniform(problem).epsilons if epsilon is None else np.array(epsilon)
    return allocate(problem, split, Statement())


def failed(allocation: Allocation, problem: Problem | None = None, gap: float = 1e-6) -> set[str]:
    """The claims that fail; that `require` raises with exactly these is checked on the way."""
    report = verify_allocation(allocation, problem, gap=gap)
    claims = {check.claim for check in report.failed}
    if not claims:
        assert report.require() is report
        assert report.holds
        return claims
    with pytest.raises(VerificationError) as caught:
        report.require()
    assert set(caught.value.failed) == claims
    assert caught.value.exit_code == 1
    assert all(claim in str(caught.value) for claim in claims)
    return claims


def with_block(allocation: Allocation, name: str, **changes: Any) -> Allocation:
    """Other figures of the attribute or cluster of this name."""
    blocks = tuple(replace(block, **changes) if block.name == name else block for block in allocation.blocks)
    return replace(allocation, blocks=blocks)


def unchecked(kind: type[Any], **fields: Any) -> Any:
    """An object that its own constructor would refuse."""
    made = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def with_outcome(allocation: Allocation, **changes: Any) -> Allocation:
    return replace(allocation, objective=replace(allocation.objective, **changes))
