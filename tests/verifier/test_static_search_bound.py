"""A bound that only a search proves is not confirmed by one evaluation, and is not called wrong either.

What a better split refutes is called wrong.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.allocation import Statement, allocate
from budget_opt.allocation.document import allocation_of
from budget_opt.certificate.certify import attained_value
from budget_opt.mechanisms.exact import exact_sum
from budget_opt.verifier.refuting import better_split


def _problem() -> bo.Problem:
    """Five attributes whose root bound is loose; the search closes the gap."""
    names = ["a", "b", "c", "d", "e"]
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=3 + 2 * i) for i, name in enumerate(names)],
        moments=[bo.CrossMoment(x, y, weight=1.0 + (3 * i) % 7) for i, (x, y) in enumerate(pairs)],
        total_epsilon=3.0,
        objective="weighted_sum",
    )


def test_an_optimum_proved_by_a_search_verifies_with_a_note_where_one_evaluation_proves_less() -> None:
    """Its value is still held against the stated bound."""
    allocation = bo.solve(_problem())
    assert allocation.objective.status == "optimal"
    report = bo.verify(allocation, problem=_problem())
    report.require()
    told = any(check.claim.startswith("bound of weighted_sum") for check in report.checks)
    assert told or any("is not confirmed" in claim.why for claim in report.open)
    assert any("is within its bound" in check.claim and check.holds for check in report.checks)


# --- a forged optimum ---


def _pairs(sizes: tuple[int, ...], **fields: object) -> bo.Problem:
    names = [f"a{i}" for i in range(len(sizes))]
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=size) for name, size in zip(names, sizes, strict=True)],
        moments=bo.all_pairs(names),
        objective="weighted_sum",
        **{"total_epsilon": 6.0, **fields},
    )


def _called_optimal(problem: bo.Problem, split: list[float]) -> bo.Allocation:
    """The file agrees with itself: the bound is just above what the split reaches."""
    epsilons = np.array(split)
    bound = attained_value(problem.arrays, epsilons) * (1 + 1e-8)
    statement = Statement(bound, gap_tolerance=1e-6, solver="global search", seconds=1.0)
    return allocate(problem, epsilons, statement)


@pytest.mark.parametrize(
    ("sizes", "split", "fields"),
    [
        ((2, 5, 4, 4, 3, 6), [1.0] * 6, {}),
        # every slope is the same: the best split gives most attributes up
        ((30, 30, 30, 30, 30, 30), [1.0] * 6, {}),
        # the groups leave no other move than within each of them
        (
            (2, 6, 2, 6),
            [1.5] * 4,
            {
                "groups": [
                    {"name": "g", "attributes": ["a0", "a1"], "epsilon_max": 3.0},
                    {"name": "h", "attributes": ["a2", "a3"], "epsilon_max": 3.0},
                ]
            },
        ),
    ],
)
def test_a_split_that_passes_the_bound_refutes_a_forged_optimum(
    sizes: tuple[int, ...], split: list[float], fields: dict[str, object]
) -> None:
    problem = _pairs(sizes, **fields)
    forged = _called_optimal(problem, split)
    assert forged.objective.status == "optimal"
    report = bo.verify(forged, problem=problem)
    (failed,) = report.failed
    assert failed.claim == "bound of weighted_sum"
    # the split that the check names proves it to whoever tries it
    named = dict(part.rsplit(" ", 1) for part in failed.source.split(": ", 1)[1].split(", "))
    better = problem.allocation_from({name: float(epsilon) for name, epsilon in named.items()})
    assert bo.verify(better, problem=problem).holds
    assert better.objective.value is not None
    assert better.objective.value > (forged.objective.bound or 0.0)


@cache
def _six() -> bo.Allocation:
    return bo.solve(_pairs((2, 5, 4, 4, 3, 6)))


def test_what_is_not_confirmed_is_open_and_not_summed_up_as_holding() -> None:
    best = _six()
    report = bo.verify(best, problem=best.question).require()
    (claim,) = (one for one in report.open if "bound" in one.claim)
    assert claim.claim.endswith("of weighted_sum, and that the split is optimal")
    headline = str(report).splitlines()[0]
    assert f"all {len(report.checks)} checks hold, {len(report.open)} claim" in headline
    assert claim.claim in headline
    assert {"claim": claim.claim, "why": claim.why} in report.to_dict()["open"]


def test_a_forged_optimum_that_no_small_move_betters_is_refuted_from_elsewhere() -> None:
    """All on the lighter of two pairs: a little of the budget is worth nothing to the other."""
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in "abcd"],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("c", "d", weight=2.0)],
        total_epsilon=4.0,
        objective="weighted_sum",
    )
    forged = _called_optimal(problem, [2.0, 2.0, 0.0, 0.0])
    assert [check.name for check in bo.verify(forged, problem=problem).failed] == ["bound"]


def test_what_refutes_a_bound_keeps_every_budget_on_the_decimals() -> None:
    """A start that overspends by less than doubles are compared to: its like refutes nothing."""
    problem = _pairs((2, 5, 4, 4, 3, 6))
    start = np.array([1.0 + 5e-12, 1.0, 1.0, 1.0, 1.0, 1.0])
    found = better_split(problem, start, 0.0)
    assert found is None or exact_sum(found.epsilon) <= 6


def test_a_true_optimum_is_never_refuted() -> None:
    for best in (_six(), bo.solve(_pairs((3, 3, 3), total_epsilon=0.5))):
        assert best.objective.bound is not None
        assert better_split(best.question, best.epsilons, best.objective.bound) is None


def test_a_question_that_lost_its_hash_is_open() -> None:
    problem = _pairs((2, 5, 4), total_epsilon=4.0)
    changed = bo.uniform(problem).to_dict() | {"total_epsilon": 400.0}
    report = bo.verify(allocation_of(changed)).require()
    assert {one.claim for one in report.open} >= {"the question in this file"}
    (why,) = (one.why for one in report.open if one.claim == "the question in this file")
    assert "is no fault where the problem has" in why
    for left_out in ("pins", "minima", "maxima", "distortion_max", "groupings", "max_cells"):
        assert left_out in why
    assert "missing or changed" in why
    assert "the question in this file" in str(report).splitlines()[0]
    assert not any("is not all of it" in note for note in report.notes)
    assert not bo.verify(allocation_of(changed), problem=problem).holds
