"""Random problems to be clustered, and the best of all partitions by solving each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import budget_opt as bo
from budget_opt.errors import InfeasibleError, NotSolvedError, ProblemError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import value
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.table import solve


def random_design(seed: int, size: int, objective: str, **fields: Any) -> bo.Problem:
    """Attributes of 2 to 5 categories, some with bounds, pins or marginals; moments of order 1 to 3."""
    rng = np.random.default_rng(seed)
    sets = [names for order in (1, 2, 3) for names in itertools.combinations(range(size), order)]
    moments = [
        bo.CrossMoment(
            *(f"x{i}" for i in sets[int(rng.integers(len(sets)))]),
            weight=float(rng.integers(0, 4)),
            target=float(rng.choice([1.0, 0.5])),
            variance=float(rng.choice([1.0, 3.0])),
            floor=float(rng.choice([0.05, 0.2])) if rng.random() < 0.25 else None,
        )
        for _ in range(int(rng.integers(3, 8)))
    ]
    floor = 0.1 if objective == "min_epsilon" else None
    moments.append(bo.CrossMoment("x0", "x1", weight=1.0, floor=floor))
    groups = [bo.Group(name="g", attributes=["x0", "x1"], epsilon_max=3.0)] if rng.random() < 0.3 else []
    return bo.Problem(
        **{
            "attributes": [_attribute(rng, f"x{i}") for i in range(size)],
            "moments": moments,
            "groups": groups,
            "total_epsilon": float(rng.choice([3.0, 5.0, 8.0])),
            "objective": objective,
            "clusters": "auto",
            "max_cells": int(rng.choice([16, 64])),
            **fields,
        }
    )


def _attribute(rng: np.random.Generator, name: str) -> bo.Attribute:
    size, kind = int(rng.integers(2, 6)), rng.random()
    limits = (
        {"epsilon_max": float(rng.choice([1.0, 2.0]))}
        if kind < 0.15
        else {"epsilon_min": 0.25}
        if kind < 0.25
        else {"epsilon": 0.5}
        if kind < 0.3
        else {}
    )
    shares = rng.integers(1, 9, size)
    marginal = (shares / shares.sum()).tolist() if rng.random() < 0.3 else None
    return bo.Attribute(name, categories=size, marginal=marginal, **limits)


def set_partitions(names: tuple[str, ...]) -> Iterator[list[list[str]]]:
    """All partitions of some names, by the textbook recursion."""
    if not names:
        yield []
        return
    first, *others = names
    for rest in set_partitions(tuple(others)):
        yield [[first], *rest]
        for i, block in enumerate(rest):
            yield [*rest[:i], [first, *block], *rest[i + 1 :]]


def clustered(problem: bo.Problem) -> Iterator[bo.Problem]:
    """The problem under every partition that it admits."""
    for partition in set_partitions(problem.names):
        clusters = [block for block in partition if len(block) > 1]
        try:
            yield problem.with_fields(clusters=clusters, max_cells=problem.max_cells if clusters else None)
        except ProblemError:
            continue


def attained(allocation: bo.Allocation) -> float:
    """The objective at lambda(epsilon)."""
    return value(allocation.question.arrays, allocation.epsilons)


def best_of_all(problem: bo.Problem, gap: float = 1e-7) -> float | None:
    """The best value over all partitions, None where none has a split."""
    found = []
    for one in clustered(problem):
        try:
            found.append(solve(one.arrays, Settings(gap=gap, explanation_limit=0.0)).certificate.value)
        except (InfeasibleError, NotSolvedError):
            continue
    return (min if problem.objective in MINIMIZED else max)(found, default=None)
