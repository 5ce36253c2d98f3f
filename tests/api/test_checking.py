"""`check` tells what is hard and why a wish is impossible, without raising."""

import json

import pytest

import budget_opt as bo
from budget_opt.api.checking import check

ATTRIBUTES = [
    bo.Attribute("smoker", categories=2),
    bo.Attribute("income", categories=5, epsilon_max=2.0),
    bo.Attribute("sex", categories=2, epsilon=0.5),
]


def _problem(total=4.0, floor=0.2, **fields):
    moments = [bo.CrossMoment("smoker", "income", floor=floor), bo.CrossMoment("sex")]
    return bo.Problem(attributes=ATTRIBUTES, moments=moments, total_epsilon=total, **fields)


def test_a_possible_problem_is_said_to_be_with_its_least_total():
    found = check(_problem())
    assert found.feasible
    assert found.impossible is None
    assert 0.5 < found.least_total < 4.0
    assert bo.solve(_problem(total=found.least_total * 1.001)).moments[0].keeps_floor
    assert found.to_dict()["infeasibility"] is None
    assert "feasible: the least total" in str(found)


def test_an_impossible_problem_is_reported_and_not_raised():
    found = check(_problem(total=2.8))
    assert not found.feasible
    lines = str(found).splitlines()
    assert lines[0] == "problem: 3 attributes, 2 moments, 1 floor, total epsilon 2.8"
    assert lines[1].startswith("infeasible: the floors need a total epsilon of at least ")
    assert lines[2] == (
        "  They conflict in: smoker x income >= 0.2, against total_epsilon 2.8, pin of sex 0.5."
    )
    assert lines[3].startswith("  Raise total_epsilon to ")
    assert any(line.startswith("note: ") for line in lines[4:])


def test_check_says_the_same_as_the_error_of_solve():
    problem = _problem(total=2.8)
    with pytest.raises(bo.InfeasibleError) as caught:
        bo.solve(problem)
    found = check(problem)
    assert str(found.impossible) == str(caught.value)
    assert found.impossible.why == caught.value.why
    assert found.least_total == caught.value.least_total


def test_every_way_out_of_an_impossible_problem_works():
    why = check(_problem(total=2.8)).impossible.why
    assert bo.solve(_problem(total=why.least_total)).moments[0].keeps_floor
    (floor,) = why.lowered
    assert (floor.name, floor.floor) == ("smoker x income", 0.2)
    assert bo.solve(_problem(total=2.8, floor=floor.lowered)).moments[0].keeps_floor
    assert why.given_up == ("smoker x income >= 0.2",)
    assert bo.solve(_problem(total=2.8, floor=None)).spent_epsilon <= 2.8
    pin = next(one for one in why.conflict if one.kind == "epsilon")
    assert pin.enough < pin.limit == 0.5


def test_the_findings_of_an_impossible_problem_are_strict_json():
    plain = json.loads(json.dumps(check(_problem(total=2.8)).to_dict(), allow_nan=False))
    assert plain["feasible"] is False
    assert plain["infeasibility"]["irreducible"] is True
    assert [one["kind"] for one in plain["infeasibility"]["conflict"]].count("floor") == 1
    assert plain["infeasibility"]["message"].startswith("the floors need")


def test_ceilings_that_bounds_pass_are_found_without_any_floor():
    attributes = [bo.Attribute("a", categories=4, epsilon_min=2.0), bo.Attribute("b", categories=4)]
    moments = [bo.CrossMoment("a", weight=0.0, ceiling=0.3), bo.CrossMoment("b")]
    found = check(bo.Problem(attributes=attributes, moments=moments, total_epsilon=4.0))
    assert "They conflict in: a <= 0.3, against lower bound of a 2." in str(found)
    assert "Raise the ceiling of a to 0.615, or lower the lower bound of a to " in str(found)


def test_a_variance_that_cannot_be_finite_is_reported_too():
    attributes = [bo.Attribute("a", categories=4, epsilon=0.0), bo.Attribute("b", categories=4)]
    moments = [bo.CrossMoment("a", "b"), bo.CrossMoment("b")]
    problem = bo.Problem(attributes=attributes, moments=moments, total_epsilon=4.0, objective="min_variance")
    found = check(problem)
    assert "infeasible: min_variance cannot be finite: a x b" in str(found)
    assert found.to_dict()["infeasibility"]["conflict"] == []


def test_a_floor_of_one_is_refused_with_its_reason():
    with pytest.raises(bo.ProblemError, match="A retention of 1 needs infinite epsilon"):
        _problem(floor=1.0)


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf"), "soon"])
def test_a_wrong_time_limit_is_named(limit):
    with pytest.raises(bo.InputError, match=r"^time_limit: "):
        check(_problem(), time_limit=limit)
