"""Laws that tie the optima of related convex problems together, and floors with next to no slack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, vstack

from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import MINIMIZED, Arrays, Objective
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, random_problem

CONVEX: list[Objective] = ["geometric_mean", "max_min", "min_epsilon", "min_variance"]
seeds = st.integers(0, 10**6)


def optimum(arrays: Arrays) -> float:
    return solve(arrays).certificate.value


@given(seed=seeds, objective=st.sampled_from(CONVEX), factor=st.sampled_from([1e-9, 0.3, 7.0, 1e8]))
@settings(max_examples=10)
def test_weights_scale_the_variance_and_leave_the_other_objectives(
    seed: int, objective: Objective, factor: float
) -> None:
    arrays = random_problem(seed, objective)
    scaled = optimum(replace(arrays, weight=factor * arrays.weight))
    expected = optimum(arrays) * (factor if objective == "min_variance" else 1.0)
    assert scaled == pytest.approx(expected, rel=3e-8)


@given(seed=seeds, objective=st.sampled_from(CONVEX))
@settings(max_examples=10)
def test_a_moment_stated_twice_with_half_the_weight_changes_nothing(seed: int, objective: Objective) -> None:
    arrays = random_problem(seed, objective)
    doubled: dict[str, Any] = {
        name: np.concatenate([getattr(arrays, name)] * 2)
        for name in ("log_floor", "log_ceiling", "target", "variance", "detail")
    }
    weight = np.concatenate([arrays.weight / 2] * 2)
    rows = csr_array(vstack([arrays.incidence] * 2))
    twice = replace(arrays, incidence=rows, spread_incidence=rows, weight=weight, **doubled)
    assert optimum(twice) == pytest.approx(optimum(arrays), rel=3e-8)


def _larger(arrays: Arrays) -> Arrays:
    """The same with a tenth more of every budget and bound above the lower bounds."""
    budgets = tuple(replace(budget, cap=budget.cap * 11 / 10) for budget in arrays.budgets)
    upper = np.where(arrays.upper > arrays.lower, 1.1 * arrays.upper, arrays.upper)
    return replace(arrays, budgets=budgets, upper=upper)


@given(seed=seeds, objective=st.sampled_from(CONVEX))
@settings(max_examples=10)
def test_larger_budgets_and_dropped_floors_never_hurt(seed: int, objective: Objective) -> None:
    arrays = random_problem(seed, objective)
    sign = -1.0 if objective in MINIMIZED else 1.0
    base = sign * optimum(arrays)
    free = replace(arrays, log_floor=np.full(arrays.moments, -np.inf))
    for easier in (_larger(arrays), free):
        assert sign * optimum(easier) >= base - 1e-8 * abs(base)


@given(seed=seeds)
@settings(max_examples=10)
def test_the_least_epsilon_for_the_floors_of_an_optimum_is_its_total(seed: int) -> None:
    rng = np.random.default_rng(seed)
    moments = [[0, 1], [1, 2], [2, 3], [0, 3, 1]]
    arrays = build("max_min", rng.integers(2, 30, 4), moments, float(rng.uniform(0.5, 9)))
    best = solve(arrays)
    floors = np.log(np.full(4, best.certificate.value))
    back = replace(arrays, objective="min_epsilon", log_floor=floors, budgets=(), upper=arrays.stated_upper)
    assert optimum(back) == pytest.approx(float(arrays.budgets[0].cap), rel=1e-7)


@pytest.mark.parametrize("objective", ["geometric_mean", "max_min", "min_variance"])
def test_tiny_totals_approach_the_limit_in_which_lambda_is_epsilon_over_r(objective: Objective) -> None:
    """There a mean of logarithms ignores r, a least lambda wants e ~ r, a sum of r^2 / e^2 e ~ r^(2/3)."""
    r = np.array([2.0, 50.0, 7.0])
    power = {"geometric_mean": 0.0, "max_min": 1.0, "min_variance": 2.0 / 3.0}[objective]
    found = solve(build(objective, r, [[0], [1], [2]], 3e-9)).epsilon
    assert found == pytest.approx(3e-9 * r**power / np.sum(r**power), rel=1e-4)


@pytest.mark.parametrize("objective", ["geometric_mean", "min_variance"])
@pytest.mark.parametrize("slack", [1e-4, 1e-7, 1e-10])
def test_floors_with_next_to_no_slack_are_kept_and_the_gap_closes(objective: Objective, slack: float) -> None:
    rng = np.random.default_rng(3)
    moments = [[i, j] for i in range(12) for j in range(i)]
    highest = build("max_min", rng.integers(2, 17, 12), moments, 12.0)
    kept = log_retentions(highest, solve(highest).epsilon)
    arrays = replace(highest, objective=objective, log_floor=kept - slack)
    found = solve(arrays)
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.relative_gap <= 1e-8


def test_floors_that_leave_nothing_are_said_to_have_no_interior_with_the_numbers_and_the_way_out() -> None:
    # one attribute whose floor is met at its upper bound and nowhere else
    bound = 1.5
    arrays = build("geometric_mean", [4, 4], [[0], [0, 1]], 9.0, upper=[bound, 9.0])
    exactly = float(log_retentions(arrays, np.array([bound, 1.0]))[0])
    arrays = replace(arrays, log_floor=np.array([exactly, -np.inf]))
    with pytest.raises(NotSolvedError) as caught:
        solve(arrays)
    message = str(caught.value)
    assert "the feasible set has no interior" in message
    assert "Lower a floor" in message
    assert message.count("1.0000") + message.count("0.9999") >= 2
    raised = replace(arrays, upper=np.array([bound * (1 + 1e-6), 9.0]))
    assert solve(raised).status == "optimal"
