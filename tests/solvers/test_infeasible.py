"""Impossible wishes: proved, named, and the advice works (issue 2.5)."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from budget_opt.errors import InfeasibleError
from budget_opt.mechanisms import logit
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import TOTAL, Arrays, Budget
from budget_opt.solvers import feasibility
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.explanation import Names, rounded_down, rounded_up
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build

SURVEY = Names(
    ["smoker", "income", "region", "health"], ["smoker x income", "region x health", "smoker x region"]
)


def _survey(total: float, floors: tuple[float, float] = (0.2, 0.35)) -> Arrays:
    return build("geometric_mean", [2, 5, 4, 3], [[0, 1], [2, 3], [0, 2]], total, floor=[*floors, 0.0])


def _failure(arrays: Arrays, names: Names | None = None) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        solve(arrays, names=names)
    return caught.value


def test_the_message_names_the_least_total_the_conflict_and_both_ways_out() -> None:
    failure = _failure(_survey(2.0), SURVEY)
    assert re.fullmatch(
        r"the floors need a total epsilon of at least \d\.\d{1,3}, the problem allows 2\.\n"
        r"  They conflict in: region x health >= 0\.35, smoker x income >= 0\.2\.\n"
        r"  Raise total_epsilon to \d\.\d{1,3}, or keep 2 and lower these floors to 0\.\d+ and 0\.\d+\.",
        str(failure),
    )
    assert failure.total == 2.0
    assert failure.conflicts == ("region x health >= 0.35", "smoker x income >= 0.2")


def _least_by_bisection(arrays: Arrays) -> float:
    """The least total by bisection on whether SLSQP can bring the least slack of the floors above 0."""
    r = arrays.cardinality

    def slack(total: float) -> float:
        def spent(x: np.ndarray) -> float:
            return float(1 - np.sum(logit.epsilon(x[:-1], r)) / total)

        def margins(x: np.ndarray) -> np.ndarray:
            kept = arrays.incidence @ logit.log_retention(x[:-1])
            return np.asarray((kept - arrays.log_floor)[arrays.floors] - x[-1])

        first = np.append(logit.logit(np.full(r.size, total / r.size * 0.9), r), -20.0)
        result = minimize(
            lambda x: -x[-1], first, method="SLSQP", options={"maxiter": 1000, "ftol": 1e-14},
            constraints=[{"type": "ineq", "fun": spent}, {"type": "ineq", "fun": margins}],
        )  # fmt: skip
        return float(result.x[-1])

    return float(brentq(slack, 0.5, 60.0, rtol=1e-10))


@pytest.mark.parametrize("seed", range(4))
def test_the_least_total_agrees_with_bisection_by_another_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = build(
        "max_min", rng.integers(2, 9, 4), [[0, 1], [1, 2], [2, 3], [0, 1, 2]], 0.5,
        floor=rng.uniform(0.1, 0.5, 4),
    )  # fmt: skip
    least = feasibility.least_total(arrays)
    assert least == pytest.approx(_least_by_bisection(arrays), rel=1e-5)


def _with_total(arrays: Arrays, total: float) -> Arrays:
    budgets = tuple(Budget(b.name, b.members, exact(total)) if b.name == TOTAL else b for b in arrays.budgets)
    return replace(arrays, budgets=budgets, upper=np.minimum(arrays.stated_upper, total))


@given(seed=st.integers(0, 10**5))
@settings(max_examples=8)
def test_following_either_advice_makes_the_problem_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    moments = sorted({tuple(sorted(rng.choice(m, 2, replace=False).tolist())) for _ in range(5)})
    floor = rng.uniform(0.1, 0.6, len(moments)) * (rng.random(len(moments)) < 0.8)
    assume(np.any(floor > 0))
    arrays = build("geometric_mean", rng.integers(2, 9, m), moments, 0.7, floor=floor)
    quick = Settings(solver="interior point")
    try:
        solve(arrays, quick)
        return
    except InfeasibleError as caught:
        failure = caught
    assert failure.least_total is not None
    raised = _with_total(arrays, failure.least_total)
    assert broken(raised, solve(raised, quick).epsilon) == []
    found = feasibility.conflict(arrays)
    assert found.factor is not None
    lowered = arrays.log_floor.copy()
    for k, floor_value in zip(
        found.lowered, feasibility.lowered_floors(arrays, found)[found.lowered], strict=True
    ):
        lowered[k] = np.log(rounded_down(float(floor_value)))
    relaxed = replace(arrays, log_floor=lowered)
    assert broken(relaxed, solve(relaxed, quick).epsilon) == []


def test_slightly_less_than_the_least_total_is_still_impossible() -> None:
    least = feasibility.least_total(_survey(2.0))
    assert least is not None
    _failure(_survey(least * (1 - 1e-4)))
    assert solve(_survey(rounded_up(least))).status == "optimal"


def test_a_group_in_the_way_is_named_and_no_total_is_promised() -> None:
    arrays = build("geometric_mean", [2, 5, 4, 3], [[0, 1], [2, 3]], 30.0, [([2, 3], 1.0)], floor=[0.2, 0.35])
    failure = _failure(arrays)
    assert failure.least_total is None
    assert "against group 'group 0' <= 1" in str(failure)
    assert "no total epsilon meets the floors" in str(failure)


def test_a_bound_or_a_pin_in_the_way_is_named() -> None:
    bounded = build("geometric_mean", [2, 5], [[0, 1]], 30.0, upper=[0.2, 9], floor=[0.2])
    assert "attribute 1 epsilon_max 0.2" in str(_failure(bounded))
    pinned = build("geometric_mean", [2, 5], [[0, 1]], 30.0, lower=[0.1, 0], upper=[0.1, 9], floor=[0.2])
    assert "attribute 1 pinned to 0.1" in str(_failure(pinned))
    nothing = build("geometric_mean", [2, 5], [[0, 1]], 30.0, upper=[0.0, 9], floor=[0.2])
    assert "attribute 1 pinned to 0" in str(_failure(nothing))


def test_a_fixed_split_that_misses_a_floor_is_impossible() -> None:
    arrays = build("max_min", [4, 4], [[0, 1]], 3.0, lower=[0.5, 0.5], upper=[0.5, 0.5], floor=[0.9])
    assert "attribute 1 x attribute 2 >= 0.9" in str(_failure(arrays))


def test_the_total_equal_to_an_attributes_own_bound_is_told_apart_from_the_total() -> None:
    arrays = build("geometric_mean", [4, 4], [[0, 1]], 2.0, upper=[2.0, 2.0], floor=[0.5])
    failure = _failure(arrays)
    assert failure.least_total is None


def test_more_than_ten_conflicting_floors_are_cut_in_the_message() -> None:
    moments = [[i, j] for i in range(6) for j in range(i)]
    arrays = build("geometric_mean", [4] * 6, moments, 2.0, floor=[0.5] * 15)
    failure = _failure(arrays)
    assert "and 5 more" in str(failure)
    assert "lower all floors to" in str(failure)


def test_an_infinite_variance_is_refused_with_its_reason() -> None:
    arrays = build("min_variance", [4, 4], [[0, 1]], 3.0, upper=[0.0, 9.0])
    with pytest.raises(InfeasibleError, match="min_variance cannot be finite: attribute 1 x attribute 2"):
        solve(arrays)


@pytest.mark.parametrize("objective", ["weighted_sum", "max_min", "min_epsilon", "min_variance"])
def test_every_objective_recognizes_impossible_floors(objective: str) -> None:
    arrays = replace(_survey(2.0), objective=objective)
    assert _failure(arrays).least_total == _failure(_survey(2.0)).least_total


def test_numbers_in_advice_are_rounded_to_the_safe_side() -> None:
    assert rounded_up(6.15671) == 6.157
    assert rounded_down(0.07289) == 0.0728
    assert rounded_up(2.0) == 2.0
