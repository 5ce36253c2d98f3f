"""What `check` says of attributes with too many categories, and of the groupings that are chosen."""

from __future__ import annotations

import re

import pytest

import budget_opt as bo
from budget_opt.api.checking.checking import check
from budget_opt.api.checking.coarseness import hopeless_attributes
from budget_opt.mechanisms import randomized_response as rr

MARGINAL = [0.4, 0.4, *[0.2 / 98] * 98]


def problem(**fields: object) -> bo.Problem:
    return bo.Problem(
        attributes=[bo.Attribute("code", **fields), bo.Attribute("sex", categories=2)],
        moments=[bo.CrossMoment("code", "sex")],
        total_epsilon=2.0,
    )


def test_an_attribute_that_keeps_about_epsilon_over_its_categories_is_warned_of() -> None:
    (note,) = hopeless_attributes(problem(categories=[f"c{i}" for i in range(200)]))
    assert note.startswith(
        "code: with 200 categories and 1 nats, its part of an even split, only 0.85 % survives"
    )
    assert rr.retention(1.0, 200) == pytest.approx(0.0085, rel=0.01)
    assert note in check(problem(categories=[f"c{i}" for i in range(200)])).warnings


def test_neighbours_are_proposed_where_categories_have_an_order_with_what_they_would_keep() -> None:
    asked = problem(categories=60)
    (note,) = hopeless_attributes(asked)
    told = re.search(
        r": (\d+) groups of neighbours \((\d+) categories, which leave ([\d.]+) % .* keep ([\d.]+) %", note
    )
    assert told is not None
    groups, detail, kept = int(told[1]), float(told[3]) / 100, float(told[4]) / 100
    size = 60 // groups
    merged = asked.with_grouping("code", [list(range(k, k + size)) for k in range(0, 60, size)])
    attribute = merged.attribute("code")
    assert attribute.cardinality == groups
    assert float(attribute.detail) == pytest.approx(detail, abs=1e-3)
    assert float(attribute.detail) * rr.retention(1.0, groups) == pytest.approx(kept, abs=1e-3)
    assert not hopeless_attributes(merged)


def test_a_stated_candidate_is_named_where_it_helps() -> None:
    codes = [f"c{i}" for i in range(100)]
    candidates = [{"c0": codes[:1], "c1": codes[1:2], "rare": codes[2:]}]
    (note,) = hopeless_attributes(problem(categories=codes, marginal=MARGINAL, groupings=candidates))
    assert "its grouping c0, c1, rare (3 categories" in note
    (note,) = hopeless_attributes(problem(categories=codes, groupings=candidates))
    assert "the coarser domains that were tried keep" in note


def test_what_no_moment_needs_and_what_keeps_enough_is_not_warned_of() -> None:
    asked = problem(categories=200)
    alone = asked.with_fields(moments=[bo.CrossMoment("sex")])
    assert not hopeless_attributes(alone)
    assert not hopeless_attributes(asked.with_total(20.0))


def test_the_chosen_grouping_is_told_with_what_it_leaves_and_on_what_that_rests() -> None:
    asked = problem(categories=4, grouping=[[0, 1], [2, 3]])
    told = [note for note in check(asked).warnings if note.startswith("code is released as")]
    assert len(told) == 1
    assert "2 of 4 categories, which leave 80.0 % of its score's variance by equal shares" in told[0]
    assert told[0].replace("\n", " ") in " ".join(str(bo.uniform(asked)).split())
