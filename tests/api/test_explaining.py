"""Explanations: every number against solves made anew, every sentence against the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.api.explanation.parts import slopes
from budget_opt.api.wording import fraction, listed, share
from budget_opt.model.arrays import OBJECTIVES, Objective
from budget_opt.model.objectives import value
from tests.api.test_prices import ATTRIBUTES, MOMENTS, block, problem

CONVEX = OBJECTIVES[1:]
optimum = cache(lambda objective: bo.solve(problem(objective)))
"""The best split of the problem that the tests share, by objective; made once, as nothing changes it."""
told = cache(lambda objective: bo.explain(optimum(objective)))
"""What is said of it."""
UNKNOWN = "; whether it does is not known in this time."


def without(question: bo.Problem, kind: str, name: str) -> bo.Problem:
    """The problem without one limit, built field by field."""
    moments = [
        one.with_fields(floor=None)
        if (kind, name) == ("floor", one.label)
        else one.with_fields(ceiling=None)
        if (kind, name) == ("ceiling", one.label)
        else one
        for one in question.moments
    ]
    attributes = [
        bo.Attribute(
            one.name,
            categories=one.cardinality,
            **{
                field: getattr(one, field)
                for field in ("epsilon", "epsilon_min", "epsilon_max")
                if getattr(one, field) is not None and (field, one.name) != (kind, name)
            },
        )
        for one in question.attributes
    ]
    groups = [group for group in question.groups if ("group", group.name) != (kind, name)]
    return question.with_fields(moments=moments, attributes=attributes, groups=groups)


@pytest.mark.parametrize("objective", CONVEX)
def test_what_dropping_a_limit_changes_lies_in_the_range_that_is_stated(objective: Objective) -> None:
    question, best, explained = problem(objective), optimum(objective), told(objective)
    assert {(one.kind, one.name) for one in explained.limits} == {
        *(("floor", label) for label in ("a x b", "a x d", "a x f")),
        ("ceiling", "a x e"),
        ("group", "block"),
        ("epsilon_max", "b"),
        ("epsilon_min", "c"),
        ("epsilon", "e"),
    }
    base = value(question.arrays, best.epsilons)
    some_matter = False
    for limit in explained.limits:
        again = without(question, limit.kind, limit.name)
        reached = value(again.arrays, bo.solve(again).epsilons)
        change = reached / base - 1
        assert limit.lowest_change is not None
        assert limit.highest_change is not None
        assert limit.lowest_change - 3e-6 <= change <= limit.highest_change + 3e-6
        # with proved optima the range is a number
        assert limit.highest_change - limit.lowest_change <= 1e-4
        some_matter |= abs(change) > 0.01
        assert limit.gain is not None
        assert limit.gain[1] == pytest.approx(abs(change), abs=1e-4)
    assert some_matter


@pytest.mark.parametrize("objective", CONVEX)
def test_another_solver_agrees_on_the_dearest_limit(objective: Objective) -> None:
    question, explained = problem(objective), told(objective)
    dearest = max(explained.limits, key=lambda limit: limit.gain or (0.0, 0.0))
    again = bo.solve(without(question, dearest.kind, dearest.name), gap=1e-3, solver="cvxpy")
    before, after = explained.allocation.objective.value, again.objective.value
    assert before is not None
    assert after is not None
    assert dearest.lowest_change == pytest.approx(after / before - 1, abs=2e-3)
    verb = {"min_epsilon": "lower the total", "min_variance": "lower the objective"}
    said = f"would {verb.get(objective, 'raise the objective')} by {share(abs(after / before - 1))}"
    assert any(said in sentence for sentence in explained.sentences), (said, explained.sentences)


@pytest.mark.parametrize("objective", ["geometric_mean", "max_min", "min_variance"])
def test_one_more_nat_is_worth_what_a_solve_with_it_says(objective: Objective) -> None:
    question, best = problem(objective), optimum(objective)
    more = told(objective).more_total
    assert more is not None
    assert (more.total, more.raised) == (6.0, 7.0)
    after = value(question.arrays, bo.solve(question.with_total(7.0)).epsilons)
    change = after / value(question.arrays, best.epsilons) - 1
    assert more.lowest_change == pytest.approx(change, abs=3e-6)
    assert more.highest_change == pytest.approx(change, abs=3e-6)
    verb = "lower" if objective == "min_variance" else "raise"
    by = share(abs(change)) if abs(change) > 1e-4 else "less than 0.01 %"
    said = f"A total epsilon of 7 instead of 6 would {verb} the objective by {by}."
    assert said in told(objective).sentences
    ends = [
        value(question.arrays, bo.solve(question.with_total(6.0 + step)).epsilons) for step in (-0.01, 0.01)
    ]
    assert more.price == pytest.approx((ends[1] - ends[0]) / 0.02, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_an_epsilon_buys_is_the_difference_that_a_little_less_makes(objective: Objective) -> None:
    question = problem(objective)
    arrays, epsilon = question.arrays, bo.uniform(question).epsilons
    found = slopes(arrays, epsilon)
    assert found is not None
    for i in range(epsilon.size):
        less = epsilon.copy()
        less[i] -= 1e-6
        difference = (value(arrays, epsilon) - value(arrays, less)) / 1e-6
        assert found[i] == pytest.approx(difference, rel=1e-4, abs=1e-7 * value(arrays, epsilon))
    assert slopes(arrays, np.zeros(epsilon.size)) is None or objective == "min_epsilon"


@pytest.mark.slow
def test_a_weighted_sum_gives_ranges_that_hold_and_says_at_most() -> None:
    question = bo.Problem(
        attributes=[*ATTRIBUTES[:1], ATTRIBUTES[3], bo.Attribute("e", categories=4, epsilon=0.5)],
        moments=[
            bo.CrossMoment("a", "d", weight=3),
            bo.CrossMoment("a", "e"),
            bo.CrossMoment("d", "e", floor=0.05),
        ],
        total_epsilon=3.0,
    )
    best = bo.solve(question)
    explained = bo.explain(best)
    for limit in explained.limits:
        again = bo.solve(without(question, limit.kind, limit.name))
        before, after, bound = best.objective.value, again.objective.value, again.objective.bound
        assert before is not None
        assert after is not None
        assert bound is not None
        assert limit.lowest_change is not None
        assert limit.highest_change is not None
        assert limit.lowest_change <= bound / before - 1 + 1e-9
        assert limit.highest_change >= after / before - 1 - 1e-6
        assert limit.highest_change - limit.lowest_change <= 2e-4
    ends = [bo.solve(question.with_total(3.0 + step)).objective.value or 0.0 for step in (-1e-3, 1e-3)]
    assert explained.more_total is not None
    assert explained.more_total.price == pytest.approx((ends[1] - ends[0]) / 2e-3, rel=1e-4)


def test_the_parts_say_who_has_what_and_why() -> None:
    explained = told("geometric_mean")
    parts = {part.name: part for part in explained.parts}
    assert sum(part.share for part in explained.parts) == pytest.approx(1.0)
    assert parts["d"].moments == ("a x d", "c x d", "d x f")
    assert parts["d"].weight_share == pytest.approx(5 / 9.5)
    assert parts["d"].floors == ("a x d",)
    assert (parts["e"].held, parts["b"].held, parts["d"].held) == ("epsilon", "epsilon_max", None)
    first = explained.sentences[0]
    assert first.startswith(f"{fraction(parts['d'].share).capitalize()} of the budget goes to d because")
    assert "three moments with 53 % of the weight need it, and the floor on a x d holds it up" in first


def test_max_min_names_the_moments_that_decide() -> None:
    explained = told("max_min")
    kept = {moment.label: moment.retention for moment in explained.allocation.moments}
    least = min(kept.values())
    assert set(explained.deciding) == {label for label, r in kept.items() if r <= least * (1 + 2e-5)}
    said = " ".join(explained.sentences)
    assert f"decided by {listed(explained.deciding)}, the moments that have least" in said
    assert share(least) in said


def test_a_given_split_is_told_what_it_breaks_and_a_move_that_betters_it() -> None:
    question = problem("geometric_mean")
    split = {"a": 1.0, "b": 0.6, "c": 0.7, "d": 1.0, "e": 0.5, "f": 2.2}
    explained = bo.explain(question.allocation_from(split))
    assert all(limit.price is None and limit.gain is None for limit in explained.limits)
    assert {one.constraint for one in explained.broken} >= {"epsilon of group block", "floor of a x d"}
    move = explained.exchange
    assert move is not None
    moved = dict(split)
    moved[move.giver] -= move.step
    moved[move.taker] += move.step
    after = value(question.arrays, np.array(list(moved.values())))
    assert move.after == pytest.approx(after)
    assert f"would raise the objective by {share(after / move.before - 1)}" in explained.sentences[-1]
    assert "was given, not optimized" in " ".join(explained.sentences)
    assert len(bo.judge(question, moved, quick=True).broken) <= len(explained.broken)
    even = bo.explain(bo.uniform(question.with_fields(attributes=free(question), groups=[])))
    assert even.sentences[0] == "The budget is split evenly: each of six attributes has epsilon 1."


def test_a_split_with_a_gap_says_how_far_it_may_be_off() -> None:
    question = problem(
        "geometric_mean", groups=[], moments=[one.with_fields(floor=None, ceiling=None) for one in MOMENTS]
    )
    split = {"a": 1.2, "b": 0.6, "c": 0.7, "d": 1.5, "e": 0.5, "f": 1.5}
    judged = bo.judge(question, split)
    assert judged.relative_gap is not None
    explained = bo.explain(judged.allocation)
    assert judged.value is not None
    assert judged.bound is not None
    behind = 1 - judged.value / judged.bound  # of the best, so that it is never above 100 %
    assert explained.behind == pytest.approx(behind, abs=1e-6)
    assert f"may be up to {share(explained.behind, 'up')} behind the best" in " ".join(explained.sentences)
    for limit in explained.limits:
        # what the best split would gain, not what this one leaves
        again = bo.solve(without(question, limit.kind, limit.name)).objective.value
        assert again is not None
        assert judged.bound is not None
        assert limit.lowest_change is not None
        assert limit.lowest_change <= again / judged.bound - 1 + 3e-6


def free(question: bo.Problem) -> list[bo.Attribute]:
    return [bo.Attribute(one.name, categories=one.cardinality) for one in question.attributes]


def test_the_only_floor_of_a_least_total_costs_all_but_the_minima() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute("a", categories=3, epsilon_min=0.25), bo.Attribute("b", categories=3)],
        moments=[bo.CrossMoment("a", "b", floor=0.3)],
        objective="min_epsilon",
    )
    best = bo.solve(question)
    explained = bo.explain(best)
    floor = next(limit for limit in explained.limits if limit.kind == "floor")
    assert floor.highest_change == pytest.approx(0.25 / best.spent_epsilon - 1, abs=1e-5)
    assert explained.more_total is None
    text = " ".join(explained.sentences)
    assert (
        f"Dropping the floor on a x b would lower the total by {share(1 - 0.25 / best.spent_epsilon)}."
        in text
    )
    assert " costs nothing: dropping it would bring less than 0.01 %." in text
    assert "because one floor needs it" in text


def test_of_several_levels_the_first_is_explained_and_named() -> None:
    first, *later = MOMENTS[:3]
    question = problem(
        "geometric_mean", moments=[first, *(one.with_fields(level=2) for one in later)], groups=[block(2.6)]
    )
    explained = bo.explain(bo.solve(question))
    assert explained.level == 1
    assert explained.sentences[0] == "All of this is about level 1, the first level of moments."
    parts = {part.name: part for part in explained.parts}
    assert parts["d"].moments == ()
    assert parts["b"].weight_share == 1.0
    alone = question.with_fields(moments=[first, *(one.with_fields(weight=0.0) for one in later)])
    for limit in explained.limits:
        again = without(alone, limit.kind, limit.name)
        change = value(again.arrays, bo.solve(again).epsilons) / value(
            alone.arrays, explained.allocation.epsilons
        )
        assert limit.lowest_change is not None
        assert limit.highest_change is not None
        assert limit.lowest_change - 3e-6 <= change - 1 <= limit.highest_change + 3e-6


def test_an_allocation_from_a_file_needs_its_problem_where_that_has_pins(tmp_path: Path) -> None:
    question, best = problem("min_variance"), optimum("min_variance")
    best.write(tmp_path / "a.json")
    read = bo.Allocation.read(tmp_path / "a.json")
    with pytest.raises(bo.InputError, match="carries no pins or bounds"):
        bo.explain(read)
    assert bo.explain(read, question).sentences == told("min_variance").sentences
    with pytest.raises(bo.InputError, match="not the one"):
        bo.explain(best, problem("max_min"))
    with pytest.raises(bo.InputError, match="time_limit"):
        bo.explain(best, time_limit=-1)


def test_without_time_nothing_is_claimed() -> None:
    explained = bo.explain(optimum("geometric_mean"), time_limit=1e-9)
    assert all(limit.gain is None for limit in explained.limits)
    assert "What eight limits cost was not shown in time." in explained.sentences
    assert not any("Dropping" in sentence or "A total" in sentence for sentence in explained.sentences)


def test_every_form_says_the_same(tmp_path: Path) -> None:
    explained = told("geometric_mean")
    document = json.loads(json.dumps(explained.to_dict(), allow_nan=False))
    assert document["sentences"] == list(explained.sentences)
    assert [one["name"] for one in document["parts"]] == list("abcdef")
    assert document["limits"] == explained.rows()
    assert document["more_total"]["raised"] == 7.0
    assert " ".join(str(explained).split()) == " ".join(" ".join(explained.sentences).split())
    explained.write(tmp_path / "limits.csv")
    assert len((tmp_path / "limits.csv").read_text().splitlines()) == 9


def test_names_that_look_like_markup_or_sentences_are_printed_as_they_are() -> None:
    names = ["[bold]x[/bold]", "<b>y</b>", "z. Nothing matters"]
    question = bo.Problem(
        attributes=[
            bo.Attribute(names[0], categories=9),
            *(bo.Attribute(name, categories=2) for name in names[1:]),
        ],
        moments=[bo.CrossMoment(names[0], names[1], floor=0.45), bo.CrossMoment(*names[1:])],
        total_epsilon=5.0,
        objective="max_min",
    )
    text = " ".join(str(bo.explain(bo.solve(question))).split())
    assert "goes to [bold]x[/bold] because one moment needs it" in text
    assert "he floor on [bold]x[/bold] x <b>y</b>" in text
    assert "z. Nothing matters" in text


@pytest.mark.filterwarnings("error")
def test_a_split_that_keeps_nothing_of_a_moment_is_explained_without_a_warning() -> None:
    question = problem("max_min")
    nothing = question.allocation_from({**dict.fromkeys("abcdf", 0.0), "e": 0.5, "c": 0.2})
    assert len(bo.explain(nothing).deciding) > 1


def test_a_bound_that_only_the_allocation_states_proves_nothing() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abc"],
        moments=[bo.CrossMoment("a", "b", weight=3), bo.CrossMoment("b", "c")],
        total_epsilon=3.0,
    )
    even, best = bo.uniform(question), bo.solve(question)
    assert even.objective.value is not None
    assert best.objective.value is not None
    stated = replace(
        even.objective, bound=even.objective.value * (1 + 1e-7), relative_gap=1e-7, status="optimal"
    )
    # how far behind takes a search, which a busy machine may not end in the ten seconds of the default
    explained = bo.explain(replace(even, objective=stated), question, time_limit=600.0)
    assert not explained.optimal
    assert explained.behind == pytest.approx(1 - even.objective.value / best.objective.value, abs=1e-3)
    assert "behind the best" in " ".join(explained.sentences)
    more = bo.solve(question.with_total(4.0)).objective.value
    assert more is not None
    assert explained.more_total is not None
    assert explained.more_total.lowest_change <= more / best.objective.value - 1 + 1e-6


def test_floors_of_moments_that_share_a_label_are_dropped_one_at_a_time() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in ("a x b", "c", "a", "b x c")],
        moments=[
            bo.CrossMoment("a x b", "c", floor=0.3),
            bo.CrossMoment("a", "b x c", weight=5, floor=0.01),
        ],
        total_epsilon=4.0,
        objective="geometric_mean",
    )
    first, second = bo.explain(bo.solve(question)).limits
    assert first.name != second.name
    assert first.lowest_change is not None
    assert second.highest_change is not None
    assert first.lowest_change > 0.01
    assert second.highest_change < 1e-4


def test_a_floor_without_a_weight_is_a_need() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute("a", categories=8), bo.Attribute("c", categories=2)],
        moments=[bo.CrossMoment("a", weight=0, floor=0.9), bo.CrossMoment("c")],
        total_epsilon=6.0,
        objective="geometric_mean",
    )
    text = " ".join(bo.explain(bo.solve(question)).sentences)
    assert "goes to a because the floor on a holds it up" in text


def test_a_share_is_of_what_is_spent_where_a_total_is_left_over() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute("a", categories=4), bo.Attribute("b", categories=2, epsilon_max=1.0)],
        moments=[bo.CrossMoment("a"), bo.CrossMoment("b")],
        total_epsilon=40.0,
        objective="max_min",
    )
    best = bo.solve(question)
    text = " ".join(bo.explain(best).sentences)
    assert best.spent_epsilon < 39
    assert " of what is spent goes to a" in text
    assert f"Of the total, {40 - best.spent_epsilon:.4g} stays unspent." in text
    assert "of the budget goes to" not in text
