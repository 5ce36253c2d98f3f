"""Nothing warns from the smallest budget to the largest, whatever a background makes of the cardinality.

DESIGN 2.1. Warnings are errors in every test.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.certificate.prices.conditions import conditions
from budget_opt.model.arrays import Objective

OBJECTIVES: tuple[Objective, ...] = ("weighted_sum", "geometric_mean", "max_min", "min_variance")


def problem(total: float, objective: Objective, least_share: float = 1e-11, **fields: Any) -> bo.Problem:
    """Backgrounds of a large effective cardinality, alone and within a cluster."""
    rare = [least_share, 0.5, 0.5 - least_share]
    return bo.Problem(
        attributes=[
            bo.Attribute("a", categories=3, marginal=[0.5, 0.3, 0.2], background="marginal"),
            bo.Attribute("b", categories=2, background=[least_share, 1 - least_share]),
            bo.Attribute("c", categories=3, background=rare),
            bo.Attribute("d", categories=["u", "v"]),
        ],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c", weight=2), bo.CrossMoment("a", "b", "d")],
        total_epsilon=total,
        objective=objective,
        clusters=[["a", "b"]],
        **fields,
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(
    exponent=st.one_of(st.sampled_from([-300.0, -299.0, -200.0, 3.0]), st.floats(-300, 4, exclude_max=True)),
    share=st.floats(-11.9, -1).map(lambda power: 10.0**power),
)
@settings(max_examples=10, deadline=None)
def test_a_split_of_any_total_is_solved_without_a_warning(
    objective: Objective, exponent: float, share: float
) -> None:
    asked = problem(10.0**exponent, objective, share)
    found = bo.solve(asked, gap=0.1)
    assert np.all(np.isfinite(found.epsilons))
    assert found.spent_epsilon <= asked.total_epsilon


def test_where_the_objective_is_below_every_double_its_logarithm_still_has_a_slope() -> None:
    """F = 2^-1080 or so: d log F / d epsilon is that of log lambda, times the block's part in F."""
    attributes = [bo.Attribute(name, categories=2) for name in "abcd"]
    asked = bo.Problem(
        attributes=attributes,
        moments=[bo.CrossMoment("a", "b", "c", "d"), bo.CrossMoment("a", "b", weight=0.0)],
        total_epsilon=1e-100,
    )
    epsilon = np.full(4, 2e-101)
    on = conditions(asked.arrays, epsilon, 1e-9)
    assert on.gradient / on.unit == pytest.approx(1 / epsilon, rel=1e-9)


def test_where_no_moment_is_kept_the_slopes_are_those_of_the_objective_up_to_a_factor() -> None:
    asked = bo.Problem(
        attributes=[bo.Attribute(name, categories=2) for name in "abc"],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("a", "c", weight=3.0)],
        total_epsilon=1.0,
    )
    on = conditions(asked.arrays, np.array([1.0, 0.0, 0.0]), 1e-9)
    slope = on.gradient / on.unit
    assert slope[0] == 0
    assert slope[2] / slope[1] == pytest.approx(3.0)
    assert math.isfinite(slope[2])
