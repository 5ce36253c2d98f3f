"""The implemented matrix in doubles: on the stated side of the exact fractions, with rows that sum to one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms.doubles import UNITS, informs, nearest_matrix, other_in_units, truth_at_most
from budget_opt.mechanisms.sampler import Sampler, sampler_for

epsilons = st.one_of(st.floats(1e-6, 50), st.floats(-6, 1.69).map(lambda x: 10.0**x))
samplers = st.builds(
    sampler_for, epsilons, st.integers(2, 300), least_bits=st.sampled_from((32, 64, 128))
).filter(lambda sampler: sampler is not None)


@given(sampler=samplers)
def test_the_truth_is_rounded_down_and_by_less_than_one_step(sampler: Sampler) -> None:
    below = truth_at_most(sampler)
    assert Fraction(below) <= sampler.truth_probability < Fraction(math.nextafter(below, 2.0))


@given(sampler=samplers)
def test_entries_in_units_differ_by_less_than_a_unit_and_never_lose_privacy(sampler: Sampler) -> None:
    units = other_in_units(sampler)
    assert units is not None
    off = Fraction(units, UNITS)
    assert 0 <= off - sampler.other_probability < Fraction(1, UNITS)
    truth = 1 - (sampler.cardinality - 1) * off
    assert 1 < truth / off <= sampler.likelihood_ratio
    assert Fraction(float(truth)) == truth
    assert Fraction(float(off)) == off


@given(sampler=samplers, seed=st.integers(0, 9))
def test_entries_in_units_sum_to_exactly_one_in_any_order(sampler: Sampler, seed: int) -> None:
    units, r = other_in_units(sampler), sampler.cardinality
    assert units is not None
    row = np.full(r, units / UNITS)
    row[seed % r] = (UNITS - (r - 1) * units) / UNITS
    np.random.default_rng(seed).shuffle(row)
    assert np.cumsum(row)[-1] == row.sum() == math.fsum(row) == 1.0


@pytest.mark.parametrize(("epsilon", "r"), [(1e-17, 2), (1e-16, 7)])
def test_what_doubles_cannot_tell_from_a_uniform_draw_has_no_units(epsilon: float, r: int) -> None:
    sampler = sampler_for(epsilon, r)
    assert sampler is not None
    assert other_in_units(sampler) is None
    assert not informs(truth_at_most(sampler), r)


def test_a_third_is_compared_exactly() -> None:
    assert not informs(1 / 3, 3)
    assert informs(math.nextafter(1 / 3, 1.0), 3)


@given(sampler=samplers)
def test_the_nearest_matrix_has_the_nearest_doubles(sampler: Sampler) -> None:
    matrix = nearest_matrix(sampler)
    off = ~np.eye(sampler.cardinality, dtype=bool)
    assert set(np.diagonal(matrix)) == {float(sampler.truth_probability)}
    assert set(matrix[off]) == {float(sampler.other_probability)}
    assert np.abs(matrix.sum(axis=1) - 1).max() <= sampler.cardinality * 2**-53
