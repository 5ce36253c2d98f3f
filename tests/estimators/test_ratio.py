"""Ratios: Fieller's interval against its own definition, and the delta method as its limit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budget_opt.estimators.intervals.ratio import ratio_interval, ratio_variance

NUMBERS = st.floats(-3, 3)
SPREADS = st.floats(1e-3, 0.4)


@given(NUMBERS, SPREADS, SPREADS, st.floats(-0.95, 0.95), st.floats(0.5, 3))
def test_the_ends_are_the_ratios_that_are_z_standard_errors_away(
    m: float, a: float, b: float, r: float, z: float
) -> None:
    v, c, d = a * a, r * a * b, b * b
    assume(z * z * d < 0.9)
    ends = ratio_interval(*(np.array(number) for number in (m, v, c, d)), z)
    for end in map(float, ends):
        assert abs(m - end) == pytest.approx(
            z * math.sqrt(v - 2 * end * c + end * end * d), rel=1e-6, abs=1e-9
        )
    low, high = map(float, ends)
    assert low <= m <= high


@given(NUMBERS, SPREADS, SPREADS, st.floats(-0.95, 0.95))
def test_for_small_errors_it_is_the_interval_of_the_delta_method(
    m: float, a: float, b: float, r: float
) -> None:
    numbers = [np.array(number) * 1e-8 for number in (a * a, r * a * b, b * b)]
    m_array = np.array(m)
    half = 2 * math.sqrt(ratio_variance(m_array, *numbers))
    low, high = ratio_interval(m_array, *numbers, 2.0)
    assert float(high) - m == pytest.approx(half, rel=1e-3, abs=1e-12)
    assert m - float(low) == pytest.approx(half, rel=1e-3, abs=1e-12)


def test_a_denominator_that_may_be_0_leaves_every_ratio_possible() -> None:
    numbers = [np.array([0.5, 0.5]), np.array([0.04, 0.04]), np.array([0.0, 0.0]), np.array([0.01, 0.3])]
    low, high = ratio_interval(*numbers, 1.96)
    assert np.isfinite(low[0])
    assert np.isfinite(high[0])
    assert low[1] == -math.inf
    assert high[1] == math.inf


def test_r30_fiellers_interval_covers_where_the_denominator_is_uncertain() -> None:
    """10,000 repetitions at 95 %, with a denominator 5 standard errors from 0: between 94 and 96 %."""
    rng = np.random.default_rng(1)
    error = np.array([[0.04, 0.015], [0.015, 0.04]])
    drawn = rng.multivariate_normal([2.0, 1.0], error, 10_000)
    top, bottom = drawn.T
    low, high = ratio_interval(
        top / bottom, error[0, 0] / bottom**2, error[0, 1] / bottom**2, error[1, 1] / bottom**2, 1.959964
    )
    assert 0.94 <= np.mean((low <= 2.0) & (high >= 2.0)) <= 0.96
