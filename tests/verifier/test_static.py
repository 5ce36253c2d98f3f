"""`verify`: a sound allocation passes, every broken promise fails its own check (issue 2, item 8).

What `Allocation.read` would refuse is built with `dataclasses.replace`, as a careless program would.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from budget_opt.allocation import Allocation, uniform
from budget_opt.allocation.document import allocation_of
from budget_opt.errors import VerificationError
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, Group, Provenance
from budget_opt.model.problem import Problem
from budget_opt.verifier.static import verify_allocation, verify_privacy
from tests.strategies import problems
from tests.verifier.sample_allocations import asked, failed, sound, unchecked, with_block, with_outcome


@given(problems())
@settings(max_examples=20)
def test_a_split_that_keeps_its_promises_passes_with_and_without_the_problem(problem: Problem) -> None:
    """Only floors and ceilings may fail: an even split does not aim at them."""
    allocation = uniform(problem)
    wanted = {
        f"{bound} of {moment.label}"
        for moment in allocation.moments
        for bound, kept in (("floor", moment.keeps_floor), ("ceiling", moment.keeps_ceiling))
        if not kept
    }
    assert failed(allocation) == failed(allocation, problem) == wanted
    assert verify_privacy(allocation).holds


def test_every_check_says_what_was_measured_against_what_and_where_it_comes_from() -> None:
    report = verify_allocation(sound(), asked())
    assert report.holds
    claims = [check.claim for check in report.checks]
    assert len(set(claims)) == len(claims)
    for name in ("smoker", "income", "region"):
        assert {f"matrix of {name}: every report is possible", f"loss of {name}"} <= set(claims)
    assert {"epsilon of a record", "epsilon of group health", "bounds of smoker", "bounds of income"} <= set(
        claims
    )
    assert {"floor of smoker x income", "ceiling of smoker x income"} <= set(claims)
    for check in report.checks:
        assert check.source
        assert check.kind == "proved"
        assert str(check).startswith("holds")


# --- a problem with other numbers than the allocation's own copy ---

_BY = "under the problem given"


@pytest.mark.parametrize(
    ("given", "claims"),
    [
        ({"total_epsilon": 2.5}, {f"epsilon spent on a record {_BY}"}),
        ({"total_epsilon": 2.5, "total_delta": 1e-6}, {f"delta of a record at epsilon 2.5 {_BY}"}),
        ({"total_epsilon": 9.0}, set()),
        (
            {"groups": [Group("health", attributes=["smoker", "income"], epsilon_max=1.2)]},
            {f"epsilon spent on group health {_BY}"},
        ),
        ({"groups": []}, set()),
        (
            {"moments": [CrossMoment("smoker", "income", floor=0.8), CrossMoment("income", "region")]},
            {f"floor of smoker x income {_BY}"},
        ),
        (
            {"moments": [CrossMoment("smoker", "income"), CrossMoment("income", "region", ceiling=0.01)]},
            {f"ceiling of income x region {_BY}"},
        ),
    ],
)
def test_the_numbers_of_the_problem_given_are_judged_not_those_of_the_copy(
    given: dict[str, Any], claims: set[str]
) -> None:
    allocation = sound(epsilon=[1.0, 0.9, 1.0])
    assert not failed(allocation, asked())
    found = failed(allocation, asked(**given))
    assert {claim for claim in found if _BY in claim} == claims
    assert "the allocation was made from this problem" in found


def test_the_problem_given_is_named_beside_what_is_spent() -> None:
    report = verify_allocation(sound(epsilon=[1.0, 0.9, 1.0]), asked(total_epsilon=2.5))
    assert f"epsilon spent on a record {_BY}: 2.9, the problem given allows 2.5" in str(report)


# --- broken promises about privacy ---


def test_an_overspent_total_fails_by_the_last_decimal() -> None:
    exactly = sound(asked(total_epsilon=2.7), [1.1, 0.9, 0.7])
    assert failed(exactly) == set()
    over = sound(asked(total_epsilon=2.7), [1.1, 0.9, 0.7000000000000001])
    assert failed(over) == {"epsilon of a record"}
    assert failed(over, asked(total_epsilon=2.7)) == {"epsilon of a record"}
    assert {check.claim for check in verify_privacy(over).failed} == {"epsilon of a record"}


def test_three_tenths_are_not_overspent_by_three_times_a_tenth() -> None:
    problem = Problem(
        attributes=[Attribute(name, categories=2) for name in "abc"],
        moments=[CrossMoment("a")],
        total_epsilon=0.3,
    )
    assert failed(sound(problem, [0.1, 0.1, 0.1]), problem) == set()  # R21


def test_an_overspent_group_fails() -> None:
    over = sound(epsilon=[1.2, 0.9, 0.1])
    assert failed(over, asked()) == {"epsilon of group health", "loss of group health"}


def test_a_loss_above_epsilon_fails() -> None:
    """One count less in q than the ceiling."""
    allocation = sound()
    sampler = allocation["region"].sampler
    assert sampler is not None
    less = Sampler(sampler.cardinality, sampler.bits, sampler.q - 1)
    assert "loss of region" in failed(with_block(allocation, "region", sampler=less))
    assert not verify_privacy(with_block(allocation, "region", sampler=less)).holds
    more = Sampler(sampler.cardinality, sampler.bits, sampler.q + 1)
    assert "loss of region" not in failed(with_block(allocation, "region", sampler=more))


def test_a_loss_without_an_epsilon_fails() -> None:
    assert "loss of smoker" in failed(with_block(sound(), "smoker", epsilon=0.0))


def test_a_sampler_of_another_number_of_categories_fails() -> None:
    """Nothing else is judged: as if it were for five categories its loss would be another."""
    claims = failed(with_block(sound(), "income", sampler=Sampler(2, 32, 2**29)))
    assert claims == {"the sampler of income is for all of its categories, and no others"}


def test_an_attribute_without_a_sampler_has_no_loss() -> None:
    allocation = sound(asked(groups=[], moments=[CrossMoment("smoker")]), [0.5, 0.9, 0.0])
    assert allocation["region"].sampler is None
    assert failed(allocation) == set()


# --- broken promises about usefulness ---


def test_a_missed_floor_and_an_exceeded_ceiling_fail() -> None:
    low = sound(epsilon=[0.1, 0.9, 0.5])
    assert failed(low, asked()) == {"floor of smoker x income"}
    high = sound(asked(groups=[], moments=[CrossMoment("smoker", "income", ceiling=0.05)]))
    assert failed(high) == {"ceiling of smoker x income"}


def test_a_floor_is_missed_by_the_least_amount() -> None:
    allocation = sound()
    kept = allocation.moments[0].retention
    moments = [CrossMoment("smoker", "income", floor=kept), CrossMoment("income", "region", weight=2.0)]
    assert failed(sound(asked(moments=moments), allocation.epsilons.tolist())) == set()
    wanted = float(np.nextafter(allocation["smoker"].retention * allocation["income"].retention, 1)) + 1e-9
    moments[0] = CrossMoment("smoker", "income", floor=wanted)
    assert failed(sound(asked(moments=moments), allocation.epsilons.tolist())) == {"floor of smoker x income"}


def test_a_flattering_retention_is_not_believed() -> None:
    """The product is taken from the integers, whatever the moment says of itself."""
    low = sound(epsilon=[0.1, 0.9, 0.5])
    flattered = replace(
        low, moments=(replace(low.moments[0], exact_retention=Fraction(1, 2)), *low.moments[1:])
    )
    assert failed(flattered) == {
        "floor of smoker x income",
        "stated retention and variance inflation of smoker x income",
    }


@pytest.mark.parametrize("changes", [{"value": 0.9}, {"kind": "max_min"}, {"status": "optimal"}])
def test_a_flattering_objective_is_not_believed(changes: dict[str, Any]) -> None:
    kind = changes.get("kind", "geometric_mean")
    claims = failed(with_outcome(sound(), **changes))
    assert claims - {"the stated relative gap"} == {f"stated {kind}: value, gap and status"}


# --- another question ---


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "another"},
        {"total_epsilon": 3.5},
        {"objective": "max_min"},
        {"row_order": "public"},
        {"dropped": ["person_id"]},
        {"groups": []},
        {"provenance": Provenance(weights="public")},
        {
            "moments": [
                CrossMoment("smoker", "income", floor=0.1),
                CrossMoment("income", "region", weight=2.0),
            ]
        },
    ],
)
def test_an_allocation_of_another_problem_fails(changes: dict[str, Any]) -> None:
    assert failed(sound(), asked(**changes)) >= {
        "the allocation was made from this problem",
        "the allocation states the problem's attributes, moments, groups and columns",
    }


def test_an_allocation_that_claims_a_hash_but_states_other_things_fails() -> None:
    other = asked(row_order="public")
    forged = replace(sound(), question=other)
    assert failed(forged, asked()) == {
        "the allocation states the problem's attributes, moments, groups and columns"
    }


@pytest.mark.parametrize(
    ("epsilon", "claim"),
    [([1.6, 0.3, 0.5], "bounds of smoker"), ([1.0, 0.8999999999999999, 0.5], "bounds of income")],
)
def test_a_split_outside_pins_and_bounds_fails_when_the_problem_is_at_hand(
    epsilon: list[float], claim: str
) -> None:
    assert claim in failed(sound(epsilon=epsilon), asked())


def test_without_the_problem_a_note_says_what_was_not_checked() -> None:
    read = allocation_of(sound().to_dict())
    notes = " ".join(verify_allocation(read).notes)
    unconfirmed = (
        "total",
        "weights, floors and ceilings",
        "groups",
        "public and dropped columns",
        "row order",
    )
    assert all(word in notes for word in unconfirmed)
    assert not any("without the problem" in note for note in verify_allocation(read, asked()).notes)


def test_the_assumptions_of_the_guarantee_are_named() -> None:
    notes = verify_allocation(sound()).notes
    assert any("weights" in note and "without looking at the data" in note for note in notes)
    origins = dict.fromkeys(Provenance.model_fields, "public")
    public = asked(provenance=Provenance(**origins))
    assert any("stated to be public" in note for note in verify_allocation(sound(public)).notes)
    assert any("no bound to check" in note for note in notes)


# --- what a report says ---


def test_a_report_is_strict_json_even_where_a_loss_is_infinite() -> None:
    # five categories cannot each take almost half of the words
    none = unchecked(Sampler, cardinality=5, bits=32, q=2**31 - 5)
    document = verify_privacy(with_block(sound(), "income", sampler=none)).to_dict()
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text) == document
    assert document["holds"] is False
    assert document["releasable"] is True
    checks = {check["claim"]: check for check in document["checks"]}
    assert checks["loss of income"]["measured"] is None


def test_a_report_prints_a_line_a_check_and_the_verdict_first() -> None:
    text = str(verify_allocation(sound(epsilon=[0.1, 0.9, 0.5])))
    lines = text.splitlines()
    assert lines[0] == "allocation survey: 1 of 22 checks FAIL"
    assert sum(line.startswith("  FAILS") for line in lines) == 1
    assert sum(line.startswith("  holds") for line in lines) == 21
    assert "FAILS  floor of smoker x income: 0.0" in text


BREAKS: list[Callable[[Allocation], Allocation]] = [
    lambda a: with_block(a, "region", epsilon=5.0),
    lambda a: with_block(a, "income", sampler=Sampler(2, 32, 2**31 - 5)),
    lambda a: with_outcome(a, value=0.9),
]


@pytest.mark.parametrize("broken", BREAKS)
def test_a_message_holds_only_names_and_numbers_of_the_file(
    broken: Callable[[Allocation], Allocation],
) -> None:
    """No label of a category: a report may be shown to whoever may see the allocation's names."""
    with pytest.raises(VerificationError) as caught:
        verify_allocation(broken(sound()), asked()).require()
    assert not any(label in str(caught.value) for label in ("north", "south", "yes", "0x", "object at"))
