"""The maps of a channel against dense matrices: exact in fractions, along several axes as Kronecker's."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, along_all, channel_of, uniform
from budget_opt.mechanisms.sampler import sampler_for
from tests.estimators.release_model import allocation_like

STEPS = [Channel.spread, Channel.corrected, Channel.unbiased, Channel.expected]


@st.composite
def exact_channels(draw: st.DrawFn) -> Channel:
    """Retention and background as fractions: those of a sampler, or any."""
    r = draw(st.integers(2, 6))
    if draw(st.booleans()):
        sampler = sampler_for(draw(st.floats(0.01, 8)), r)
        assert sampler is not None
        kept, shares = sampler.retention, [Fraction(1, r)] * r
    else:
        kept = draw(st.fractions(Fraction(1, 50), 1, max_denominator=1000))
        parts = draw(st.lists(st.integers(1, 50), min_size=r, max_size=r))
        shares = [Fraction(part, sum(parts)) for part in parts]
    return Channel("a", kept, np.array(shares, dtype=object))  # type: ignore[arg-type]  # any field will do


@st.composite
def channels(draw: st.DrawFn) -> Channel:
    """Retention and background as doubles."""
    r = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    background = uniform(r) if draw(st.booleans()) else rng.dirichlet(np.full(r, 3.0))
    return Channel("a", draw(st.floats(0.05, 1)), background)


def identity(r: int) -> Any:
    return np.array([[Fraction(int(x == y)) for y in range(r)] for x in range(r)], dtype=object)


def dense(one: Channel) -> Any:
    """P, rows by the truth."""
    r = one.cardinality
    unit = identity(r) if one.background.dtype == object else np.eye(r)
    return one.retention * unit + (1 - one.retention) * one.background[None, :]


@settings(max_examples=15)
@given(exact_channels())
def test_r29_the_inverse_is_exact_in_fractions(one: Channel) -> None:
    """sum_y P[x, y] Pinv[y, z] = I, lambda from the sampler's integers or any, the background too."""
    unit = identity(one.cardinality)
    matrix = one.spread(unit, axis=1)
    assert np.array_equal(matrix, dense(one))
    inverse = one.corrected(unit, axis=1)
    assert np.array_equal(matrix @ inverse, unit)
    assert np.array_equal(inverse @ matrix, unit)
    assert np.array_equal(inverse.sum(axis=1), np.ones(one.cardinality))
    # the functions that are unbiased, and their second moments, are those of this inverse
    assert np.array_equal(one.unbiased(unit, axis=0), inverse)
    assert np.array_equal(one.expected(inverse, axis=0), unit)
    assert np.array_equal(one.squared(unit, axis=1), inverse**2)


@settings(max_examples=15)
@given(st.lists(exact_channels(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_r29_totals_of_corrected_tables_are_exact_in_fractions(several: list[Channel], random: Any) -> None:
    """Also the margins: correcting a table and then adding up an axis is correcting the margin."""
    shape = [one.cardinality for one in several]
    counts = [Fraction(random.randint(0, 50)) for _ in range(math.prod(shape))]
    table: Any = np.array(counts, dtype=object).reshape(shape)
    corrected = along_all(Channel.corrected, several, table)
    assert corrected.sum() == table.sum()
    assert np.array_equal(along_all(Channel.spread, several, corrected), table)
    margin = along_all(Channel.corrected, several[1:], table.sum(axis=0))
    assert np.array_equal(corrected.sum(axis=0), margin)


@settings(max_examples=15)
@given(st.lists(channels(), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_r29_along_the_axes_is_the_dense_kronecker_matrix(several: list[Channel], seed: int) -> None:
    shape = [one.cardinality for one in several]
    table = np.random.default_rng(seed).multinomial(1000, np.full(math.prod(shape), 1 / math.prod(shape)))
    big = reduce(np.kron, [dense(one) for one in several])
    inverse = reduce(np.kron, [np.linalg.inv(dense(one)) for one in several])
    expected = {
        "spread": table @ big,
        "corrected": table @ inverse,
        "unbiased": inverse @ table,
        "expected": big @ table,
        "squared": table @ inverse**2,
    }
    size = 1000 * math.prod(1 / one.retention for one in several) ** 2
    for step in (*STEPS, Channel.squared):
        found = along_all(step, several, table.reshape(shape).astype(np.float64))
        assert found.ravel() == pytest.approx(expected[step.__name__], abs=1e-12 * size), step.__name__


@given(st.lists(channels(), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_correcting_a_table_and_making_a_function_unbiased_are_adjoint(
    several: list[Channel], seed: int
) -> None:
    """The reason that any linear function of a corrected table is a mean of numbers a report."""
    rng = np.random.default_rng(seed)
    shape = [one.cardinality for one in several]
    table, function = rng.random(shape), rng.normal(size=shape)
    size = math.prod(1 / one.retention for one in several) * table.size
    left = np.sum(function * along_all(Channel.corrected, several, table))
    right = np.sum(along_all(Channel.unbiased, several, function) * table)
    assert left == pytest.approx(right, abs=1e-12 * size)
    left = np.sum(function * along_all(Channel.spread, several, table))
    right = np.sum(along_all(Channel.expected, several, function) * table)
    assert left == pytest.approx(right, abs=1e-12 * size)


@pytest.mark.parametrize("step", [*STEPS, Channel.squared])
def test_a_map_leaves_what_it_is_given_and_further_axes_alone(step: Any) -> None:
    rng = np.random.default_rng(3)
    several = [Channel("a", 0.3, uniform(3)), Channel("b", 0.6, rng.dirichlet(np.ones(4)))]
    table = rng.random((3, 4, 5))
    before = table.copy()
    found = along_all(step, several, table)
    assert np.array_equal(table, before)
    for k in range(5):
        assert found[..., k] == pytest.approx(along_all(step, several, table[..., k]), rel=1e-12)


def test_r29_totals_are_kept_to_rounding_in_doubles() -> None:
    rng = np.random.default_rng(4)
    several = [Channel(str(m), 0.2 + 0.05 * m, uniform(4)) for m in range(6)]
    table = rng.integers(0, 1000, (4,) * 6).astype(np.float64)
    corrected = along_all(Channel.corrected, several, table)
    assert corrected.sum() == pytest.approx(table.sum(), rel=1e-9)
    assert along_all(Channel.spread, several, table).sum() == pytest.approx(table.sum(), rel=1e-12)


def test_a_public_column_is_left_as_it_is() -> None:
    table = np.arange(6.0).reshape(2, 3)
    for step in (*STEPS, Channel.squared):
        assert np.array_equal(step(Channel("wave", 1.0, uniform(3)), table, 1), table)


@pytest.mark.parametrize("retention", [0.0, -0.1, 1.1, math.nan])
def test_a_retention_that_nothing_can_be_divided_by_is_refused(retention: float) -> None:
    with pytest.raises(InputError, match=r"the retention is .*, must be in \(0, 1\]"):
        Channel("a", retention, uniform(2))


def test_r29_lambda_is_that_of_the_samplers_integers() -> None:
    smoker, region, silent = allocation_like().attributes
    assert channel_of(region).retention == float(region.column_sampler.retention)
    assert channel_of(smoker).cardinality == 2
    with pytest.raises(InputError, match=r"'silent': epsilon is 0\.0, so nothing about it was released"):
        channel_of(silent)
