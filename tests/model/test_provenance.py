"""What is stated about the making of a problem, field by field, and what it adds up to."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.model.provenance import (
    FIELDS,
    decimal_text,
    from_the_data,
    not_public,
    price_sentence,
    priced_fields,
    priced_origin,
    provenance_epsilon,
    provenance_sentences,
    used_fields,
)

PLAIN = {
    "attributes": [
        bo.Attribute("a", categories=["x", "y", "z"]),
        bo.Attribute("b", categories=["x", "y", "z"]),
    ],
    "objective": "min_epsilon",
}
ORIGINS = ["public", "unstated", "private data", "private data, epsilon 0.1", "private data, epsilon 2"]


def problem(**fields):
    return bo.Problem(**{"moments": [bo.CrossMoment("a", "b", floor=0.1)], **PLAIN, **fields})


def first(**fields):
    return [bo.Attribute("a", categories=["x", "y", "z"], **fields), PLAIN["attributes"][1]]


def test_the_fields_are_those_of_the_format():
    assert set(FIELDS) == set(bo.Provenance.model_fields)


@pytest.mark.parametrize(
    ("fields", "used"),
    [
        ({}, {"weights", "floors", "domains"}),
        ({"total_epsilon": 2.0}, {"weights", "floors", "domains", "total"}),
        ({"attributes": first(scores=[1, 2, 5])}, {"weights", "floors", "domains", "scores"}),
        ({"attributes": first(marginal=[0.5, 0.25, 0.25])}, {"weights", "floors", "domains", "marginals"}),
        ({"waves": 2}, {"weights", "floors", "domains", "total"}),
    ],
)
def test_only_what_a_problem_uses_is_assumed(fields, used):
    assert set(used_fields(problem(**fields))) == set(not_public(problem(**fields))) == used


@pytest.mark.parametrize(
    "limits",
    [
        {"attributes": first(epsilon=0.5)},
        {"attributes": first(epsilon_min=0.5)},
        {"attributes": first(epsilon_max=0.5)},
        {"groups": [bo.Group("g", attributes=["a"], epsilon_max=1.0)]},
        {"moments": [bo.CrossMoment("a", "b", ceiling=0.5)]},
    ],
)
def test_every_limit_of_a_split_counts_as_a_floor(limits):
    plain = {"moments": [bo.CrossMoment("a", "b")], "total_epsilon": 2.0, "objective": "weighted_sum"}
    assert "floors" not in used_fields(problem(**plain))
    assert "floors" in used_fields(problem(**plain | limits))


@settings(max_examples=30)
@given(st.fixed_dictionaries({field: st.sampled_from(ORIGINS) for field in FIELDS}))
def test_the_sentences_say_for_every_combination_what_is_assumed_private_and_paid(origins):
    asked = problem(total_epsilon=3.0, provenance=bo.Provenance(**origins))
    used = set(used_fields(asked))
    assumed = {
        field
        for field, origin in origins.items()
        if "private" in origin or (field in used and origin != "public")
    }
    private = {field for field, origin in origins.items() if origin == "private data"}
    paid = {field: Fraction(origin.split()[-1]) for field, origin in origins.items() if "epsilon" in origin}
    assert set(not_public(asked)) == assumed
    assert set(from_the_data(asked)) == private
    assert priced_fields(asked) == paid
    assert provenance_epsilon(asked) == sum(paid.values())
    sentences = provenance_sentences(asked)
    about = [sentence for sentence in sentences if "fixed without looking at the data" in sentence]
    unstated = assumed - private - set(paid)
    assert len(about) == bool(unstated)
    # a field is assumed to be fixed without the data, or said to be made from them, and never both
    assert all((field in about[0]) == (field in unstated) for field in FIELDS if about)
    outside = [
        sentence for sentence in sentences if "the allocation itself is outside the guarantee" in sentence
    ]
    assert outside == list(sentences[: len(outside)])
    assert len(outside) == bool(private)
    assert all((field in outside[0]) == (field in private) for field in FIELDS if outside)
    costs = [sentence for sentence in sentences if "which every record pays" in sentence]
    assert len(costs) == bool(paid)
    assert all(f"{field}: epsilon {decimal_text(epsilon)}" in costs[0] for field, epsilon in paid.items())
    price = price_sentence(asked, Fraction(3))
    assert (price is None) == (not paid)
    if price is not None:
        whole = f"the price of a record is {decimal_text(3 + sum(paid.values()))} nats"
        # a price of all would contradict that no epsilon bounds a part of it
        assert (whole in price) == (not private)
        assert ("no epsilon bounds" in price) == bool(private)


def test_epsilons_are_added_as_the_decimals_they_are():
    tenths = dict.fromkeys(("weights", "floors", "scores"), "private data, epsilon 0.1")
    assert provenance_epsilon(problem(provenance=bo.Provenance(**tenths))) == Fraction(3, 10)
    long = {"weights": "private data, epsilon 0.1", "total": "private data, epsilon 0.00000000000000000001"}
    assert provenance_epsilon(problem(provenance=bo.Provenance(**long))) == Fraction(1, 10) + Fraction(
        1, 10**20
    )


def test_one_pilot_of_several_fields_is_stated_once():
    stated = bo.Provenance(weights="private data, epsilon 0.5", marginals="private data, epsilon 0")
    asked = problem(provenance=stated)
    assert provenance_epsilon(asked) == Fraction(1, 2)
    assert from_the_data(asked) == ()
    assert set(priced_fields(asked)) == {"weights", "marginals"}


@settings(max_examples=30)
@given(
    st.fractions(min_value=0, max_value=1000, max_denominator=1), st.integers(0, 30), st.integers(0, 10**9)
)
def test_the_origin_that_is_written_is_the_origin_that_is_read(whole, digits, part):
    epsilon = whole + Fraction(part, 10**digits)
    stated = bo.Provenance(weights=priced_origin(epsilon))
    assert provenance_epsilon(problem(provenance=stated)) == epsilon
