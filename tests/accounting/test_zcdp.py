"""rho of zCDP: a supremum over all orders, rounded up."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.accounting.composition import epsilon_at, zcdp
from budget_opt.accounting.loss import ThreePoint, three_points
from budget_opt.accounting.zcdp import epsilon_of_zcdp, least_rho, tight_rho
from budget_opt.allocation.allocation import Allocation
from budget_opt.errors import InputError
from tests.accounting.losses import CARDINALITIES, allocation_of, losses, splits


def ratio(point: ThreePoint, order: mpmath.mpf) -> mpmath.mpf:
    """D_alpha / alpha by its definition."""
    truth, other, rest = (
        mpmath.mpf(share.numerator) / share.denominator
        for share in (point.truth, point.other, point.unchanged)
    )
    moment = truth**order * other ** (1 - order) + other**order * truth ** (1 - order) + rest
    return mpmath.log(moment) / (order - 1) / order


@settings(max_examples=30, deadline=None)
@given(
    st.floats(-9.0, 1.8).map(lambda exponent: 10.0**exponent), CARDINALITIES, st.lists(st.floats(-8.0, 9.0))
)
def test_no_order_has_a_larger_ratio_than_rho(
    epsilon: float, cardinality: int, exponents: list[float]
) -> None:
    (point,) = losses((epsilon, cardinality))
    (rho,) = tight_rho([point])
    with mpmath.workdps(80):
        assert all(ratio(point, 1 + mpmath.mpf(10) ** exponent) <= rho for exponent in exponents)
    assert least_rho(point) * (1 - 1e-12) <= rho <= min(point.loss, point.loss**2 / 2 * (1 + 1e-8))


@pytest.mark.parametrize(
    ("epsilon", "cardinality"), [(1.0, 10), (0.1, 300), (5.0, 65536), (1e-4, 10), (3.0, 40)]
)
def test_rho_is_reached_by_an_order_to_one_part_in_a_hundred_million(
    epsilon: float, cardinality: int
) -> None:
    """Golden section around the best of many orders: an independent search in long arithmetic."""
    (point,) = losses((epsilon, cardinality))
    (rho,) = tight_rho([point])
    with mpmath.workdps(50):
        orders = [1 + mpmath.mpf(10) ** exponent for exponent in np.linspace(-6, 8, 200)]
        best = max(range(200), key=lambda i: ratio(point, orders[i]))
        low, high = orders[best - 1], orders[best + 1]
        for _ in range(60):
            left, right = low + (high - low) * 382 / 1000, low + (high - low) * 618 / 1000
            low, high = (left, high) if ratio(point, left) < ratio(point, right) else (low, right)
        assert ratio(point, low) <= rho <= ratio(point, low) * (1 + mpmath.mpf("1.1e-8"))


def test_the_ratio_of_binary_response_is_largest_at_order_one() -> None:
    """There rho = KL = lambda L."""
    for epsilon in (1e-6, 0.3, 2.0, 20.0):
        (point,) = losses((epsilon, 2))
        assert tight_rho([point])[0] == pytest.approx(least_rho(point), rel=2e-9)


def test_rho_of_a_record_is_the_sum_over_its_attributes() -> None:
    allocation = allocation_of((1.0, 4), (0.5, 2), (1.0, 4), (0.0, 3))
    parts = [zcdp(allocation, [name]) for name in ("a0", "a1", "a2", "a3")]
    assert parts[3] == 0
    assert sum(parts) <= zcdp(allocation) * (1 + 1e-15)
    assert zcdp(allocation) == pytest.approx(sum(parts), rel=1e-14)


@settings(max_examples=15, deadline=None)
@given(splits(scales=(1e-3, 0.1, 1.0, 5.0)), st.floats(-30.0, -0.5))
def test_rho_never_promises_more_than_the_exact_convolution(allocation: Allocation, exponent: float) -> None:
    delta = 10.0**exponent
    assert epsilon_of_zcdp(zcdp(allocation), delta) >= epsilon_at(allocation, delta).lower


def test_the_conversion_is_the_least_over_many_orders() -> None:
    for rho in (1e-12, 1e-4, 0.1, 3.0, 500.0):
        for delta in (1e-300, 1e-9, 1e-3, 0.9):
            s = np.geomspace(1e-8, 1e12, 200_001)
            bounds = rho * (1 + s) - np.log1p(1 / s) - (np.log1p(s) + math.log(delta)) / s
            found = epsilon_of_zcdp(rho, delta)
            assert 0 <= found <= max(0.0, float(bounds.min())) * (1 + 1e-9) + 1e-12
            assert found >= max(0.0, float(bounds.min())) * (1 - 1e-6) - 1e-9


def test_the_conversion_is_below_the_one_that_everybody_quotes() -> None:
    """rho + 2 sqrt(rho log(1 / delta)) (Bun and Steinke 2016, Proposition 1.3)."""
    for rho, delta in ((0.5, 1e-6), (4.0, 1e-9), (0.001, 1e-3)):
        assert epsilon_of_zcdp(rho, delta) < rho + 2 * math.sqrt(rho * math.log(1 / delta))


@pytest.mark.parametrize(
    ("rho", "delta"), [(-1.0, 0.1), (math.inf, 0.1), (math.nan, 0.1), (1.0, 0.0), (1.0, 1.0)]
)
def test_a_rho_or_delta_out_of_range_is_named(rho: float, delta: float) -> None:
    with pytest.raises(InputError, match=r"rho: is|delta: is"):
        epsilon_of_zcdp(rho, delta)


def test_nothing_released_costs_nothing() -> None:
    assert tight_rho(three_points(allocation_of((0.0, 2)))) == []
    assert epsilon_of_zcdp(0.0, 1e-6) == 0
