"""`bo.least_total`: wishes are met exactly, no smaller total meets them, and refusals name the way out."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.api.least_total import LeastTotal
from budget_opt.mechanisms.exact import exact

SKEWED = {"a": [0.9, 0.1], "b": [0.6, 0.3, 0.1], "c": [0.2, 0.8]}


def problem(*, stated: bool = True, **changes: Any) -> bo.Problem:
    asked = bo.Problem(
        name="a study",
        attributes=[
            bo.Attribute("a", categories=2, marginal=SKEWED["a"] if stated else None),
            bo.Attribute("b", categories=3, marginal=SKEWED["b"] if stated else None),
            bo.Attribute("c", categories=2, marginal=SKEWED["c"] if stated else None),
            bo.Attribute("d", categories=4),
        ],
        moments=[
            bo.CrossMoment("a", "b"),
            bo.CrossMoment("a", "c", weight=2.0),
            bo.CrossMoment("a", "b", "c"),
            bo.CrossMoment("d"),
        ],
        total_epsilon=1.0,
    )
    return asked.with_fields(**changes)


def meets(answer: LeastTotal) -> bool:
    """Every wish, by the plan of the allocation and exact retentions."""
    n = 1_000 if answer.n is None else answer.n
    plan = bo.plan(answer.allocation, n)
    for wanted, moment, planned in zip(answer.moments, answer.allocation.moments, plan.moments, strict=True):
        if wanted.wanted_retention and moment.exact_retention < exact(wanted.wanted_retention):
            return False
        error = planned.relative_error if answer.target == "population" else planned.relative_error_data
        if wanted.wanted_error and (error is None or error > wanted.wanted_error):
            return False
    return True


WISHES: list[dict[str, Any]] = [
    {"retention": 0.3},
    {"standard_error": 0.05, "n": 10_000},
    {"standard_error": 0.05, "n": 10_000, "target": "data"},
    {"standard_error": 0.002, "n": 10_000, "target": "data"},
    {"retention": {("b", "a"): 0.5}, "standard_error": {"a x b x c": 0.08}, "n": 5_000},
    {"retention": 1e-6},
    {"retention": 1 - 1e-8},
    {"standard_error": 1e-15, "n": 10**6, "target": "data"},
    {"standard_error": 1e8, "n": 10},
]


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("stated", [True, False])
def test_the_total_meets_every_wish_and_a_ten_thousandth_less_is_proved_not_to(
    wish: dict[str, Any], stated: bool
) -> None:
    asked = problem(stated=stated)
    answer = bo.least_total(asked, **wish)
    assert meets(answer)
    assert answer.bound <= answer.total_epsilon
    assert answer.bound > answer.total_epsilon * (1 - 1e-4)
    assert answer.relative_gap <= 1e-7
    assert any(moment.binding for moment in answer.moments)
    allocation = answer.allocation
    assert allocation.total_epsilon == answer.total_epsilon == allocation.spent_epsilon
    assert allocation.question == asked.with_total(answer.total_epsilon)
    assert bo.verify(allocation, problem=allocation.question).holds


def test_a_file_of_the_answer_reads_back_as_the_same_split(tmp_path: Any) -> None:
    answer = bo.least_total(problem(), standard_error=0.05, n=10_000)
    answer.allocation.write(tmp_path / "a.json")
    read = bo.Allocation.read(tmp_path / "a.json")
    assert [one.sampler for one in read.attributes] == [one.sampler for one in answer.allocation.attributes]
    assert read.objective.status == "given"


@settings(max_examples=15)
@given(st.floats(0.05, 0.9), st.floats(1.01, 3.0), st.booleans())
def test_more_wanted_needs_more(kept: float, more: float, stated: bool) -> None:
    asked = problem(stated=stated)
    higher = min(0.95, kept * more)
    by_retention = [bo.least_total(asked, retention=value) for value in (kept, higher)]
    by_error = [bo.least_total(asked, standard_error=0.05 * kept / more**k, n=4_000_000) for k in (0, 1)]
    for less, greater in (by_retention, by_error):
        assert less.bound <= greater.total_epsilon
    assert by_error[0].total_epsilon < by_error[1].total_epsilon


def test_the_least_total_undoes_the_plan() -> None:
    """What an optimal split reaches needs no more than its total, and not much less of it."""
    asked = problem().with_fields(objective="min_variance", total_epsilon=6.0)
    best = bo.solve(asked)
    plan = bo.plan(best, 20_000)
    reached = {moment.label: moment.relative_error for moment in plan.moments}
    answer = bo.least_total(asked, standard_error=reached, n=20_000)
    assert answer.bound <= 6.0
    assert answer.total_epsilon == pytest.approx(6.0, rel=0.2)


def test_on_uniform_marginals_an_error_is_a_floor() -> None:
    asked, n, error = problem(stated=False), 10_000, 0.05
    by_error = bo.least_total(asked, standard_error=error, n=n)
    by_floor = bo.least_total(asked, retention=(n * error**2) ** -0.5)
    assert by_error.total_epsilon == pytest.approx(by_floor.total_epsilon, rel=1e-8)


def test_a_guess_allows_a_pair_a_larger_inflation_and_a_mean_none() -> None:
    pair: dict[str, Any] = {"standard_error": {("a", "b"): 0.05}, "n": 1_000}
    assert (
        bo.least_total(problem(), guess=0.8, **pair).total_epsilon
        < bo.least_total(problem(), **pair).total_epsilon
    )
    mean: dict[str, Any] = {"standard_error": {"d": 0.05}, "n": 1_000}
    assert (
        bo.least_total(problem(), guess=0.8, **mean).total_epsilon
        == bo.least_total(problem(), **mean).total_epsilon
    )


def test_units_of_scores_are_standardized_by_the_scale() -> None:
    standardized = bo.least_total(problem(), standard_error={"a x b": 0.05}, n=10_000)
    scale = standardized.moments[0].scale
    assert scale == pytest.approx(math.sqrt(0.09 * (0.3 + 0.4 - 0.25)))
    scored = bo.least_total(problem(), standard_error={"a x b": 0.05 * scale}, n=10_000, units="scores")
    assert scored.total_epsilon == pytest.approx(standardized.total_epsilon, rel=1e-8)


def test_pins_bounds_groups_and_floors_of_the_problem_hold_and_its_total_does_not() -> None:
    asked = problem()
    attributes = list(asked.attributes)
    attributes[1] = attributes[1].with_fields(epsilon=2.5)
    attributes[3] = attributes[3].with_fields(epsilon_min=0.7)
    moments = [asked.moments[0].with_fields(floor=0.55), *asked.moments[1:]]
    limited = asked.with_fields(
        attributes=tuple(attributes),
        moments=tuple(moments),
        groups=(bo.Group("g", attributes=["a", "c"], epsilon_max=5.0),),
        total_epsilon=3.5,
    )
    for wish in ({"retention": {"a x c": 0.2}}, {"standard_error": {"a x c": 0.1}, "n": 10_000}):
        answer = bo.least_total(limited, **wish)
        allocation = answer.allocation
        assert meets(answer)
        assert allocation["b"].epsilon == 2.5
        assert allocation["d"].epsilon == 0.7
        assert allocation["a"].epsilon + allocation["c"].epsilon <= 5.0
        assert allocation.retention("a", "b") >= 0.55
        assert answer.total_epsilon > 3.5
        assert answer.moments[0].binding


def test_groups_and_bounds_that_leave_no_total_are_told_with_what_conflicts() -> None:
    wish: dict[str, Any] = {"standard_error": {"a x c": 0.02, "d": 0.02}, "n": 10_000}
    grouped = problem(groups=(bo.Group("g", attributes=["a", "c"], epsilon_max=1.0),))
    with pytest.raises(bo.InfeasibleError) as caught:
        bo.least_total(grouped, **wish)
    text = str(caught.value)
    assert "They conflict in: a x c (standardized error 0.02 at n = 10,000), against group g <= 1." in text
    assert "misses one of all wishes by a factor of" in text
    assert [member.kind for member in caught.value.conflict] == ["group"]
    attributes = list(problem().attributes)
    attributes[0] = attributes[0].with_fields(epsilon_max=0.5)
    with pytest.raises(bo.InfeasibleError, match=r"against upper bound of a 0\.5"):
        bo.least_total(problem(attributes=tuple(attributes)), **wish)
    attributes[0] = problem().attributes[0].with_fields(epsilon=0)
    with pytest.raises(bo.InfeasibleError, match="pin of a 0"):
        bo.least_total(problem(attributes=tuple(attributes)), **wish)
    plain = problem(stated=False, groups=grouped.groups)
    with pytest.raises(bo.InfeasibleError, match=r"Wanted errors are floors here: a x c .* needs 0\.5"):
        bo.least_total(plain, **wish)
    with pytest.raises(bo.InfeasibleError, match=r"Raise group d to 8\.295"):
        bo.least_total(
            problem(groups=(bo.Group("d", attributes=["d"], epsilon_max=1.0),)), retention={"d": 0.999}
        )


@pytest.mark.parametrize("stated", [True, False])
def test_an_error_below_what_sampling_leaves_is_refused_with_the_rows_that_would_do(stated: bool) -> None:
    with pytest.raises(bo.InputError) as caught:
        bo.least_total(problem(stated=stated), standard_error=0.01, n=10_000)
    text = str(caught.value)
    assert "a x b and 3 more: is 0.01, must be above 0.01, what sampling alone leaves at n = 10,000" in text
    assert "at least 10,001" in text
    assert bo.least_total(problem(stated=stated), standard_error=0.01, n=10_001).total_epsilon > 10
    assert bo.least_total(problem(stated=stated), standard_error=0.01, n=10_000, target="data").bound > 1


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({}, "retention, standard_error: neither is given"),
        ({"standard_error": 0.05}, "n: is missing"),
        ({"retention": 1.0}, "a x b and 3 more: is 1.0, must be above 0 and below 1"),
        ({"retention": {"a x d": 0.5}}, "is not of a moment of the problem"),
        ({"retention": {}}, "none is named"),
        ({"retention": math.inf}, "must be a finite number"),
        ({"standard_error": -0.1, "n": 100}, "must be from 1e-15 to 1e"),
        ({"standard_error": 0.1, "n": 0}, "from 1 to 10"),
        ({"standard_error": 0.1, "n": 2}, "n of a x b and 1 more: is 2, must be at least 3"),
        ({"retention": 0.3, "target": "x"}, "target: is 'x'"),
        ({"retention": 0.3, "guess": {"a x b": 2.0}}, "which is a correlation"),
    ],
)
def test_a_wish_that_is_none_is_told_with_value_and_limit(wish: dict[str, Any], told: str) -> None:
    with pytest.raises(bo.InputError, match=told):
        bo.least_total(problem(), **wish)


def test_ceilings_hold_or_are_told() -> None:
    asked = problem()
    moments = [asked.moments[0].with_fields(ceiling=0.4), *asked.moments[1:]]
    limited = asked.with_fields(moments=tuple(moments))
    with pytest.raises(bo.InputError, match=r"must be at most its ceiling 0\.4"):
        bo.least_total(limited, retention=0.5)
    kept = bo.least_total(limited, retention={"a x c": 0.3})
    assert kept.allocation.retention("a", "b") <= 0.4
    with pytest.raises(bo.NotSolvedError, match="Remove the ceiling"):
        bo.least_total(limited, standard_error={"a x b": 0.02}, n=10_000)
    plain = problem(stated=False, moments=tuple(moments))
    with pytest.raises(bo.InputError, match=r"needs a retention of at least 0\.5.*ceiling is 0\.4"):
        bo.least_total(plain, standard_error={"a x b": 0.02}, n=10_000)


def test_the_answer_is_strict_json_rows_and_a_table() -> None:
    answer = bo.least_total(problem(), retention={"d": 0.2}, standard_error={"a x c": 0.05}, n=10_000)
    document = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert document["total_epsilon"] == answer.total_epsilon
    assert [row["binding"] for row in answer.rows()] == [moment.binding for moment in answer.moments]
    assert answer.to_arrow().num_rows == 4
    text = str(answer)
    assert "a study: a total epsilon of" in text
    assert "proved (relative gap" in text
    assert "assumed: stated marginals, no link between the attributes beyond the guess, large samples" in text
    retentions = bo.least_total(problem(), retention={"d": 0.2})
    assert "assumed" not in str(retentions)
    assert retentions.moments[0].relative_error is None


def test_an_attribute_without_scores_may_be_wanted_in_standardized_errors() -> None:
    asked = bo.Problem(
        attributes=[
            bo.Attribute("region", categories=["n", "s", "e", "w"], marginal=[0.7, 0.1, 0.1, 0.1]),
            bo.Attribute("b", categories=2),
        ],
        moments=[bo.CrossMoment("region", "b")],
        total_epsilon=1.0,
    )
    answer = bo.least_total(asked, standard_error=0.05, n=10_000)
    assert answer.moments[0].scale is None
    assert meets(answer)
    with pytest.raises(bo.InputError, match="in units of scores"):
        bo.least_total(asked, standard_error=0.05, n=10_000, units="scores")


def test_what_is_alike_is_treated_alike() -> None:
    """20 attributes with the same marginal, all pairs."""
    names = [f"x{i}" for i in range(20)]
    asked = bo.Problem(
        attributes=[bo.Attribute(name, categories=3, marginal=[0.6, 0.3, 0.1]) for name in names],
        moments=bo.all_pairs(names),
        total_epsilon=10.0,
    )
    answer = bo.least_total(asked, standard_error=0.05, n=20_000)
    assert answer.relative_gap <= 1e-8
    assert np.ptp(answer.allocation.epsilons) <= 1e-6


def test_of_two_moments_with_one_label_only_that_in_conflict_is_explained() -> None:
    asked = bo.Problem(
        attributes=[
            *(bo.Attribute(name, categories=2, epsilon_max=0.5) for name in ("a x b", "c")),
            *(bo.Attribute(name, categories=2) for name in ("a", "b x c")),
        ],
        moments=[bo.CrossMoment("a x b", "c"), bo.CrossMoment("a", "b x c")],
        total_epsilon=6.0,
    )
    with pytest.raises(bo.InfeasibleError) as failure:
        bo.least_total(asked, standard_error={("a x b", "c"): 0.02, ("a", "b x c"): 0.5}, n=10_000)
    said = str(failure.value)
    assert "a x b x c (moment 1)" in said
    assert "(moment 2)" not in said
    assert "a x b x c (moment 1) (standardized error 0.02 at n = 10,000) needs" in said
    with pytest.raises(bo.InputError, match=r"retention of a x b x c \(moment 2\)"):
        bo.least_total(asked, retention={("a", "b x c"): 1.0})
    with pytest.raises(bo.InputError, match=r"guess of a x b x c \(moment 2\)"):
        bo.least_total(asked, retention=0.01, guess={("a", "b x c"): 2.0})
