"""Every sentence of the report is right for one and for many, for every objective, for next to nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import budget_opt as bo
from budget_opt.model.arrays import OBJECTIVES
from budget_opt.report.blocks import Bullets, Facts, Figure, Paragraph, Section, Warned
from budget_opt.report.content import ReportContent, content_of, subject_of
from budget_opt.report.explorer import explorer_data
from budget_opt.report.sections.worth import points
from tests.report.reported_problems import hand_made, health

pytestmark = pytest.mark.usefixtures("nothing_is_drawn")


def sentences(section: Section) -> Iterator[str]:
    """All running text of a section."""
    for block in section.blocks:
        if isinstance(block, Paragraph | Warned | Figure):
            yield block.text
        elif isinstance(block, Bullets):
            yield from block.items
        elif isinstance(block, Facts):
            yield from (statement for _, statement in block.pairs)


def text_of(content: ReportContent) -> str:
    lines = [line for section in content.sections for line in sentences(section)]
    lines += [f"{fact.value}: {fact.meaning}" for fact in content.summary.facts]
    return "\n".join([*lines, content.footer]).replace("\u00a0", " ")


def small(objective: str = "geometric_mean", moments: int = 1, **fields: object) -> bo.Problem:
    """Attributes a, b, c of two categories, and the first few of their pairs."""
    pairs = [("a", "b"), ("a", "c"), ("b", "c")][:moments]
    stated: dict[str, object] = {
        "total_epsilon": 3.0,
        "objective": objective,
        "attributes": [bo.Attribute(name, categories=2) for name in "abc"],
        "moments": [bo.CrossMoment(*pair, floor=0.01) for pair in pairs],
    }
    return bo.Problem(**{**stated, **fields})


ASKED = {
    "weighted_sum": "so that most of what they need survives.",
    "geometric_mean": "so that what they need survives best.",
    "max_min": "so that as much as possible survives of what survives least.",
    "min_epsilon": "The question is how little epsilon keeps every floor, and how it is split",
    "min_variance": "so that what they need can be estimated most precisely.",
}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_question_is_the_one_of_the_objective(objective: str) -> None:
    text = text_of(content_of(bo.uniform(small(objective))))
    assert [found for found in ASKED if ASKED[found] in text] == [objective]
    assert "survive best" not in text


def test_one_moment_is_one_and_many_are_many() -> None:
    one = text_of(content_of(bo.uniform(small())))
    assert "The analysts need 1 moment: a relationship between attributes" in one
    assert "The analysts need 3 moments: each is a relationship" in text_of(
        content_of(bo.uniform(small(moments=3)))
    )
    assert "21.4 %: 1 of 1 floor is kept" in one


def test_floors_that_are_missed_are_counted() -> None:
    problem = small(moments=2)
    one = bo.allocation_from(problem, {"a": 1.5, "b": 1.5, "c": 0})
    both = bo.allocation_from(problem, {"a": 0, "b": 1.5, "c": 1.5})
    assert "Floor missed: a x c." in text_of(content_of(one))
    assert "Floors missed: a x b and a x c." in text_of(content_of(both))


@pytest.mark.parametrize(
    ("split", "said"),
    [
        (
            {"a": 1.5, "b": 1.5, "c": 0},
            ("nothing survives of a x c. A floor", "geometric_mean would keep it."),
        ),
        (
            {"a": 0, "b": 1.5, "c": 1.5},
            ("nothing survives of 2 moments (a x b and a x c). A floor", "geometric_mean would keep them."),
        ),
    ],
)
def test_moments_that_are_given_up_are_counted_and_named(
    split: dict[str, float], said: tuple[str, str]
) -> None:
    pairs = [bo.CrossMoment("a", "b"), bo.CrossMoment("a", "c")]
    problem = small("weighted_sum").with_fields(moments=pairs)
    text = text_of(content_of(bo.allocation_from(problem, split)))
    assert [part for part in said if part not in text] == []


def test_under_min_epsilon_a_moment_that_no_floor_asks_for_is_not_given_up() -> None:
    problem = small("min_epsilon").with_fields(
        moments=[bo.CrossMoment("a", "b", floor=0.1), bo.CrossMoment("a", "c")]
    )
    text = text_of(content_of(bo.allocation_from(problem, {"a": 1.5, "b": 1.5, "c": 0})))
    assert "Nothing survives of a x c: no floor asks for it." in text
    assert "Given up" not in text


def test_a_release_of_nothing_claims_nothing() -> None:
    problem = small("weighted_sum").with_fields(moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c")])
    text = text_of(content_of(bo.allocation_from(problem, dict.fromkeys("abc", 0)), n=100))
    assert "Nobody has any." in text
    assert "No attribute is released." in text
    assert "because the split gives them nothing, or too little for any sampler: a, b and c." in text
    assert "2 moments have no numbers, because an attribute is not released." in text
    assert "0 %: No floors" in text
    assert "Most goes to" not in text


def test_an_even_split_has_no_attribute_that_gets_most() -> None:
    text = text_of(content_of(bo.uniform(small())))
    assert "Bars of the epsilon of every attribute. Each has 1." in text


def test_doubtful_numbers_are_named_and_missing_ones_counted_after_them() -> None:
    problem = small("weighted_sum").with_fields(
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("a", "c"), bo.CrossMoment("b", "c")]
    )
    split = bo.allocation_from(problem, {"a": 0.2, "b": 0.2, "c": 0})
    (worth,) = (section for section in content_of(split, n=50).sections if section.name == "worth")
    lines = list(sentences(worth))
    assert lines[-2].startswith("a x b: doubtful: worth fewer than 30 rows")
    assert lines[-1] == "2 moments have no numbers, because an attribute is not released."


def test_where_marginals_are_mixed_the_sentence_names_each_once() -> None:
    text = text_of(content_of(hand_made(health()), n=100))
    assert (
        "Variance x rests on stated marginals where there are some, else uniform, and on independence" in text
    )
    assert "These numbers assume: stated marginals where there are some, else uniform; no link" in text


def test_levels_begin_where_they_begin_and_the_sliders_say_which_they_judge() -> None:
    moments = [bo.CrossMoment("a", "b", level=2), bo.CrossMoment("b", "c", level=5)]
    split = bo.uniform(small("max_min").with_fields(moments=moments))
    text = text_of(content_of(split))
    assert "level 2 is served first" in text
    assert "of this split on level 2 is" in text
    data = explorer_data(subject_of(split, None, None, certificate=None, guess=0.1))
    assert data is not None
    assert data["level"] == 2


def test_an_epsilon_that_is_too_small_for_a_sampler_is_still_told() -> None:
    split = bo.allocation_from(small(), {"a": 1.5, "b": 1.5, "c": 1e-60})
    (section,) = (section for section in content_of(split).sections if section.name == "split")
    (table,) = (block for block in section.blocks if block.kind == "table")
    (row,) = (row for row in table.rows if row[0] == "c")
    assert float(row[1]) == 1e-60
    assert row[-1] == "not released"


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n", [None, 40])
def test_no_sentence_stumbles(objective: str, n: int | None) -> None:
    """No doubled blanks or stops, no sentence without a capital or an end, no "1 moments"."""
    for split in (
        bo.uniform(small(objective)),
        bo.allocation_from(small(objective, moments=3), {"a": 1.5, "b": 1.5, "c": 0}),
        bo.solve(small(objective, moments=3)),
        hand_made(health(objective)),
    ):
        for line in text_of(content_of(split, n=n)).splitlines():
            assert not re.search(r"  |\.\.|,\.| ,|:\.|\( |\b1 [a-z]+s (are|have|need)\b|None|nan\b", line), (
                line
            )


@pytest.mark.parametrize(
    ("after", "before", "told"),
    [
        (0.378 + 2e-12, 0.378, "0"),
        (2e-12, 0.0, "0"),
        (0.3004, 0.3, "0"),  # both are printed as 30.0 %
        (0.31, 0.3, "+1.0"),
        (0.3, 0.31, "\u22121.0"),
        (3e-5, 1e-5, "+0.002"),
    ],
)
def test_a_gain_that_no_printed_digit_shows_is_none(after: float, before: float, told: str) -> None:
    assert points(after, before) == told
