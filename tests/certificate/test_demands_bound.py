"""The bound of the least total against 60 digits: never above the exact dual function, and close to it."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate.demands import Demands, Pressures, least_total_bound
from tests.solvers.random_problems import build

logs = st.floats(-6, 6)


@settings(max_examples=25)
@given(
    r=st.integers(2, 10**6),
    log_ab=st.tuples(logs, logs),
    log_prices=st.tuples(logs, st.none() | logs, st.none() | logs),
    box=st.tuples(st.sampled_from([0.0, 1e-3, 2.0]), st.sampled_from([3.0, 200.0, np.inf])),
    cost=st.sampled_from([0.0, 1.0]),
)
def test_one_attribute_against_60_digits(
    r: int,
    log_ab: tuple[float, float],
    log_prices: tuple[float, float | None, float | None],
    box: tuple[float, float],
    cost: float,
) -> None:
    a, b = (float(np.exp(value)) for value in log_ab)
    budget, kept, spread = (0.0 if value is None else float(np.exp(value)) for value in log_prices)
    arrays = build(
        "min_epsilon",
        [r],
        [[0]],
        None,
        [([0], 250.0)],
        lower=[box[0]],
        upper=[box[1]],
        floor=[0.5],
        spread_a=[a],
        spread_b=[b],
    )
    demands = Demands(arrays, np.array([1.0]))
    pressures = Pressures(np.array([kept]), np.array([spread]), np.array([budget]))
    bound = least_total_bound(demands, pressures, cost)
    with mpmath.workdps(60):
        low, high = mpmath.mpf(box[0]), mpmath.mpf(min(box[1], 250.0))
        fixed = kept * mpmath.log(mpmath.mpf(0.5)) - spread - budget * 250

        def dual(e: mpmath.mpf) -> mpmath.mpf:
            tau = r / mpmath.expm1(e)
            spent = (cost + budget) * e + kept * mpmath.log1p(tau)
            return spent + spread * mpmath.log1p(tau * (a + b + tau * b))

        # convex in epsilon; where nothing pulls, epsilon = low is the minimum
        start = low if low > 0 else mpmath.mpf(10) ** -30
        exact = (cost + budget) * low if kept == spread == 0 else _least(dual, start, high)
        exact += fixed
    size = abs(float(exact)) + abs(float(fixed)) + 1e-12
    assert bound <= float(exact) + 1e-15 * size
    assert float(exact) - bound <= 1e-9 * size


def _least(function: Callable[[mpmath.mpf], mpmath.mpf], low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
    """The least value of a convex function of log epsilon's range, by golden sections."""
    golden = (mpmath.sqrt(5) - 1) / 2
    first, second = high - golden * (high - low), low + golden * (high - low)
    at_first, at_second = function(first), function(second)
    for _ in range(100):
        if at_first <= at_second:
            high, second, at_second = second, first, at_first
            first = high - golden * (high - low)
            at_first = function(first)
        else:
            low, first, at_first = first, second, at_second
            second = low + golden * (high - low)
            at_second = function(second)
    return min(function(point) for point in (low, high))
