"""Originals, and releases of them drawn from the matrices of an allocation with numpy's generator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.allocation import Allocation, uniform
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, PublicColumn
from budget_opt.model.problem import Problem

Codes = npt.NDArray[np.uint8]
Table = dict[str, Codes]
N = 40_000


def allocation_of(total: float = 6.0, **changes: Any) -> Allocation:
    problem = Problem(
        attributes=[
            Attribute("smoker", categories=["no", "yes"], ordered=True),
            Attribute("income", categories=5, ordered=True),
            Attribute("region", categories=["north", "south", "east", "west"]),
            Attribute("twin", categories=["no", "yes"], ordered=True),
        ],
        moments=[
            CrossMoment("smoker", "income"),
            CrossMoment("region", "income"),
            CrossMoment("smoker", "twin"),
            CrossMoment("smoker", "income", "twin"),
            CrossMoment("income"),
            CrossMoment("region"),
        ],
        public=[PublicColumn("wave", why="the same for everybody")],
        total_epsilon=total,
        **changes,
    )
    return uniform(problem)


def originals(rng: np.random.Generator, n: int = N) -> Table:
    """Correlated columns with rare categories."""
    income = rng.choice(5, n, p=[0.5, 0.3, 0.1, 0.07, 0.03])
    smoker = rng.random(n) < 0.1 + 0.15 * income
    region = np.where(rng.random(n) < 0.5, income % 4, rng.integers(0, 4, n))
    twin = np.where(rng.random(n) < 0.3, smoker, rng.random(n) < 0.4)
    return {
        name: np.asarray(column, dtype=np.uint8)
        for name, column in {"smoker": smoker, "income": income, "region": region, "twin": twin}.items()
    }


def randomized(rng: np.random.Generator, column: Codes, cardinality: int, kept: float) -> Codes:
    noise = rng.integers(0, cardinality, column.size)
    return np.where(rng.random(column.size) < kept, column, noise).astype(np.uint8)


def sound(rng: np.random.Generator, allocation: Allocation, table: Mapping[str, Codes]) -> Table:
    return {
        a.name: randomized(rng, table[a.name], a.cardinality, float(a.exact_retention))
        for a in allocation.attributes
    }
