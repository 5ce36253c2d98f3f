"""Splits side by side: Ruiz's table, ratios, winners and losers, and what is not comparable."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.api.comparing.comparison import EVEN
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, Objective
from budget_opt.model.objectives import value
from budget_opt.tables.printing import plain_text

NAMES = [f"X{i}" for i in range(1, 6)]
THIRD = 0.3333333333333333
SPLITS: dict[str, dict[str, float]] = {
    "first": dict.fromkeys(NAMES, 1.0),
    "second": {"X1": 2, "X2": 2, "X3": THIRD, "X4": THIRD, "X5": THIRD},
    "third": {"X1": 2, "X2": 1.5, "X3": 0.75, "X4": 0.5, "X5": 0.25},
}


def ruiz(**fields: Any) -> bo.Problem:
    moments = [bo.CrossMoment(*pair) for pair in combinations(NAMES, 2)]
    given: dict[str, Any] = {"moments": moments, "total_epsilon": 5.0, "objective": "geometric_mean"}
    attributes = [bo.Attribute(name, categories=4) for name in NAMES]
    return bo.Problem(**{"attributes": attributes, **given, **fields})


def small(objective: Objective = "geometric_mean") -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("smoker", categories=2),
            bo.Attribute("income", categories=5),
            bo.Attribute("region", categories=4),
        ],
        moments=[
            bo.CrossMoment("smoker", "income", weight=3.0, floor=0.2),
            bo.CrossMoment("income", "region"),
            bo.CrossMoment("smoker", "region", ceiling=0.5),
        ],
        total_epsilon=4.0,
        objective=objective,
    )


def test_the_retentions_are_those_of_ruiz() -> None:
    """Ruiz 2026, Table 1, in percent as printed (DESIGN 2.2)."""
    compared = bo.compare(SPLITS, ruiz())
    printed = {
        "first": [9.0] * 10,
        "second": [37.8, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 0.8, 0.8, 0.8],
        "third": [28.6, 13.4, 8.6, 4.1, 10.2, 6.5, 3.1, 3.0, 1.4, 0.9],
    }
    assert compared.names == ("first", "second", "third")
    for name, expected in printed.items():
        found = [round(100 * row[f"retention {name}"], 1) for row in compared.rows()]
        assert found == expected
    text = str(compared)
    assert "X1 x X2" in text
    assert "37.8 %" in text
    assert compared.reference == "first"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_ratio_is_to_the_even_split_and_better_knows_the_direction(objective: Objective) -> None:
    question = small(objective)
    mine = {"smoker": 1.5, "income": 1.5, "region": 0.5}
    compared = bo.compare({"mine": mine}, question)
    assert compared.names == (EVEN, "mine")
    arrays = question.arrays
    values = [value(arrays, one.epsilons) for one in (bo.uniform(question), question.allocation_from(mine))]
    assert compared.ratios == pytest.approx((1.0, values[1] / values[0]), rel=1e-6)
    better = compared["mine"].better
    assert better is not None
    gained = values[0] / values[1] if objective in MINIMIZED else values[1] / values[0]
    assert (better > 0) == (gained > 1)
    assert abs(better) == pytest.approx(abs(values[1] / values[0] - 1), rel=1e-5)
    assert ("smaller is better" in str(compared)) == (objective in MINIMIZED)


def test_the_sentence_says_by_how_much_and_who_loses_most() -> None:
    question = small("weighted_sum")
    even, best = bo.uniform(question), {"smoker": 1.9, "income": 2.1, "region": 0.0}
    compared = bo.compare({"balanced": even, "best": best}, question)
    values = [value(question.arrays, one.epsilons) for one in (even, question.allocation_from(best))]
    share = values[1] / values[0] - 1
    before = even.retention("income", "region")
    (sentence,) = [one for one in compared.sentences if one.startswith("best")]
    assert sentence.startswith(f"best beats balanced by {100 * share:.1f} % (weighted_sum)")
    assert f"income x region loses most: 0 % instead of {100 * before:.1f} %" in sentence
    assert compared["best"].losses[0].label == "income x region"
    assert compared["best"].gains[0].label == "smoker x income"
    assert [change.ratio for change in compared["best"].losses] == [0.0, 0.0]


def test_any_split_can_be_what_the_others_are_measured_by() -> None:
    compared = bo.compare(SPLITS, ruiz(), reference="second")
    assert compared.reference == "second"
    assert compared["second"].ratio == 1.0
    assert compared["second"].gains == compared["second"].losses == ()
    assert compared["first"].losses[0].label == "X1 x X2"
    alone = bo.compare({"a": SPLITS["second"], "b": SPLITS["third"]}, ruiz(), even=False)
    assert (alone.names, alone.reference) == (("a", "b"), "a")
    with pytest.raises(bo.InputError, match="'fourth' is not one of the splits first, second, third"):
        bo.compare(SPLITS, ruiz(), reference="fourth")


def test_splits_of_different_totals_are_called_so_first_of_all() -> None:
    generous = dict.fromkeys(NAMES, 2.0)
    compared = bo.compare({**SPLITS, "generous": generous}, ruiz())
    assert "spend different totals" in compared.cautions[0]
    assert "generous 10" in compared.cautions[0]
    assert str(compared).startswith("CAUTION: the splits spend different totals")
    assert "breaks one constraint (epsilon of a record)" in str(compared)
    assert bo.compare(SPLITS, ruiz()).cautions == ()
    # with `min_epsilon` what is spent is what is compared
    assert bo.compare({"a": generous}, small_least()).cautions == ()


def small_least() -> bo.Problem:
    return ruiz(objective="min_epsilon", total_epsilon=None, moments=[bo.CrossMoment("X1", "X2", floor=0.1)])


def test_what_is_broken_is_named_and_marked() -> None:
    compared = bo.compare({"mine": {"smoker": 3.9, "income": 0.1, "region": 2.5}}, small())
    broken = {one.constraint for one in compared["mine"].broken}
    assert broken == {"epsilon of a record", "floor of smoker x income", "ceiling of smoker x region"}
    text = str(compared)
    assert "missed" in text
    assert "exceeded" in text
    assert "breaks three constraints" in text


def test_splits_of_other_attributes_or_without_a_problem_are_refused() -> None:
    with pytest.raises(bo.InputError, match=r"splits\['b'\]: has other attributes"):
        bo.compare({"a": bo.uniform(ruiz()), "b": bo.uniform(small())})
    with pytest.raises(bo.InputError, match="problem: is missing"):
        bo.compare(SPLITS)
    with pytest.raises(bo.InputError, match="is empty"):
        bo.compare({}, ruiz())
    with pytest.raises(bo.InputError, match="not a name"):
        bo.compare({" ": SPLITS["first"]}, ruiz())
    with pytest.raises(bo.InputError, match="is not the epsilon of an attribute"):
        bo.compare({"a": {**SPLITS["first"], "X6": 1.0}}, ruiz())
    with pytest.raises(bo.InputError, match="splits: is a list"):
        bo.compare([bo.uniform(ruiz())])
    with pytest.raises(bo.InputError, match="'c' is not in the comparison; it has first"):
        bo.compare(SPLITS, ruiz())["c"]


def test_allocations_of_different_problems_are_judged_by_one() -> None:
    """The same attributes in another order, with other moments and another objective."""
    question, other = small(), small("max_min")
    other = other.with_fields(attributes=other.attributes[::-1], moments=other.moments[:1])
    compared = bo.compare({"best": bo.solve(question), "other": bo.uniform(other)})
    assert "other was made from another problem" in compared.cautions[0]
    assert [one.name for one in compared.allocations[0].attributes] == ["smoker", "income", "region"]
    assert compared["other"].allocation.objective.kind == "geometric_mean"
    assert len(compared.moments) == 3


def test_a_file_without_its_pins_says_what_that_means(tmp_path: Path) -> None:
    question = small().with_fields(
        attributes=[bo.Attribute("smoker", categories=2, epsilon=0.5), *small().attributes[1:]],
        moments=small().moments[1:],
    )
    bo.solve(question).write(tmp_path / "a.json")
    read = bo.Allocation.read(tmp_path / "a.json")
    assert "carries no pins or bounds" in bo.compare({"a": read}).cautions[0]
    assert bo.compare({"a": read}, question).cautions == ()
    assert bo.compare({"a": read}, question).allocations[0]["smoker"].epsilon == 0.5


def test_of_several_levels_the_first_counts_and_is_named() -> None:
    first, second, third = small().moments
    question = small().with_fields(moments=[first, second.with_fields(level=2), third.with_fields(level=2)])
    compared = bo.compare({"best": bo.solve(question)})
    assert "level 1" in compared.cautions[0]
    assert compared["best"].value == pytest.approx(compared["best"].allocation.retention("smoker", "income"))


def test_every_form_says_the_same(tmp_path: Path) -> None:
    compared = bo.compare({"best": bo.solve(small()), "mine": {"smoker": 1, "income": 1, "region": 2}})
    document = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    assert document["reference"] == EVEN
    assert document["sentences"] == list(compared.sentences)
    assert [one["name"] for one in document["splits"]] == list(compared.names)
    assert document["moments"][0]["retentions"]["mine"] == compared.moments[0].retentions[2]
    assert set(document["moments"][0]["variance_inflations"]) == {EVEN, "best", "mine"}
    compared.write(tmp_path / "c.csv")
    with (tmp_path / "c.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["retention best"]) for row in rows] == [one.retentions[1] for one in compared.moments]


def test_names_that_look_like_markup_are_printed_as_they_are() -> None:
    names = ["[bold]x[/bold]", "</td><script>", "a,b", "性別"]
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in names],
        moments=[bo.CrossMoment(*pair) for pair in combinations(names, 2)],
        total_epsilon=4.0,
        objective="max_min",
    )
    compared = bo.compare({"[red]mine[/red]": dict(zip(names, (2, 1, 0.5, 0.5), strict=True))}, question)
    text = str(compared)
    for name in (*names, "[red]mine[/red]"):
        assert name in text
    assert "a,b x 性別 loses most" in compared.sentences[0]


def test_a_split_that_gives_a_moment_up_has_no_ratio_to_be_divided_by() -> None:
    nothing = {"smoker": 4.0, "income": 0.0, "region": 0.0}
    compared = bo.compare({"nothing": nothing}, small(), reference="nothing")
    assert compared[EVEN].ratio is None
    assert "has geometric_mean 0." in " ".join(compared.sentences)
    inflations = [moment.variance_inflations[1] for moment in compared.moments]
    assert inflations == [None, None, None]


def test_a_problem_makes_an_allocation_of_a_split_by_hand() -> None:
    made = ruiz().allocation_from(SPLITS["third"])
    assert made.to_dict()["attributes"] == bo.allocation_from(ruiz(), SPLITS["third"]).to_dict()["attributes"]
    with pytest.raises(bo.InputError):
        ruiz().allocation_from({"X1": 1})


def test_a_split_that_keeps_everything_is_not_merely_as_good_as_one_that_does_not() -> None:
    moments = [bo.CrossMoment("X1", "X2", floor=0.2)]
    question = small_least().with_fields(moments=moments)
    compared = bo.compare({"g": SPLITS["second"], "even": SPLITS["first"]}, question, reference="even")
    g, even = [one for one in compared.sentences if one.startswith(("g ", "even "))]
    assert "breaks one constraint (floor of X1 x X2)" in even
    assert g.startswith("g spends as much epsilon as even; ")
    assert g.endswith("; it keeps every constraint, even does not.")
    assert "keeps every constraint" not in " ".join(bo.compare(SPLITS, ruiz()).sentences)


@pytest.mark.parametrize("width", [80, 100])
def test_no_number_is_cut_on_a_narrow_page(width: int) -> None:
    splits = {f"split number {i}": SPLITS["third"] for i in range(9)}
    compared = bo.compare(splits, ruiz())
    text = plain_text(compared.renderable(), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("28.6 %") == 9
    assert "geometric_mean" in text
    assert "\N{HORIZONTAL ELLIPSIS}" not in text


@pytest.mark.parametrize(("size", "gains"), [(1.0, []), (1e-9, ["a x c"])])
def test_what_is_nothing_beside_the_other_moments_is_no_gain(size: float, gains: list[str]) -> None:
    """Retentions of a x c are 0 and about 1e-10: nothing beside 0.1 of a x b, and much beside 1e-19."""
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in "abc"],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("a", "c")],
        total_epsilon=4.0,
    )
    splits = {"none": {"a": size, "b": size, "c": 0.0}, "hair": {"a": size, "b": size, "c": 1e-9}}
    found = bo.compare(splits, problem, even=False)["hair"]
    assert [change.label for change in found.gains] == gains
    assert found.losses == ()
