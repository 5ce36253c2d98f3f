"""Priorities in the analyst's words: pairs as moments, alike in Python and in a problem file."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.errors import ProblemError
from budget_opt.model.moments.priorities import MOST_MOMENTS


def test_all_pairs_are_the_pairs_in_the_order_of_the_names() -> None:
    moments = bo.all_pairs(["a", "b", "c"], weight=2, floor=0.1, level=2)
    assert moments == (
        bo.CrossMoment("a", "b", weight=2, floor=0.1, level=2),
        bo.CrossMoment("a", "c", weight=2, floor=0.1, level=2),
        bo.CrossMoment("b", "c", weight=2, floor=0.1, level=2),
    )


def test_pairs_with_an_attribute_leave_it_out_of_the_others() -> None:
    assert bo.pairs_with("b", ["a", "b", "c"]) == (bo.CrossMoment("b", "a"), bo.CrossMoment("b", "c"))
    assert bo.pairs_with("b", iter(["a"]), ceiling=0.5) == (bo.CrossMoment("b", "a", ceiling=0.5),)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: bo.all_pairs("abc"), "list of names"),
        (lambda: bo.all_pairs(["a"]), "at least two names"),
        (lambda: bo.all_pairs([]), "at least two names"),
        (lambda: bo.all_pairs(["a", "b", "a"]), "'a' is repeated"),
        (lambda: bo.all_pairs({"a", "b"}), "has no order"),
        (lambda: bo.all_pairs([1, 2]), "must be a name"),
        (lambda: bo.all_pairs(7), "list of names"),
        (lambda: bo.all_pairs(["a", "b "]), "blanks at its ends"),
        (lambda: bo.all_pairs(["a", "b"], weight=-1), "0 or a number"),
        (lambda: bo.all_pairs(["a", "b"], flor=0.1), 'Did you mean "floor"'),
        (lambda: bo.all_pairs(["a", "b"], floor=0.5, ceiling=0.1), "at least the floor"),
        (lambda: bo.all_pairs([f"x{i}" for i in range(200)]), "19,900 moments"),
        (lambda: bo.pairs_with("a", ["a"]), "beside 'a'"),
        (lambda: bo.pairs_with("a", []), "beside 'a'"),
        (lambda: bo.pairs_with("a", "bcd"), "list of names"),
        (lambda: bo.pairs_with("a", ["b", "b"]), "'b' is repeated"),
    ],
)
def test_what_makes_no_pairs_is_refused_with_the_way_out(build, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        build()


def test_many_names_are_as_many_moments_as_a_rule_may_have() -> None:
    names = [f"x{i}" for i in range(141)]
    assert len(bo.all_pairs(names)) == 141 * 140 // 2 <= MOST_MOMENTS
