"""The figures of an allocation, of all attributes and of some."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.accounting import delta_at, epsilon_at, privacy_of, sum_loss, summary_line, three_point, zcdp
from budget_opt.allocation.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.tables.printing import at_most
from tests.accounting.losses import allocation_of, splits

MIXED = allocation_of((1.0, 4), (0.5, 2), (0.25, 300), (0.0, 3))


def test_the_loss_is_that_of_the_samplers_integers() -> None:
    point = three_point(MIXED["a0"])
    sampler = MIXED["a0"].sampler
    assert point is not None
    assert sampler is not None
    assert point.truth + 3 * point.other == 1
    assert point.other * 2**sampler.bits == sampler.q
    assert point.loss == MIXED["a0"].loss
    below, above = point.between
    assert mpmath.exp(below) < sampler.likelihood_ratio.numerator / mpmath.mpf(
        sampler.likelihood_ratio.denominator
    )
    assert below < point.loss < above
    assert three_point(MIXED["a3"]) is None


def test_delta_zero_gives_the_sum() -> None:
    found = epsilon_at(MIXED, 0.0)
    assert found.epsilon == sum_loss(MIXED) == MIXED.loss
    assert found.grid == 0
    assert 0 <= MIXED.loss - found.lower <= 1e-12


@settings(max_examples=12, deadline=None)
@given(splits(scales=(1e-6, 0.3, 4.0)), st.floats(-20.0, -0.1), st.floats(0.0, 3.0))
def test_epsilon_falls_as_delta_grows(allocation: Allocation, exponent: float, more: float) -> None:
    delta = 10.0**exponent
    larger = min(0.99, delta * 10.0**more)
    assert epsilon_at(allocation, larger).epsilon <= epsilon_at(allocation, delta).epsilon


@settings(max_examples=12, deadline=None)
@given(splits(scales=(1e-6, 0.3, 4.0)), st.floats(-20.0, -0.1), st.data())
def test_some_attributes_cost_no_more_than_all(
    allocation: Allocation, exponent: float, data: st.DataObject
) -> None:
    names = [attribute.name for attribute in allocation.attributes]
    some = data.draw(st.lists(st.sampled_from(names), unique=True))
    delta = 10.0**exponent
    assert epsilon_at(allocation, delta, some).lower <= epsilon_at(allocation, delta).epsilon
    assert sum_loss(allocation, some) <= sum_loss(allocation)
    assert zcdp(allocation, some) <= zcdp(allocation)


@settings(max_examples=8, deadline=None)
@given(splits(scales=(0.3, 4.0)), st.randoms(use_true_random=False))
def test_the_order_of_the_attributes_does_not_matter(allocation: Allocation, random: Any) -> None:
    names = [attribute.name for attribute in allocation.attributes]
    random.shuffle(names)
    first, second = epsilon_at(allocation, 1e-3), epsilon_at(allocation, 1e-3, names)
    assert first.epsilon == pytest.approx(second.epsilon, rel=1e-9, abs=1e-12)
    assert max(first.lower, second.lower) <= min(first.epsilon, second.epsilon)


def test_delta_is_zero_from_the_sum_on() -> None:
    assert delta_at(MIXED, MIXED.loss).delta == 0
    assert delta_at(MIXED, math.nextafter(MIXED.loss, 0.0)).delta > 0
    assert delta_at(MIXED, 0).delta > delta_at(MIXED, 0.5).delta > 0


def test_an_attribute_that_says_nothing_costs_nothing() -> None:
    assert epsilon_at(MIXED, 1e-6, ["a3"]).epsilon == 0
    assert delta_at(MIXED, 0.0, ["a3"]).delta == 0
    assert zcdp(MIXED, "a3") == 0
    assert sum_loss(MIXED, []) == 0


def test_a_generator_of_names_counts_as_its_list() -> None:
    assert epsilon_at(MIXED, 1e-6, (name for name in ["a0", "a1"])) == epsilon_at(MIXED, 1e-6, ["a0", "a1"])


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2, math.nan, math.inf, "1e-6", None, True])
def test_a_delta_that_is_none_is_named(delta: Any) -> None:
    with pytest.raises(InputError, match="delta: is"):
        epsilon_at(MIXED, delta)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf, "1", None])
def test_an_epsilon_that_is_none_is_named(epsilon: Any) -> None:
    with pytest.raises(InputError, match="epsilon: is"):
        delta_at(MIXED, epsilon)


@pytest.mark.parametrize("names", [["a0", "a0"], ["a9"]])
def test_an_unknown_or_repeated_name_is_named(names: list[str]) -> None:
    with pytest.raises(InputError, match=r"'a0' stands twice|'a9' is not in"):
        sum_loss(MIXED, names)


def test_numbers_of_numpy_are_numbers() -> None:
    assert epsilon_at(MIXED, np.float64(1e-6)) == epsilon_at(MIXED, 1e-6)


def test_all_figures_of_a_record_stand_side_by_side() -> None:
    found = bo.privacy_of(MIXED, delta=1e-4)
    assert found == privacy_of(MIXED, 1e-4)
    assert found.sum == MIXED.loss
    assert found.approximate == epsilon_at(MIXED, 1e-4)
    assert found.rho == zcdp(MIXED)
    assert found.approximate.epsilon <= found.epsilon_from_rho <= found.sum
    assert "epsilon 1.75 for certain" in str(found)
    assert "whole record's" not in str(found)


def test_figures_of_some_attributes_say_what_they_do_not_bound() -> None:
    text = str(privacy_of(MIXED, names=["a0", "a1"]))
    assert "a change of a0, a1 alone" in text
    assert "bounded by the whole record's figures only" in text


def test_one_line_says_epsilon_and_delta_beside_the_sum() -> None:
    many = allocation_of(*[(0.1, 4)] * 40)
    epsilon = epsilon_at(many).epsilon
    assert summary_line(many) == (
        f"Beside the sum, 4 nats for certain: epsilon {at_most(epsilon)} with delta 1e-06 "
        "(exact convolution of the losses)."
    )
    assert epsilon < 3.5
    assert summary_line(allocation_of((1.0, 4))) == (
        "Beside the sum, 1 nat for certain, a delta of 1e-06 buys nothing here: with few attributes the sum "
        "is what counts."
    )


def test_an_allocation_with_a_delta_answers_for_its_own_and_has_two_guarantees() -> None:
    many = allocation_of(*[(0.1, 4)] * 40)
    own = replace(many, question=many.question.with_fields(total_epsilon=3.9, total_delta=1e-5))
    assert privacy_of(own).approximate == epsilon_at(many, 1e-5)
    assert privacy_of(own, 1e-7).approximate == epsilon_at(many, 1e-7)
    assert privacy_of(many).approximate == epsilon_at(many, 1e-6)
    assert "buys nothing" not in str(privacy_of(many))
    assert "the delta buys nothing" in str(privacy_of(allocation_of((1.0, 4))))
    assert summary_line(own) == (
        "Two guarantees, both true: the sum, 4 nats for certain, with delta 0; and epsilon "
        f"{at_most(epsilon_at(many, 1e-5).epsilon)} with delta 1e-05 (exact convolution of the losses)."
    )


def test_figures_are_printed_rounded_up() -> None:
    """The nearest four digits, 0.1234, would promise too much."""
    allocation = allocation_of((0.123401, 2))
    assert "epsilon 0.1235 for certain" in str(privacy_of(allocation))
