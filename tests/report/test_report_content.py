"""The report says what the allocation says, in words and numbers that agree with it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.mechanisms.odds import largest_odds, odds_to_probability
from budget_opt.report.content import content_of
from budget_opt.report.words import column, listed, number, share
from budget_opt.tables.printing import at_most, percent, percent_at_most
from tests.report.conftest import RECORDS, Written
from tests.report.parsed_page import Page
from tests.report.reported_problems import hand_made, health

pytestmark = pytest.mark.usefixtures("nothing_is_drawn")


def test_every_number_of_the_split_is_that_of_the_allocation(written: Written) -> None:
    rows = {row[0]: row for row in written.page.table("The split of the budget")[1:]}
    for attribute in written.allocation.attributes:
        _, epsilon, part, odds, kept, truth = rows[attribute.name]
        assert float(epsilon) == pytest.approx(attribute.epsilon, rel=1e-3)
        assert part == percent(attribute.epsilon / written.allocation.spent_epsilon)
        assert math.exp(attribute.loss) <= float(odds) <= math.exp(attribute.loss) * 1.01
        assert (kept, truth) == (percent(attribute.retention), percent_at_most(attribute.truth_probability))
    assert rows["All attributes together"][1] == "6"
    assert rows["All attributes together"][3] == "404"  # exp(6) = 403.4, rounded up


def test_every_moment_stands_with_its_retention_limits_inflation_and_the_even_splits(
    written: Written,
) -> None:
    even = bo.uniform(written.allocation.question)
    heading, *rows = written.page.table("What the split is worth for every moment")
    assert heading == [
        "Moment",
        "Weight",
        "Retention",
        "Asked for",
        "Variance x",
        "Even split",
        "Gain (points)",
    ]
    for moment, row in zip(written.allocation.moments, rows, strict=True):
        beside = even.retention(*moment.attributes)
        assert row[:3] == [moment.label, f"{moment.weight:g}", percent(moment.retention)]
        assert float(row[4].replace(",", "")) == pytest.approx(moment.variance_inflation, rel=1e-3)
        assert row[5] == percent(beside)
        assert float(row[6].replace("\u2212", "-")) == pytest.approx(
            100 * (moment.retention - beside), abs=0.051
        )
    assert [row[3] for row in rows] == [
        "at least 20.0 %, kept",
        "at least 5.0 %, kept",
        "\u2013",
        "at most 20.0 %, kept",
    ]


def test_the_plan_at_n_is_that_of_bo_plan(written: Written) -> None:
    from budget_opt.api.planning import plan

    found = plan(written.allocation, RECORDS, guess=0.1)
    rows = written.page.table("What 20,000 records will say")[1:]
    for moment, row in zip(found.moments, rows, strict=True):
        assert row[0] == moment.label
        assert float(row[2]) == pytest.approx(moment.relative_error, rel=6e-3)
        assert float(row[3]) == pytest.approx(moment.relative_error_data, rel=6e-3)
        assert row[4] == percent(moment.power)
        assert row[5] == f"{moment.n_for_power:,}"


def test_every_check_of_verify_is_a_row_with_its_verdict(written: Written) -> None:
    checks = bo.verify(written.allocation, written.allocation.question).checks
    rows = written.page.table("Checks of the allocation")[1:]
    assert {row[0] for row in rows} <= {check.claim for check in checks}
    assert {row[0]: row[3] for row in rows}["loss of income"] == "holds"
    assert len(rows) == len(bo.verify(written.allocation).checks)


def test_the_question_tells_pins_bounds_groups_public_and_dropped_columns(written: Written) -> None:
    text = written.page.visible_text
    assert "pinned at 0.5" in text
    assert "at least 0.2 and at most 3" in text
    assert "Group money: income may have at most epsilon 2.9." in text
    assert "released unprotected, every value as it is, because: the same for everybody" in text
    assert "person_id" in text
    assert "largest weighted geometric mean of retentions" in text


def test_what_is_not_stated_to_be_public_is_told_and_the_report_is_no_more_public(tmp_path: Path) -> None:
    public = bo.Provenance(
        weights="public", floors="public", domains="public", scores="public", total="public"
    )
    told = {}
    for name, provenance in (("unsure", bo.Provenance()), ("sure", public.with_fields(marginals="public"))):
        path = bo.report(hand_made(health(provenance=provenance)), tmp_path / f"{name}.html")
        told[name] = Page(path.read_text(encoding="utf-8")).visible_text
    assert "Not stated to be public: weights, floors, scores, marginals, domains and total." in told["unsure"]
    assert (
        "as public as its weights, floors, scores, marginals, domains and total, which are not"
        in told["unsure"]
    )
    assert "shown or used in it: weights, floors, scores, marginals, domains and total." in told["unsure"]
    assert "not computed from data" not in told["unsure"]
    assert "all of that is stated to be public" not in told["unsure"]
    assert "not stated to be public" not in told["sure"].lower()
    assert "no record was read; all of that is stated to be public" in told["sure"]
    assert "are stated to be public: chosen without looking at the data" in told["sure"]


def test_a_split_from_private_data_is_called_outside_the_guarantee_before_any_figure(tmp_path: Path) -> None:
    told = {}
    for name, origin in (("seen", "private data"), ("paid", "private data, epsilon 1"), ("own", "public")):
        path = bo.report(
            hand_made(health(provenance=bo.Provenance(weights=origin))), tmp_path / f"{name}.html"
        )
        told[name] = Page(path.read_text(encoding="utf-8")).visible_text
    alarm = "The allocation itself is outside the guarantee: weights were made from private data without a"
    assert alarm in told["seen"].partition("Privacy budget spent on a record")[0]
    assert "Claim no epsilon for this report" in told["seen"]
    # what was made from the data is not assumed to be public as well
    assert "Not stated to be public: floors, scores, marginals, domains and total." in told["seen"]
    assert "outside the guarantee" not in told["paid"] + told["own"]


def test_a_missed_floor_an_overspent_total_and_a_failed_check_come_first(tmp_path: Path) -> None:
    split = {"smoker": 0.3, "income": 4, "region": 2, "age": 0.7, "sex": 0.5}
    page = Page(
        bo.report(bo.allocation_from(health(), split), tmp_path / "r.html").read_text(encoding="utf-8")
    )
    failed = {check.claim for check in bo.verify(bo.allocation_from(health(), split)).failed}
    assert failed >= {"floor of smoker x income", "epsilon of a record", "epsilon of group money"}
    assert f"{len(failed)} of " in page.visible_text
    warned = " ".join(e.text for e in page.all("p") if e.attributes.get("class") == "warned")
    assert "Floor missed: smoker x income." in warned
    verdicts = [row[3] for row in page.table("Checks of the allocation")[1:]]
    assert [verdict == "FAILS" for verdict in verdicts] == [i < len(failed) for i in range(len(verdicts))]


def test_a_file_read_back_says_that_its_limits_are_not_known_here(tmp_path: Path) -> None:
    problem = health()
    hand_made(problem).write(tmp_path / "a.json")
    read = bo.Allocation.read(tmp_path / "a.json")
    alone = Page(bo.report(read, tmp_path / "alone.html").read_text(encoding="utf-8")).visible_text
    whole = Page(bo.report(read, tmp_path / "whole.html", problem).read_text(encoding="utf-8")).visible_text
    assert "neither shown nor checked here" in alone
    assert "pinned at 0.5" not in alone
    assert "neither shown nor checked here" not in whole
    assert "pinned at 0.5" in whole


def test_another_problem_than_the_splits_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bo.InputError, match="is not the one that the allocation was made from"):
        bo.report(hand_made(health()), tmp_path / "r.html", health("max_min"))
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("n", [0, -5, 2.5, float("nan"), float("inf"), "many"])
def test_a_number_of_records_that_is_none_is_refused(n: object, tmp_path: Path) -> None:
    with pytest.raises(bo.InputError, match="n: is"):
        bo.report(hand_made(health()), tmp_path / "r.html", n=n)


def test_a_certificate_is_evaluated_again_and_brings_the_problem(tmp_path: Path) -> None:
    allocation = bo.solve(health(), certificate=tmp_path / "c.zip")
    allocation.write(tmp_path / "a.json")
    read = bo.Allocation.read(tmp_path / "a.json")
    path = bo.report(read, tmp_path / "r.html", certificate=tmp_path / "c.zip")
    page = Page(path.read_text(encoding="utf-8"))
    assert "The certificate of the optimum was evaluated again" in page.visible_text
    assert "pinned at 0.5" in page.visible_text
    assert "Proved: no split that keeps all limits gets above" in page.visible_text
    claims = {row[0]: row[3] for row in page.table("Checks of the allocation")}
    assert claims["the certificate is of the allocation's split"] == "holds"


@pytest.mark.parametrize(
    "objective", ["weighted_sum", "geometric_mean", "max_min", "min_epsilon", "min_variance"]
)
def test_each_objective_is_said_in_words_and_an_even_split_is_not_compared_with_itself(
    objective: str, tmp_path: Path
) -> None:
    problem = health(objective, moments=[bo.CrossMoment("smoker", "income", floor=0.05)], groups=[])
    content = content_of(bo.uniform(problem))
    text = str(content.sections)
    assert f"objective {objective}" in text
    assert "This is the even split" in text
    assert "Epsilon of both splits" not in text


def test_a_problem_of_one_attribute_has_a_report_without_sliders() -> None:
    problem = health("min_epsilon", moments=[bo.CrossMoment("smoker", floor=0.1)], groups=[])
    assert content_of(bo.uniform(problem)).sections
    bare = bo.Problem(
        attributes=[bo.Attribute("a", categories=2)], moments=[bo.CrossMoment("a")], total_epsilon=1
    )
    content = content_of(bo.allocation_from(bare, {"a": 0}))
    assert content.explorer is None
    assert "Not released" in str(content.sections)


def test_odds_and_beliefs_are_rounded_to_the_private_side() -> None:
    assert largest_odds(1.0) == math.nextafter(math.e, 3)  # the decimal of math.e is below e
    assert largest_odds(0.0) == 1.0
    assert largest_odds(1e4) == math.inf
    assert odds_to_probability(0.5, 3.0) == 0.75
    assert odds_to_probability(0.01, math.inf) == 1.0
    assert at_most(403.42879, 3) == "404"
    assert at_most(7.99999999912, 9) == "8"
    assert at_most(6.0, 9) == "6"
    assert float(at_most(1.23e-12)) >= 1.23e-12


def test_numbers_are_written_as_people_write_them() -> None:
    assert [number(x) for x in (0, 1, 1234567.8, 0.00012345, 1.5e12, 2e-9, None, math.inf)] == [
        *("0", "1", "1,234,568", "0.0001234", "1.5e+12", "2e-9", "\u2013", "\u2013")
    ]
    assert number(3e80) == "3e+80"
    assert at_most(1.00001e-9) == "1.001e-9"
    assert [column(x) for x in (1.6, 0.3, 2)] == ["1.600", "0.3000", "2.000"]
    assert share(0.378) == "37.8\u00a0%"
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert listed([str(i) for i in range(20)], most=2) == "0, 1 and 18 more"


def test_the_split_says_what_replaces_a_cell_where_it_is_not_a_uniform_draw() -> None:
    problem = bo.Problem(
        attributes=[
            bo.Attribute("x", categories=3, marginal=[0.6, 0.3, 0.1], background="marginal"),
            bo.Attribute("y", categories=4),
        ],
        moments=[bo.CrossMoment("x", "y")],
        total_epsilon=4.0,
    )
    allocation = bo.uniform(problem)
    said = repr(content_of(allocation).sections[1])
    assert "drawn evenly from all (x by the shares that the problem gives as background)" in said
    least, most = (percent_at_most(end).replace(" ", "\\xa0") for end in allocation["x"].truth_range)
    assert f"{least} to {most}" in said
