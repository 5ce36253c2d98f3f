"""Allocations that state more than a page can confirm, and files that state what is not so."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import budget_opt as bo
from budget_opt.allocation import Statement
from budget_opt.allocation.build import assemble

NAMES = ("smoke", "diab", "bmi", "age", "sex", "region", "educ", "work")


def wide(objective: str = "weighted_sum", **fields: object) -> bo.Problem:
    """Many moments of different weights, of which a weighted sum gives some up."""
    attributes = [bo.Attribute(name, categories=2 + i % 5) for i, name in enumerate(NAMES)]
    moments = [
        bo.CrossMoment(*pair, weight=1 + i % 5, floor=0.2 if i == 0 else None)
        for i, pair in enumerate(combinations(NAMES, 2))
    ]
    stated = {"name": "wide", "total_epsilon": 7.0, "attributes": attributes, "moments": moments}
    return bo.Problem(**{**stated, "objective": objective, **fields})


def in_levels() -> bo.Problem:
    """Two levels of `max_min` with a target and a pin."""
    moments = [
        bo.CrossMoment("a", "b", target=0.8),
        bo.CrossMoment("a", "c"),
        bo.CrossMoment("b", "c", level=2),
        bo.CrossMoment("c", "d", level=2),
    ]
    attributes = [bo.Attribute(name, categories=2 + i) for i, name in enumerate("abcd")]
    attributes[3] = bo.Attribute("d", categories=5, epsilon=0.4)
    return bo.Problem(total_epsilon=5, objective="max_min", attributes=attributes, moments=moments)


def forged(
    problem: bo.Problem, split: dict[str, float], path: Path, tolerance: float = 1e-6
) -> bo.Allocation:
    """A split by hand whose file claims to be an optimum, with every number as a solver would have it."""
    given = bo.allocation_from(problem, split)
    samplers = [attribute.sampler for attribute in given.attributes]
    value = given.objective.value
    assert value is not None
    claim = Statement(value * (1 + tolerance / 10), tolerance, "global search", 1.5)
    assemble(problem, given.epsilons, samplers, claim).write(path)
    read = bo.Allocation.read(path)
    assert read.objective.status == "optimal"
    return read
