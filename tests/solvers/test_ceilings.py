"""Ceilings are linear in log lambda: the convex objectives stay convex and are proved optimal under them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.certificate import certify
from budget_opt.errors import InfeasibleError, NotSolvedError
from budget_opt.mechanisms import log_lambda, logit
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, Objective
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, no_split_is_beyond, random_problem

CONVEX: list[Objective] = ["geometric_mean", "max_min", "min_epsilon", "min_variance"]
QUICK = Settings(solver="interior point")


@pytest.mark.parametrize(
    "objective",
    [pytest.param(one, marks=pytest.mark.slow) if one == "min_variance" else one for one in CONVEX],
)
def test_convex_objectives_under_ceilings_are_proved_optimal(objective: Objective) -> None:
    # fixed problems: about one in a thousand stays open above 1e-7 (the changelog says so)
    for seed in range(10):
        arrays = random_problem(seed, objective, ceilings=True)
        found = solve(arrays, QUICK)
        assert broken(arrays, found.epsilon) == []
        if arrays.is_convex:
            assert found.certificate.relative_gap <= 1e-7
            assert certify(arrays, found.epsilon).relative_gap <= 1e-6
            no_split_is_beyond(arrays, found.certificate.bound, seed, 60)


def test_cvxpy_and_the_interior_point_method_agree_under_ceilings() -> None:
    arrays = build(
        "geometric_mean", [4, 3, 6], [[0, 1], [1, 2], [0, 2]], 6.0, ceiling=[0.2, 1, 0.3], floor=[0, 0.2, 0]
    )
    first, second = solve(arrays, Settings(solver="cvxpy")), solve(arrays, QUICK)
    assert first.certificate.value == pytest.approx(second.certificate.value, rel=1e-7)
    assert second.status == "optimal"


def test_a_ceiling_that_binds_is_met_and_what_it_frees_goes_elsewhere() -> None:
    plain = build("geometric_mean", [4, 4, 4], [[0, 1], [1, 2]], 6.0)
    capped = build("geometric_mean", [4, 4, 4], [[0, 1], [1, 2]], 6.0, ceiling=[0.2, 1.0])
    free, found = solve(plain, QUICK), solve(capped, QUICK)
    kept = np.exp(log_retentions(capped, found.epsilon))
    assert kept[0] == pytest.approx(0.2, rel=1e-8)
    assert kept[0] <= 0.2
    assert kept[1] > np.exp(log_retentions(plain, free.epsilon))[1]


def test_two_ceilings_that_fix_the_optimum_give_its_exact_value() -> None:
    # R_01 <= .27 and lambda_0 <= .56: the mean of both is largest where both hold with equality
    arrays = build("geometric_mean", [4, 4], [[0, 1], [0]], 4.0, floor=[0.25, 0.5], ceiling=[0.27, 0.56])
    found = solve(arrays, QUICK)
    assert found.certificate.value == pytest.approx((0.27 * 0.56) ** 0.5, rel=1e-9)
    assert found.certificate.bound == pytest.approx((0.27 * 0.56) ** 0.5, rel=1e-8)


def test_stated_marginals_under_ceilings_get_an_honest_gap() -> None:
    # with b > 1 the variance inflation is not convex in log lambda
    arrays = build(
        "min_variance",
        [4, 4, 4],
        [[0, 1], [1, 2]],
        6.0,
        ceiling=[0.3, 1],
        spread_a=[1.5] * 3,
        spread_b=[9.0] * 3,
    )
    found = solve(arrays, QUICK)
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.bound <= found.certificate.value
    assert np.isfinite(found.certificate.relative_gap)


def test_a_ceiling_below_what_pins_force_is_proved_impossible() -> None:
    arrays = build(
        "geometric_mean", [4, 4, 4], [[0, 1], [1, 2]], 6.0, lower=[2, 2, 0], upper=[2, 2, 9], ceiling=[0.2, 1]
    )
    with pytest.raises(InfeasibleError, match=r"attribute 1 x attribute 2 <= 0\.2"):
        solve(arrays)


def test_a_ceiling_inside_a_floored_moment_is_proved_impossible() -> None:
    arrays = build("max_min", [4, 4, 4], [[0, 1], [0, 1, 2]], 9.0, floor=[0, 0.3], ceiling=[0.25, 1])
    with pytest.raises(
        InfeasibleError,
        match=r"attribute 1 x attribute 2 x attribute 3 >= 0\.3, attribute 1 x attribute 2 <= 0\.25",
    ):
        solve(arrays)


@pytest.mark.parametrize("objective", [*CONVEX, "weighted_sum"])
def test_floors_that_force_a_retention_above_a_ceiling_together_are_proved_impossible(
    objective: Objective,
) -> None:
    # R_01 R_12 R_02 >= 1/8 forces R_012 = sqrt of it >= .354, which no single floor or bound shows
    arrays = build(
        objective, [4, 4, 4], [[0, 1], [1, 2], [0, 2], [0, 1, 2]], 30.0,
        floor=[0.5, 0.5, 0.5, 0], ceiling=[1, 1, 1, 0.3],
    )  # fmt: skip
    with pytest.raises(InfeasibleError) as caught:
        solve(arrays, Settings(time_limit=5))
    assert "attribute 1 x attribute 2 x attribute 3 <= 0.3" in str(caught.value)
    assert len(caught.value.conflict) == 4


def test_floors_without_an_interior_are_said_to_leave_no_room() -> None:
    arrays = build("geometric_mean", [4, 4], [[0], [0, 1]], 9.0, floor=[0.5, 0], ceiling=[0.5, 1])
    with pytest.raises((NotSolvedError, InfeasibleError)):
        solve(arrays, QUICK)


@given(e=st.floats(1e-9, 30), r=st.floats(2, 1e6))
def test_both_coordinates_say_the_same_of_an_attribute(e: float, r: float) -> None:
    epsilon, cardinality = np.array([e]), np.array([r])
    x, v = rr.log_retention(epsilon, cardinality), logit.logit(epsilon, cardinality)
    assert log_lambda.epsilon(x, cardinality) == pytest.approx(e, rel=1e-9)
    slope, bend = log_lambda.epsilon_slopes(x, cardinality)
    chain = 1.0 / logit.log_retention_slope(v)
    assert slope == pytest.approx(logit.epsilon_slope(v, cardinality) * chain, rel=1e-6)
    assert _second_difference(x, cardinality) == pytest.approx(bend, rel=2e-2, abs=1e-9)
    tau, first, _ = log_lambda.log_tau(x)
    assert tau == pytest.approx(rr.log_tau(epsilon, cardinality), rel=1e-9, abs=1e-9)
    assert first == pytest.approx(-chain, rel=1e-6)


def _second_difference(x: FloatArray, r: FloatArray) -> FloatArray:
    step = 1e-3 * np.minimum(1.0, -x)
    before, after = log_lambda.epsilon_slopes(x - step, r)[0], log_lambda.epsilon_slopes(x + step, r)[0]
    slope: FloatArray = (after - before) / (2 * step)
    return slope
