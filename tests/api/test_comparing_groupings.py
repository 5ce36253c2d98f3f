"""Splits whose problems differ in their groupings are compared, each judged with its own."""

from __future__ import annotations

from typing import Any

import pytest

import budget_opt as bo
from budget_opt.errors import InputError

CODES = ["A1", "A2", "A3", "B1", "B2", "B3"]
GROUPING = {"A": ["A1", "A2", "A3"], "B": ["B1", "B2", "B3"]}
MARGINAL = [0.3, 0.1, 0.1, 0.3, 0.1, 0.1]


def problem(grouping: Any = None, floor: float | None = None, **fields: Any) -> bo.Problem:
    attributes = [
        bo.Attribute(
            "code", categories=CODES, scores=range(6), marginal=MARGINAL, grouping=grouping, **fields
        ),
        bo.Attribute("s", categories=2),
        bo.Attribute("t", categories=2),
    ]
    moments = [bo.CrossMoment("code", "s", floor=floor), bo.CrossMoment("s", "t")]
    return bo.Problem(attributes=attributes, moments=moments, total_epsilon=3.0, objective="geometric_mean")


@pytest.mark.parametrize("given", [False, True])
def test_a_coarse_split_and_a_fine_one_are_judged_with_their_own_categories(given: bool) -> None:
    fine, coarse = problem(), problem(GROUPING)
    splits = {"coarse": bo.solve(coarse), "fine": bo.solve(fine)}
    found = bo.compare(splits, problem=fine if given else None)
    for name, split in splits.items():
        assert found[name].value == split.objective.value
        assert [one.retention for one in found[name].allocation.moments] == [
            m.retention for m in split.moments
        ]
    told = " ".join(str(found).split())
    assert "the splits release other categories (code:" in told
    assert "2 in coarse, 6 in fine" in told
    assert "assumed, not proved" in told
    assert "retention (with merging) of" in told


def test_a_background_of_merged_categories_is_the_same_background() -> None:
    fine, coarse = problem(background="marginal"), problem(GROUPING, background="marginal")
    found = bo.compare({"coarse": bo.solve(coarse), "fine": bo.solve(fine)})
    assert not found.backgrounds
    other = bo.compare({"coarse": bo.solve(coarse), "fine": bo.solve(problem())})
    assert [one.attribute for one in other.backgrounds] == ["code"]
    assert other.backgrounds[0].told[-2:] == ("marginal", "uniform")


def test_an_even_split_of_other_categories_is_not_taken_for_the_reference() -> None:
    found = bo.compare(
        {"coarse": bo.uniform(problem(GROUPING)), "fine": bo.solve(problem())}, problem=problem()
    )
    assert found.reference == "even split"


def test_a_floor_above_what_a_grouping_leaves_names_the_split() -> None:
    with pytest.raises(InputError, match=r"(?s)splits\['coarse'\].*grouping of code leaves"):
        bo.compare({"coarse": bo.uniform(problem(GROUPING))}, problem=problem(floor=0.9))


def test_other_attributes_or_categories_are_named_with_their_numbers() -> None:
    fine = problem()
    more = fine.with_fields(attributes=[*fine.attributes, bo.Attribute("u", categories=2)])
    with pytest.raises(InputError, match=r"splits\['more'\].*: u, which the problem has not\."):
        bo.compare({"more": bo.uniform(more)}, problem=fine)
    with pytest.raises(InputError, match=r"splits\['less'\].*: no u\."):
        bo.compare({"less": bo.uniform(fine)}, problem=more)
    wider = fine.with_fields(attributes=[*fine.attributes[:2], bo.Attribute("t", categories=4)])
    with pytest.raises(InputError, match=r"t \(4, the problem's 2\)"):
        bo.compare({"wider": bo.uniform(wider)}, problem=fine)


def test_elsewhere_a_split_of_another_grouping_is_refused() -> None:
    others = {"A": ["A1", "B2", "A3"], "B": ["B1", "A2", "B3"]}
    with pytest.raises(InputError, match="merges the categories of code otherwise"):
        bo.judge(problem(GROUPING), bo.uniform(problem(others)), quick=True)
    with pytest.raises(InputError, match=r"code \(2, the problem's 6\)"):
        bo.judge(problem(), bo.uniform(problem(GROUPING)), quick=True)
