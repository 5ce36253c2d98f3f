"""What merging leaves of a moment is assumed, and no check of it says that it is proved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.api.checking.checking import check

CODES = ["A1", "A2", "B1", "B2"]
GROUPING = {"A": ["A1", "A2"], "B": ["B1", "B2"]}


def problem(floor: float = 0.4, **fields: Any) -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("d", categories=CODES, epsilon=2.0, grouping=GROUPING, **fields),
            *(bo.Attribute(f"s{i}", categories=2, epsilon=2.0) for i in range(5)),
        ],
        moments=[
            *(bo.CrossMoment("d", f"s{i}", floor=floor) for i in range(5)),
            bo.CrossMoment("s0", "s1", floor=0.3),
        ],
        total_epsilon=12.0,
    )


SCORED = {"scores": [0, 1, 2, 3]}


def checks_of(report: bo.VerificationReport, *about: str) -> Any:
    (found,) = [check for check in report.checks if check.name == "floor" and check.about == about]
    return found


def test_a_floor_with_merged_categories_states_both_parts_and_is_not_called_proved() -> None:
    report = bo.verify(bo.uniform(problem(**SCORED)), problem=problem(**SCORED))
    merged, plain = checks_of(report, "d", "s0"), checks_of(report, "s0", "s1")
    assert merged.kind == "assumed"
    assert merged.holds
    assert merged.source.startswith(
        "exact product 0.58, x 0.8 of the variance of d's score: assumed, not proved"
    )
    assert "straight regressions on the scores" in merged.source
    assert str(merged).startswith("holds, as assumed")
    assert (plain.kind, plain.source, str(plain)[:6]) == ("proved", "exact product", "holds ")
    assert "all checks hold, 5 as assumed" in str(report)
    assert any(
        "assumed, not proved" in note and "80.0 % of its score's variance" in note for note in report.notes
    )
    assert {one["kind"] for one in report.to_dict()["checks"] if one["name"] == "floor"} == {
        "proved",
        "assumed",
    }


def test_a_summary_does_not_merge_what_is_assumed_with_what_is_proved() -> None:
    lines = bo.verify(bo.uniform(problem(**SCORED)), problem=problem(**SCORED)).summary.splitlines()
    (merged,) = [line for line in lines if "floor of d x s0" in line]
    assert "holds, as assumed" in merged
    assert "4 more like it (for instance exact product 0.58" in merged
    (plain,) = [line for line in lines if "floor of s0 x s1" in line]
    assert "(exact product)" in plain


def test_a_floor_that_is_missed_fails_whatever_is_assumed() -> None:
    report = bo.verify(bo.uniform(problem(0.5, **SCORED)), problem=problem(0.5, **SCORED))
    assert str(checks_of(report, "d", "s0")).startswith("FAILS")
    assert "as assumed" not in report.summary.splitlines()[0]


def test_the_floors_of_another_problem_are_judged_in_the_same_words() -> None:
    other = problem(0.41, **SCORED)
    found = bo.verify(bo.uniform(problem(**SCORED)), problem=other)
    given = [check for check in found.checks if check.name == "given floor" and "d" in check.about]
    assert given
    assert all(check.kind == "assumed" and "x 0.8 of the variance" in check.source for check in given)


def test_without_scores_it_is_a_share_of_the_variance_of_indicators() -> None:
    asked = problem(0.1)
    allocation = bo.uniform(asked)
    told = checks_of(bo.verify(allocation, problem=asked), "d", "s0").source
    assert "x 0.3333 of the variance of d's category indicators" in told
    assert "straight" not in told
    for shown in (str(allocation), " ".join(check(asked).warnings)):
        assert "33.3 % of the variance of its category indicators (it has no scores)" in " ".join(
            shown.split()
        )


def test_a_report_says_what_merging_leaves_and_that_this_is_assumed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    asked = problem(**SCORED)
    text = bo.report(bo.uniform(asked), tmp_path / "r.html", problem=asked).read_text()
    assert "Randomizing multiplies every moment by its retention, exactly." not in text
    assert "the retention shown here also counts the share that merging leaves" in text
    assert "d is released as 2 of 4 categories, which leave 80.0 %" in text
    assert "holds, as assumed" in text
    assert "Retention (with merging)" in text
    plain = problem(**SCORED).with_grouping("d", None)
    text = bo.report(bo.uniform(plain), tmp_path / "p.html", problem=plain).read_text()
    assert "Randomizing multiplies every moment by its retention, exactly." in text
    assert "as assumed" not in text
