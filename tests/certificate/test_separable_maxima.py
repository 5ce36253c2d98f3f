"""The separable maximum behind the convex certificates, against direct evaluation."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate.lagrangian import maxima
from budget_opt.mechanisms import randomized_response as rr

SIZES = st.one_of(st.just(0.0), st.floats(-9, 9).map(lambda power: 10.0**power))


def _found(c: float, g: float, nu: float, r: float, low: float, high: float) -> tuple[float, float, float]:
    found = maxima(*(np.array([x]) for x in (c, g, nu, r, low, high)))
    return float(found.value[0]), float(found.epsilon[0]), float(found.allowance[0])


def _exact(c: float, g: float, nu: float, r: float, e: float) -> mp.mpf:
    with mp.workdps(60):
        d = mp.expm1(mp.mpf(e))
        return c * mp.log1p(-r / (d + r)) - g * mp.log(r / d) - nu * mp.mpf(e)


@settings(max_examples=40)
@given(
    c=SIZES,
    g=SIZES,
    nu=SIZES,
    r=st.floats(2, 1e6),
    powers=st.tuples(st.floats(-9, 2), st.floats(0, 3)),
    at=st.floats(0, 1),
)
def test_no_epsilon_does_better_than_the_maximum_and_its_allowance(
    c: float, g: float, nu: float, r: float, powers: tuple[float, float], at: float
) -> None:
    low = 10.0 ** powers[0]
    high = low + 10.0 ** powers[1]
    value, _, allowance = _found(c, g, nu, r, low, high)
    for e in (low, high, low * (high / low) ** at):
        assert _exact(c, g, nu, r, e) <= mp.mpf(value) + mp.mpf(allowance)


@settings(max_examples=40)
@given(c=SIZES, g=SIZES, nu=SIZES, r=st.floats(2, 1e6), powers=st.tuples(st.floats(-9, 2), st.floats(0, 3)))
def test_the_maximum_is_attained_at_the_epsilon_that_comes_with_it(
    c: float, g: float, nu: float, r: float, powers: tuple[float, float]
) -> None:
    low = 10.0 ** powers[0]
    high = low + 10.0 ** powers[1]
    value, epsilon, allowance = _found(c, g, nu, r, low, high)
    assert low <= epsilon <= high
    assert abs(_exact(c, g, nu, r, epsilon) - mp.mpf(value)) <= mp.mpf(allowance)
    assert allowance <= 1e-12 * (1 + abs(value) + c * 30 + g * (high + 30) + nu * high)


def test_the_maximum_is_not_below_a_fine_grid_for_any_signs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(400):
        c, g, nu = 10.0 ** rng.uniform(-1, 1, 3) * (rng.random(3) < 0.8)
        c *= rng.choice([1.0, 1.0, -1.0])
        r, low = float(rng.integers(2, 30)), 10.0 ** rng.uniform(-4, 0)
        high = low + 10.0 ** rng.uniform(-1, 1)
        value, _, allowance = _found(c, g, nu, r, low, high)
        grid = np.geomspace(low, high, 400)
        tried = c * rr.log_retention(grid, r) - g * rr.log_tau(grid, r) - nu * grid
        assert value + allowance >= np.max(tried) - 1e-12
        assert value <= np.max(tried) + 1e-3 * (abs(c) + g + nu)


def test_a_ceilings_pull_is_infinite_only_where_epsilon_may_be_zero() -> None:
    assert _found(-1.0, 0.0, 0.1, 4.0, 0.0, 3.0)[0] == np.inf
    assert np.isfinite(_found(-1.0, 0.0, 0.1, 4.0, 1e-9, 3.0)[0])


@pytest.mark.parametrize(("c", "g", "nu"), [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)])
def test_without_a_price_all_that_is_allowed_is_taken(c: float, g: float, nu: float) -> None:
    _, epsilon, _ = _found(c, g, nu, 4.0, 0.5, 3.0)
    assert epsilon == (3.0 if c + g > 0 else 0.5)


def test_without_an_upper_bound_a_paid_attribute_still_has_a_finite_maximum() -> None:
    value, epsilon, _ = _found(1.0, 0.0, 0.1, 4.0, 0.0, np.inf)
    assert np.isfinite(value)
    assert 0 < epsilon < 10
