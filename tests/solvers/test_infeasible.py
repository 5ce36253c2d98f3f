"""Impossible wishes: proved, named, and the advice works (issues 2.5 and 3.4)."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from budget_opt.errors import Infeasibility, InfeasibleError
from budget_opt.mechanisms import logit
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import TOTAL, Arrays, Budget
from budget_opt.solvers.answer import Clock, Settings
from budget_opt.solvers.conflicts import ways_out
from budget_opt.solvers.conflicts.constraints import System
from budget_opt.solvers.conflicts.explaining import explain
from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up
from budget_opt.solvers.conflicts.ways_out import Advice
from budget_opt.solvers.explanation import Names, infeasible
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build

SURVEY = Names(
    ["smoker", "income", "region", "health"], ["smoker x income", "region x health", "smoker x region"]
)


def _survey(total: float) -> Arrays:
    return _survey_with(total)


def _survey_with(total: float, **bounds: list[float]) -> Arrays:
    moments = [[0, 1], [2, 3], [0, 2]]
    return build("geometric_mean", [2, 5, 4, 3], moments, total, floor=[0.2, 0.35, 0.0], **bounds)


def _failure(arrays: Arrays, names: Names | None = None) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        solve(arrays, Settings(explanation_limit=60.0), names=names)  # a busy machine needs more than 5 s
    return caught.value


def test_the_message_names_the_least_total_the_conflict_and_every_way_out() -> None:
    failure = _failure(_survey(5.0), SURVEY)
    assert str(failure) == (
        "the floors need a total epsilon of at least 6.156, the problem allows 5.\n"
        "  They conflict in: region x health >= 0.35, smoker x income >= 0.2, against total_epsilon 5.\n"
        "  Raise total_epsilon to 6.157, or keep 5 and lower these floors to 0.234 and 0.134, "
        "or give up region x health >= 0.35."
    )
    assert failure.total == 5.0
    assert failure.least_total == 6.157
    assert sorted(map(str, failure.conflict)) == [
        "region x health >= 0.35",
        "smoker x income >= 0.2",
        "total_epsilon 5",
    ]


def test_a_floor_that_alone_needs_too_much_is_named_alone_and_the_other_conflict_is_not_hidden() -> None:
    failure = _failure(_survey(2.0), SURVEY)
    assert str(failure) == (
        "the floors need a total epsilon of at least 6.156, the problem allows 2.\n"
        "  They conflict in: region x health >= 0.35, against total_epsilon 2. "
        "This is not the only conflict.\n"
        "  Raise total_epsilon to 6.157, or keep 2 and lower region x health to 0.0342 and smoker x income "
        "to 0.0195, or give up 2 floors (no fewer would do): smoker x income >= 0.2 and "
        "region x health >= 0.35."
    )


def test_everything_in_the_message_is_there_as_data() -> None:
    why = _failure(_survey(5.0), SURVEY).why
    plain = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert set(plain) == {field.name for field in fields(Infeasibility)}
    assert plain["irreducible"] is True
    assert plain["given_up"] == ["region x health >= 0.35"]
    assert plain["fewest_given_up"] == 1
    assert [one["lowered"] for one in plain["lowered"]] == [0.234, 0.134]
    assert plain["least_total_bound"] < plain["least_total"] < plain["least_total_bound"] * 1.001
    assert plain["common_factor"] < plain["common_factor_bound"] < 1
    floor = next(one for one in plain["conflict"] if one["name"] == "region x health")
    assert floor["text"] == "region x health >= 0.35"
    assert (floor["kind"], floor["limit"], floor["enough"]) == ("floor", 0.35, 0.165)
    assert 0 < floor["multiplier"] <= 1


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
    least = _least_total(arrays)
    assert least.enough == pytest.approx(_least_by_bisection(arrays), rel=1e-5)
    assert least.enough == pytest.approx(least.bound, rel=1e-5)


def _least_total(arrays: Arrays) -> Advice:
    system = System.of(arrays)
    least = ways_out.least_total(system.without(system.of_kind("total_epsilon")), Clock(None))
    assert least is not None
    return least


def _with_total(arrays: Arrays, total: float) -> Arrays:
    budgets = tuple(Budget(b.name, b.members, exact(total)) if b.name == TOTAL else b for b in arrays.budgets)
    return replace(arrays, budgets=budgets, upper=np.minimum(arrays.stated_upper, total))


@given(seed=st.integers(0, 10**5))
@settings(max_examples=4)
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
    names = Names.numbered(arrays).moments
    lowered = arrays.log_floor.copy()
    for one in failure.why.lowered:
        lowered[names.index(one.name)] = np.log(one.lowered)
    relaxed = replace(arrays, log_floor=lowered)
    assert broken(relaxed, solve(relaxed, quick).epsilon) == []
    given = [
        f"{name} >= {np.exp(floor):.12g}" in failure.why.given_up
        for name, floor in zip(names, arrays.log_floor, strict=True)
    ]
    assert sum(given) == len(failure.why.given_up) == failure.why.fewest_given_up
    fewer = replace(arrays, log_floor=np.where(given, -np.inf, arrays.log_floor))
    assert broken(fewer, solve(fewer, quick).epsilon) == []


def test_slightly_less_than_the_least_total_is_still_impossible() -> None:
    least = _least_total(_survey(2.0)).enough
    failure = _failure(_survey(least * (1 - 1e-4)))
    assert failure.why.least_total_bound == pytest.approx(least, rel=1e-5)
    assert solve(_survey(rounded_up(least))).status == "optimal"


def test_a_total_that_is_missed_by_a_hair_is_never_said_to_be_enough() -> None:
    least = _least_total(_survey(2.0)).bound
    total = rounded_down(least, 12)
    failure = _failure(_survey(float(total) * (1 - 1e-9)), SURVEY)
    told = re.match(r"the floors need a total epsilon of at least (\S+), the problem allows", str(failure))
    assert told is not None
    assert failure.total is not None
    assert float(told.group(1)) > failure.total


def test_a_group_in_the_way_is_named_with_what_it_would_have_to_be() -> None:
    arrays = build("geometric_mean", [2, 5, 4, 3], [[0, 1], [2, 3]], 30.0, [([2, 3], 1.0)], floor=[0.2, 0.35])
    failure = _failure(arrays)
    assert failure.least_total is None
    assert failure.why.no_total
    assert str(failure) == (
        "no total epsilon meets the floors: a group is in their way.\n"
        "  They conflict in: attribute 3 x attribute 4 >= 0.35, against group group 0 <= 1.\n"
        "  Raise group group 0 to 3.593, or lower this floor to 0.0248, "
        "or give up attribute 3 x attribute 4 >= 0.35."
    )


def test_a_group_that_must_be_raised_together_with_the_total_is_told_with_both_numbers() -> None:
    arrays = build("max_min", [4, 4, 4], [[0, 1], [2]], 3.0, [([0, 1], 1.0)], floor=[0.3, 0.4])
    failure = _failure(arrays)
    # floors of sqrt(.3) each cost 1.7654 nats, a floor of .4 costs log(2.2 / .6) = 1.2993
    assert "Raise group group 0 to 3.531 and total_epsilon to 4.831, or" in str(failure)
    group = next(one for one in failure.conflict if one.kind == "group")
    assert (group.enough, group.enough_total) == (3.531, 4.831)
    raised = build("max_min", [4, 4, 4], [[0, 1], [2]], 4.831, [([0, 1], 3.531)], floor=[0.3, 0.4])
    assert solve(raised).status == "optimal"


def test_a_problem_without_a_total_is_explained_by_its_bounds() -> None:
    arrays = build("min_epsilon", [4, 4, 4], [[0, 1], [1, 2]], None, upper=[1.0, 1.0, 0.5], floor=[0.3, 0.3])
    failure = _failure(arrays)
    text = str(failure)
    assert text.startswith("the floors cannot all hold: an upper bound is in their way.\n")
    assert "total" not in text
    assert failure.total is None
    assert all(one.enough_total is None for one in failure.conflict)
    assert failure.why.fewest_given_up == 2


def test_a_bound_or_a_pin_in_the_way_is_named_with_what_it_would_have_to_be() -> None:
    bounded = build("geometric_mean", [2, 5], [[0, 1]], 30.0, upper=[0.2, 9], floor=[0.2])
    assert "against upper bound of attribute 1 0.2." in str(_failure(bounded))
    assert "Raise the upper bound of attribute 1 to 0.4058" in str(_failure(bounded))
    pinned = build("geometric_mean", [2, 5], [[0, 1]], 30.0, lower=[0.1, 0], upper=[0.1, 9], floor=[0.2])
    assert "against pin of attribute 1 0.1." in str(_failure(pinned))
    nothing = build("geometric_mean", [2, 5], [[0, 1]], 30.0, upper=[0.0, 9], floor=[0.2])
    assert "against pin of attribute 1 0." in str(_failure(nothing))
    assert "lower this floor" not in str(_failure(nothing))


def test_a_lower_bound_in_the_way_is_named_with_what_it_would_have_to_be() -> None:
    failure = _failure(_survey_with(7.0, lower=[0, 0, 0, 4.0]), SURVEY)
    assert "lower bound of health 4" in str(failure)
    assert "or lower the lower bound of health to 3.144" in str(failure)


def test_a_fixed_split_that_misses_a_floor_is_impossible() -> None:
    arrays = build("max_min", [4, 4], [[0, 1]], 3.0, lower=[0.5, 0.5], upper=[0.5, 0.5], floor=[0.9])
    assert "attribute 1 x attribute 2 >= 0.9" in str(_failure(arrays))


def test_the_total_equal_to_an_attributes_own_bound_is_told_apart_from_the_total() -> None:
    arrays = build("geometric_mean", [4, 4], [[0, 1]], 2.0, upper=[2.0, 2.0], floor=[0.5])
    failure = _failure(arrays)
    assert failure.least_total is None
    assert "no total epsilon meets the floors: 2 upper bounds are in their way." in str(failure)


def test_ceilings_against_floors_are_explained_like_floors_against_a_total() -> None:
    arrays = build(
        "max_min", [4] * 3, [[0, 1], [1, 2], [0, 2], [0, 1, 2]], 30.0,
        floor=[0.5, 0.5, 0.5, 0], ceiling=[1, 1, 1, 0.3],
    )  # fmt: skip
    text = str(_failure(arrays))
    assert text.startswith("no total epsilon meets the floors and ceilings.\n")
    # the three floors alone force a retention of sqrt(1/8) = 0.35355
    assert "Raise the ceiling of attribute 1 x attribute 2 x attribute 3 to 0.3537" in text
    # and 0.3 = sqrt(f^3) asks for floors of 0.44814
    assert "lower these floors to 0.448 each" in text
    assert re.search(r"or give up attribute \d x attribute \d (>= 0.5|x attribute 3 <= 0.3)\.$", text)


def test_ceilings_and_a_total_can_stand_in_the_way_together() -> None:
    # the ceiling keeps attribute 1 low, so that attribute 2 needs more than the total leaves
    arrays = build("max_min", [4, 4], [[0], [0, 1]], 3.7, floor=[0, 0.3], ceiling=[0.4, 1])
    failure = _failure(arrays)
    assert {one.kind for one in failure.conflict} == {"floor", "ceiling", "total_epsilon"}
    assert str(failure).startswith("the floors and ceilings need a total epsilon of at least ")
    assert solve(_with_total(arrays, failure.least_total or 0.0)).status == "optimal"


def test_more_than_ten_conflicting_floors_are_cut_in_the_message() -> None:
    moments = [[i] for i in range(15)]
    arrays = build("geometric_mean", [4] * 15, moments, 20.0, floor=[0.5 - 0.001 * i for i in range(15)])
    failure = _failure(arrays)
    assert "and 3 more, against total_epsilon 20" in str(failure)
    assert len(failure.conflict) == 14
    assert "keep 20 and lower these 13 floors to 0." in str(failure)
    assert len(failure.why.lowered) == 13


def test_a_long_list_of_floors_to_give_up_is_counted_in_the_message_and_listed_in_the_data() -> None:
    moments = [[i, j] for i in range(6) for j in range(i)]
    arrays = build("geometric_mean", [4] * 6, moments, 2.0, floor=[0.5] * 15)
    failure = _failure(arrays)
    assert str(failure).endswith(
        "keep 2 and lower all floors to 0.0162 of what they are, or give up 15 floors (no fewer would do)."
    )
    assert len(failure.why.given_up) == failure.why.fewest_given_up == 15


def test_a_total_beyond_what_a_problem_may_state_is_not_advised() -> None:
    found = explain(_survey(5.0), 5.0)
    beyond = replace(found, least_total=Advice(23456.7, 23456.6))
    text = str(infeasible(beyond, SURVEY))
    assert text.startswith(
        "the floors need a total epsilon of at least 23450, the problem allows 5, "
        "and no problem may state more than 10000."
    )
    assert "aise total_epsilon" not in text


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
