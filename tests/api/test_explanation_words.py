"""The sentences of an explanation: each says what its numbers say, and no more."""

from __future__ import annotations

import json
from typing import Any

import budget_opt as bo
from budget_opt.api.explanation.limits import Limit
from budget_opt.api.explanation.parts import Part
from budget_opt.api.explanation.words import budget_sentences, limit_sentences
from budget_opt.api.wording import count, counted, fraction, listed, share
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, Objective
from tests.api.test_prices import problem

UNKNOWN = "; whether it does is not known in this time."


def test_numbers_are_rounded_to_the_side_that_stays_true() -> None:
    assert [share(x) for x in (0.0, 5e-5, 0.00251, 0.0123, 0.098, 0.1249, 1.5)] == [
        "0 %", "less than 0.01 %", "0.25 %", "1.2 %", "9.8 %", "12 %", "150 %",
    ]  # fmt: skip
    assert [share(x, "up") for x in (5e-5, 0.0121, 0.1201)] == ["0.01 %", "1.3 %", "13 %"]
    assert [share(x, "down") for x in (5e-5, 0.0129, 0.1299)] == ["0 %", "1.2 %", "12 %"]
    assert share(0.12, "up") == share(0.12, "down") == "12 %"


def test_fractions_are_said_only_where_they_are_near() -> None:
    said = {0.5: "half", 0.496: "half", 0.485: "nearly half", 0.515: "just over half", 0.53: "53 %"}
    said |= {1 / 3: "a third", 0.65: "nearly two thirds", 0.25: "a quarter", 1.0: "all", 0.07: "7.0 %"}
    assert {number: fraction(number) for number in said} == said


def test_counts_and_lists_are_words() -> None:
    assert [counted(n, "floor") for n in (0, 1, 2, 11)] == [
        "no floors",
        "one floor",
        "two floors",
        "11 floors",
    ]
    assert count(10) == "ten"
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def limit(name: str, low: float | None, high: float | None, **fields: Any) -> Limit:
    return Limit("floor", name, 0.1, 0.1, -1.0, low, high, **fields)


def test_a_range_is_said_as_one() -> None:
    limits = (limit("a", 0.10, 0.14), limit("b", 0.0, 0.031), limit("c", 0.0, 5e-5), limit("d", None, None))
    assert list(limit_sentences(limits, "geometric_mean")) == [
        "Dropping the floor on a would raise the objective by at least 10 % and at most 14 %.",
        f"Dropping the floor on b may raise the objective by up to 3.1 %{UNKNOWN}",
        "The floor on c costs nothing: dropping it would bring less than 0.01 %.",
        "What one limit costs was not shown in time.",
    ]
    free = tuple(limit(name, 0.0, 0.0) for name in "cdef")
    assert list(limit_sentences(free[:2], "geometric_mean")) == [
        "The floor on c and the floor on d cost nothing: dropping either would bring less than 0.01 %."
    ]
    assert list(limit_sentences(free, "geometric_mean")) == [
        "Four limits cost nothing: dropping any one would bring less than 0.01 %."
    ]
    falling = (limit("a", -0.14, -0.10),)
    assert list(limit_sentences(falling, "min_variance")) == [
        "Dropping the floor on a would lower the objective by at least 10 % and at most 14 %."
    ]
    many = tuple(limit(f"m{i}", 0.01 * i, 0.01 * i) for i in range(1, 9))
    assert list(limit_sentences(many, "max_min"))[-1] == (
        "Dropping any one of three other limits would raise the objective by at most 3.0 %."
    )


def part(name: str, epsilon: float, moments: tuple[str, ...] = ("a x b",), **fields: Any) -> Part:
    given: dict[str, Any] = {"slope": 1.0, "weight_share": 0.5, "floors": (), "held": None, "share": epsilon}
    given["surviving"] = moments
    return Part(name=name, epsilon=epsilon, moments=moments, **{**given, **fields})


def test_the_reason_is_the_one_that_holds() -> None:
    def first(*parts: Part, objective: Objective = "max_min", optimal: bool = True) -> list[str]:
        return list(budget_sentences(parts, objective, optimal=optimal))

    assert first(part("a", 0.6, held="epsilon"), part("b", 0.4)) == [
        "60 % of the budget goes to a because it is pinned there."
    ]
    assert first(part("a", 0.6, held="epsilon_min"), part("b", 0.4)) == [
        "60 % of the budget goes to a because its lower bound asks for it."
    ]
    assert first(part("a", 0.6, moments=()), part("b", 0.4)) == [
        "60 % of the budget goes to a, which no moment needs."
    ]
    assert first(part("a", 0.6), part("b", 0.4), optimal=False) == [
        "60 % of the budget goes to a, which one moment needs."
    ]
    assert first(part("a", 1.0), part("b", 0.0), part("c", 0.0, moments=())) == [
        "All of the budget goes to a because one moment needs it.",
        "Nothing goes to c: no moment needs it.",
        "Nothing goes to b: the moment that needs it is given up.",
    ]
    assert first(part("a", 0.0)) == ["Nothing is spent: no attribute is released."]


def test_the_direction_of_better_is_that_of_the_objective() -> None:
    for objective in OBJECTIVES[1:]:
        for one in bo.explain(bo.solve(problem(objective))).limits:
            assert one.lowest_change is not None
            assert one.highest_change is not None
            if objective in MINIMIZED:
                assert one.highest_change <= 0
            else:
                assert one.lowest_change >= 0


def test_a_least_total_speaks_of_floors_and_not_of_moments() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in "abcd"],
        moments=[bo.CrossMoment("a", "b", floor=0.2), bo.CrossMoment("c", "d")],
        objective="min_epsilon",
    )
    assert "Nothing goes to c and d: no floor needs them." in bo.explain(bo.solve(question)).sentences
    by_hand = bo.explain(question.allocation_from({"a": 0.0, "b": 3.0, "c": 0.5, "d": 0.5}))
    assert by_hand.sentences[0] == (
        "Three quarters of the budget goes to b, though the floor that needs it is missed."
    )
    assert by_hand.sentences[1] == "Nothing goes to a: the floor that needs it is missed."


def test_only_moments_of_which_something_survives_are_counted() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abc"],
        moments=[bo.CrossMoment("a", "b", weight=3), bo.CrossMoment("a", "c")],
        total_epsilon=3.0,
    )
    explained = bo.explain(question.allocation_from({"a": 2.0, "b": 1.0, "c": 0.0}))
    part = explained.parts[0]
    assert (part.moments, part.surviving) == (("a x b", "a x c"), ("a x b",))
    assert part.weight_share == 0.75
    assert explained.sentences[0] == "Two thirds of the budget goes to a, which one moment needs."
    json.dumps(explained.to_dict(), allow_nan=False)


def test_a_move_says_which_constraints_it_leaves_broken() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in ("age", "bmi", "diab")],
        moments=[bo.CrossMoment("age", "bmi"), bo.CrossMoment("diab", "bmi", floor=0.8)],
        total_epsilon=6.0,
        objective="geometric_mean",
    )
    explained = bo.explain(question.allocation_from({"age": 0.3, "bmi": 2.7, "diab": 3.0}))
    assert explained.exchange is not None
    assert explained.exchange.still_broken == ("floor of diab x bmi",)
    assert explained.sentences[-1].endswith("; it would not mend floor of diab x bmi.")
    # 0.3 + 0.06 and 2.7 - 0.06 in doubles would pass the total
    kept = bo.explain(
        question.with_fields(
            moments=[one.with_fields(floor=None) for one in question.moments]
        ).allocation_from({"age": 0.3, "bmi": 2.7, "diab": 3.0})
    )
    assert kept.exchange is not None
    assert kept.exchange.still_broken == ()
    assert "mend" not in kept.sentences[-1]


def test_what_may_be_nothing_is_not_said_to_happen() -> None:
    many = tuple(limit(f"m{i}", 0.0, 0.01 * i) for i in range(1, 8))
    for said in limit_sentences(many, "weighted_sum"):
        assert " may raise the objective by up to " in said
        assert "would" not in said
    (least,) = limit_sentences((limit("a", -0.2, 0.0),), "min_epsilon")
    assert least == (f"Dropping the floor on a may lower the total by up to 20 %{UNKNOWN}")
