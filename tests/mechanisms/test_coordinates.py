"""epsilon in the coordinates of solvers and bounds: logit lambda, log lambda, lambda; against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms import inverse, log_lambda, logit
from budget_opt.mechanisms import randomized_response as rr

mpf = mpmath.mpf
cardinalities = st.one_of(st.integers(2, 10**6), st.floats(2, 1e6))
TIGHT = 2e-14
"""Relative; sums of a few logarithms of size up to 700."""


def exact_epsilon(kept: mpmath.mpf, r: float) -> mpmath.mpf:
    return mpmath.log(1 + mpf(r) * kept / (1 - kept))


def assert_close(found: float, wanted: mpmath.mpf, scale: float = 1.0) -> None:
    assert abs(mpf(float(found)) - wanted) <= TIGHT * scale * abs(wanted) + mpf("1e-300"), (found, wanted)


@given(v=st.floats(-680, 680), r=cardinalities)
def test_in_logit_lambda_epsilon_and_log_lambda_have_their_values_and_slopes(v: float, r: float) -> None:
    scale = 1 + abs(v) / 10
    with mpmath.workdps(700):
        kept = 1 / (1 + mpmath.exp(-mpf(v)))
        odds = mpf(r) * mpmath.exp(mpf(v))
        share = odds / (1 + odds)
        assert_close(logit.epsilon(v, r), exact_epsilon(kept, r), scale)
        assert_close(logit.epsilon_slope(v, r), share, scale)
        assert_close(logit.epsilon_curvature(v, r), share * (1 - share), scale)
        assert_close(logit.log_retention(v), mpmath.log(kept), scale)
        assert_close(logit.log_retention_slope(v), 1 - kept, scale)
        assert_close(logit.log_retention_curvature(v), -kept * (1 - kept), scale)


@given(exponent=st.floats(-300, 2.5), r=cardinalities)
def test_logit_lambda_is_that_of_epsilon(exponent: float, r: float) -> None:
    epsilon = 10.0**exponent
    v = float(logit.logit(epsilon, r))
    assert v == -float(rr.log_tau(epsilon, r))
    assert float(logit.epsilon(v, r)) == pytest.approx(epsilon, rel=1e-12)


def test_logit_lambda_takes_its_limits() -> None:
    assert float(logit.logit(0.0, 5)) == -np.inf
    assert float(logit.epsilon(-np.inf, 5)) == 0.0


@given(x=st.one_of(st.floats(-680, -1e-12), st.floats(-12, 0).map(lambda k: -(10.0**k))), r=cardinalities)
def test_in_log_lambda_epsilon_and_log_tau_have_their_values_and_slopes(x: float, r: float) -> None:
    scale = 1 + abs(x) / 10
    with mpmath.workdps(700):
        kept = mpmath.exp(mpf(x))
        w = 1 / (1 - kept)
        odds = mpf(r) * kept * w
        share = odds / (1 + odds)
        first, second = log_lambda.epsilon_slopes(x, r)
        # d odds / d x = odds w, d w / d x = lambda w^2
        assert_close(log_lambda.epsilon(x, r), exact_epsilon(kept, r), scale)
        assert_close(log_lambda.complement_inverse(x), w)
        assert_close(first, share * w, scale)
        assert_close(second, share * (1 - share) * w**2 + share * kept * w**2, scale)
        value, slope, bend = log_lambda.log_tau(x)
        terms = max(abs(mpmath.log(w)), abs(mpf(x)))
        assert abs(mpf(float(value)) - mpmath.log((1 - kept) / kept)) <= TIGHT * terms
        assert_close(slope, -w)
        assert_close(bend, -kept * w**2)


@given(z=st.floats(0, 1, exclude_max=True), r=cardinalities)
def test_in_lambda_the_slope_of_epsilon_is_r_over_p(z: float, r: float) -> None:
    p, slope = inverse.slope_product(z, r)
    with mpmath.workdps(60):
        a, kept = mpf(r) - 1, mpf(z)
        assert_close(p, (1 + a * kept) * (1 - kept))
        assert abs(mpf(float(slope)) - (a - 1 - 2 * a * kept)) <= TIGHT * (1 + a)
        # d epsilon / d z = a / (1 + a z) + 1 / (1 - z) = r / p
        assert_close(r / p, a / (1 + a * kept) + 1 / (1 - kept))


@given(z=st.floats(0, 1, exclude_max=True), r=cardinalities)
def test_the_upper_point_is_the_larger_lambda_of_its_product(z: float, r: float) -> None:
    p, slope = inverse.slope_product(z, r)
    found = float(inverse.upper_point(p, r))
    top = (r - 2) / (2 * (r - 1))
    assert top - 1e-7 <= found <= 1 + 1e-15
    if slope < -1e-3 * r:  # clearly on the falling side
        assert found == pytest.approx(z, rel=1e-9)
    highest = float(inverse.slope_product(top, r)[0])
    assert float(inverse.upper_point(2 * highest, r)) == pytest.approx(top)
