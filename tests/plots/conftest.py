"""Splits and axes that the tests of the figures share."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.figure import Figure

import budget_opt as bo

HOSTILE = (
    "$\\frac{x}$ cost_in_$",
    "_hidden",
    "a" * 80,
    "性別",
    '<b>&"x"</b>',
    "50% off_all",
    "\\alpha^{2}",
    "a" * 40 + "b" + "a" * 39,
)


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(scope="session")
def problem():
    """Every kind of limit: a floor, a ceiling, a pin, a least and a largest epsilon, and a triple."""
    return bo.Problem(
        attributes=[
            bo.Attribute("smoker", categories=["no", "yes"]),
            bo.Attribute("income", categories=5, epsilon_min=0.2),
            bo.Attribute("region", categories=4, epsilon_max=1.5),
            bo.Attribute("sex", categories=2, epsilon=0.5),
        ],
        moments=[
            bo.CrossMoment("smoker", "income", weight=3, floor=0.2),
            bo.CrossMoment("smoker", "region"),
            bo.CrossMoment("region", "sex", weight=0, ceiling=0.4),
            bo.CrossMoment("smoker", "income", "region"),
        ],
        total_epsilon=4,
        objective="geometric_mean",
    )


@pytest.fixture(scope="session")
def allocation(problem):
    return bo.solve(problem)


@pytest.fixture(scope="session")
def even(problem):
    return bo.uniform(problem)


@pytest.fixture(scope="session")
def hostile():
    """An even split of attributes whose names are markup in one language or another."""
    return bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute(name, categories=3 + i) for i, name in enumerate(HOSTILE)],
            moments=[
                *(bo.CrossMoment(*pair, floor=0.01) for pair in combinations(HOSTILE, 2)),
                bo.CrossMoment(*HOSTILE),
            ],
            total_epsilon=8,
            objective="geometric_mean",
        )
    )


@pytest.fixture(scope="session")
def wide():
    """An even split of 50 attributes with all 1,225 pairs."""
    names = [f"question {i:02d}" for i in range(50)]
    return bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute(name, categories=2 + i % 9) for i, name in enumerate(names)],
            moments=[
                bo.CrossMoment(*pair, weight=1.0 + k % 7, floor=0.9 if k == 1000 else None)
                for k, pair in enumerate(combinations(names, 2))
            ],
            total_epsilon=60,
            objective="geometric_mean",
        )
    )
