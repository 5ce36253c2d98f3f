"""What can be said while clusters are to be chosen, and how a choice is verified against the question."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.api.checking.checking import check
from budget_opt.api.checking.open_clusters import most_kept
from budget_opt.cli import main
from budget_opt.errors import InputError

GROUPS = [["a", "b"], ["c", "d"]]


def question(total: float = 3.0, **fields: Any) -> bo.Problem:
    """A tight floor of a pair that only a cluster keeps, and an attribute with a candidate grouping."""
    return bo.Problem(
        **{
            "attributes": [
                bo.Attribute("smoker", categories=2),
                bo.Attribute("income", categories=5),
                bo.Attribute("illness", categories=["a", "b", "c", "d"], ordered=True, groupings=[GROUPS]),
                bo.Attribute("town", categories=40),
            ],
            "moments": [
                bo.CrossMoment("smoker", "income", weight=3.0, floor=0.35),
                bo.CrossMoment("illness", weight=0.01),
            ],
            "total_epsilon": total,
            "objective": "geometric_mean",
            "clusters": "auto",
            "max_cells": 12,
            **fields,
        }
    )


@pytest.fixture(scope="module")
def designed() -> bo.Design:
    return bo.design(question())


def test_check_says_of_open_clusters_what_it_can() -> None:
    found = check(question())
    assert found.impossible is None
    assert not found.feasible
    assert "design finds out: budget-opt design PROBLEM -o designed.json" in (found.open_question or "")
    said = str(found)
    assert "open: without clusters the floors need a total epsilon of at least" in said
    assert "at most 12 joint categories, 3 of 6 pairs of attributes may be one" in said
    assert "town (40 categories) fits into none" in said
    assert "clusters" in said.splitlines()[-1]  # their provenance
    assert found.to_dict()["clusters_open"]


def test_what_is_feasible_without_clusters_is_feasible() -> None:
    found = check(question(total=9.0))
    assert found.feasible
    assert found.least_total is not None
    assert str(found).splitlines()[1].startswith("feasible even without clusters: ")
    assert bo.solve(question(total=found.least_total * 1.001).with_clusters(())).moments[0].keeps_floor


def test_pins_that_do_not_fit_without_clusters_leave_the_question_open() -> None:
    pinned = [bo.Attribute(name, categories=2, epsilon=2.0) for name in ("u", "v")]
    found = check(question(attributes=pinned, moments=[bo.CrossMoment("u", "v")]))
    assert found.impossible is None
    assert "pins and minima of u, v need 4.0" in (found.open_question or "")
    assert bo.design(question(attributes=pinned, moments=[bo.CrossMoment("u", "v")])).clusters


def test_a_floor_that_no_choice_keeps_is_impossible() -> None:
    found = check(question(total=0.5))
    assert found.impossible is not None
    assert "smoker x income >= 0.35 (at most " in str(found)
    with pytest.raises(bo.InfeasibleError):
        bo.design(question(total=0.5))


def test_no_choice_keeps_more_of_a_moment_than_is_said() -> None:
    """Every partition of three attributes and both groupings, with the split that favours the moment."""
    moment = bo.CrossMoment("smoker", "income", "illness")
    open_ = question(total=1.2, moments=[moment], max_cells=40, objective="weighted_sum")
    most = most_kept(open_, open_.moments[0])
    assert most is not None
    names = ("smoker", "income", "illness")
    partitions = [[], *([list(pair)] for pair in itertools.combinations(names, 2)), [list(names)]]
    reached = [
        bo.solve(open_.with_grouping("illness", grouping).with_clusters(clusters)).moments[0].retention
        for grouping in (None, GROUPS)
        for clusters in partitions
    ]
    assert max(reached) <= most <= 1.6 * max(reached)


def test_a_design_is_verified_against_the_question_that_it_answers(designed: bo.Design) -> None:
    assert designed.problem.clusters
    report = bo.verify(designed.allocation, problem=question()).require()
    assert any("no other choice is better is not verified here" in note for note in report.notes)
    own = bo.verify(designed.allocation, problem=designed.problem)
    assert not any("no other choice" in note for note in own.notes)
    assert len(report.checks) == len(own.checks)


def test_a_design_without_a_stated_limit_is_verified_too() -> None:
    for asked in (question(max_cells=None), question(total=9.0, clusters=[["smoker", "income"]])):
        found = bo.design(asked) if asked.clusters == "auto" else None
        allocation = bo.solve(asked.with_grouping("illness", GROUPS)) if found is None else found.allocation
        bo.verify(allocation, problem=asked).require()


def test_what_the_question_does_not_leave_open_is_another_choice(designed: bo.Design) -> None:
    """Larger clusters than max_cells, a grouping that is no candidate, clusters where none are left open."""
    others = [
        question(max_cells=9),
        question(clusters=[["smoker", "illness"]]),
        question(total=3.1),
    ]
    for asked in others:
        failed = bo.verify(designed.allocation, problem=asked).failed
        assert failed[0].name == "problem hash"
    strange = bo.solve(designed.problem.with_grouping("illness", [["a", "c"], ["b", "d"]]))
    report = bo.verify(strange, problem=question())
    assert "problem hash" in {one.name for one in report.failed}
    assert any("give the problem that design wrote" in note for note in report.notes)
    with pytest.raises(InputError, match="give the problem that design wrote"):
        bo.explain(strange, question())


def test_report_judge_explain_and_compare_take_the_question_of_a_design(
    designed: bo.Design, tmp_path: Path
) -> None:
    split = designed.allocation
    assert bo.report(split, tmp_path / "r.html", problem=question()).exists()
    judged = bo.judge(question(), split)
    assert judged.keeps_all
    assert judged.value == split.objective.value
    assert bo.explain(split, question()).optimal
    compared = bo.compare({"designed": split}, problem=question())
    assert "another problem" not in str(compared)


def test_the_command_verifies_a_design_against_its_question(tmp_path: Path, capsys: Any) -> None:
    question().write(tmp_path / "p.json")
    files = {name: str(tmp_path / f"{name}.json") for name in ("p", "designed", "split")}
    assert main(["check", files["p"]]) == 4
    assert main(["solve", files["p"]]) == 2
    assert "budget-opt design PROBLEM -o designed.json" in capsys.readouterr().err
    assert main(["design", files["p"], "-o", files["designed"], "--allocation", files["split"]]) == 0
    assert main(["verify", files["split"], "--problem", files["p"]]) == 0
