"""`check` tells what is hard and why a wish is impossible, without raising."""

import json

import pytest

import budget_opt as bo
from budget_opt.api.checking.checking import check, check_file

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


@pytest.mark.parametrize("floor", [0.05, 0.11, 0.17, 0.23])
def test_the_least_total_that_is_printed_suffices(floor):
    problem = _problem(floor=floor)
    printed = float(str(check(problem)).splitlines()[1].split(" is ")[1].split(",")[0])
    assert printed >= check(problem).least_total
    assert bo.solve(problem.with_total(printed)).moments[0].keeps_floor
    frontier = bo.frontier(problem, [1.0, 4.0])
    assert f"from a total of {printed:g}" in str(frontier)


def test_a_least_total_of_pins_is_the_decimal_that_people_wrote():
    attributes = [bo.Attribute(name, categories=2, epsilon=0.1) for name in "abc"]
    problem = bo.Problem(attributes=attributes, moments=[bo.CrossMoment("a", "b")], total_epsilon=0.3)
    assert "minima is 0.3, rounded up" in str(check(problem))


def test_notes_agree_in_number():
    def nominal(*names):
        attributes = [bo.Attribute(name, categories=["x", "y", "z"]) for name in names]
        return bo.Problem(attributes=attributes, moments=[bo.CrossMoment(*names)], total_epsilon=2.0)

    assert "note: a: a has categories without order" in str(check(nominal("a")))
    assert "note: a x b: a and b have categories without order" in str(check(nominal("a", "b")))
    stated = dict.fromkeys(("weights", "domains"), "public")
    assert "that total does not depend" in str(
        check(nominal("a").with_fields(provenance=bo.Provenance(**stated)))
    )


@pytest.mark.parametrize("objective", ["weighted_sum", "max_min"])
def test_weights_that_are_added_are_shown_and_said(objective, tmp_path):
    document = {
        "format": "budget-opt/problem",
        "version": 1,
        "total_epsilon": 4.0,
        "objective": objective,
        "attributes": [{"name": name, "categories": 3} for name in ("diab", "bmi", "age")],
        "moments": [{"attributes": ["bmi", "diab"], "weight": 2}],
        "moment_rules": [{"pairs_with": "diab", "weight": 2}],
    }
    (tmp_path / "p.json").write_text(json.dumps(document))
    problem, found = check_file(tmp_path / "p.json")
    assert problem.moments[0].weight == 4
    note = (
        "note: bmi x diab is named more than once, and its weights add up: "
        "2 (moments[0]) + 2 (moment_rules[0]) = 4"
    )
    # weights have no size for max_min
    assert (note in str(found)) == (objective == "weighted_sum")
    rows = [
        line.split() for line in str(found).splitlines() if "moments[0]" in line or "moment_rules" in line
    ]
    assert ["bmi", "x", "diab", "2", "moments[0]", "stated"] in rows
    assert ["diab", "x", "bmi", "2", "moment_rules[0]"] in [row[:5] for row in rows]
    assert [origin["weight"] for origin in found.to_dict()["origins"]] == [2.0, 2.0, 2.0]


def test_weights_are_added_without_rules_too(tmp_path):
    (tmp_path / "p.json").write_text(
        json.dumps(
            {
                "format": "budget-opt/problem",
                "version": 1,
                "total_epsilon": 4.0,
                "attributes": [{"name": name, "categories": 3} for name in "ab"],
                "moments": [{"attributes": ["a", "b"]}, {"attributes": ["b", "a"], "weight": 0.5}],
            }
        )
    )
    _, found = check_file(tmp_path / "p.json")
    assert "add up: 1 (moments[0]) + 0.5 (moments[1]) = 1.5" in str(found)
    assert found.origins == ()
