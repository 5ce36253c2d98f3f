"""Randomized response against DESIGN 2.1 in mpmath, at the extremes, and its laws.

The oracle evaluates the formulas as DESIGN writes them, with so many digits that nothing cancels.
Warnings are errors in every test.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms import inverse, logit
from budget_opt.mechanisms import randomized_response as rr

ULP = 2**-52
UNDERFLOW = 1e-308  # below it a result may lose digits, as every double does
EPSILONS = (
    *(10.0**exponent for exponent in (-300, -200, -155, -154, -100, -20, -16, -15, -8, -5, -3, -2, -1)),
    *(0.3, 0.5, math.log(2), 0.7, 1.0, 1.5, math.log(4), 2.0, 5.0, 10.0, 13.8, 20.0, 36.0, 37.0, 38.0),
    *(50.0, 100.0, 300.0, 600.0, 690.0, 709.0, 710.0, 745.0, 746.0, 1e3, 1e4),
)
CARDINALITIES = (2, 2.5, 7, 256, 1e6, 1e12)

mpf = mpmath.mpf
Formula = Callable[[mpmath.mpf, mpmath.mpf], mpmath.mpf]

# u = exp(epsilon), r the cardinality
EXACT: dict[str, Formula] = {
    "retention": lambda u, r: (u - 1) / (u + r - 1),
    "log_retention": lambda u, r: mpmath.log((u - 1) / (u + r - 1)),
    "log_complement": lambda u, r: mpmath.log(1 - (u - 1) / (u + r - 1)),
    "log_tau": lambda u, r: mpmath.log(r / (u - 1)),
    "tau": lambda u, r: r / (u - 1),
    "log_retention_slope": lambda u, r: r * u / ((u - 1) * (u + r - 1)),
    "log_retention_curvature": lambda u, r: -r * u * (u**2 + r - 1) / ((u - 1) * (u + r - 1)) ** 2,
    "retention_slope": lambda u, r: r * u / (u + r - 1) ** 2,
    "truth_probability": lambda u, r: u / (u + r - 1),
    "other_probability": lambda u, r: 1 / (u + r - 1),
}
# errors in units in the last place of the result; a difference of logarithms that cancels is judged
# against the size of its terms, log r + epsilon, instead
RELATIVE = 6
CANCELLING = {"log_tau", "log_complement"}


def working_digits(epsilon: float) -> int:
    """Digits that survive every subtraction of DESIGN's formulas at this epsilon."""
    return 60 + 2 * int(abs(math.log10(epsilon))) + 2 * int(epsilon / math.log(10))


@functools.lru_cache(maxsize=2 * len(EPSILONS))
def exponential(epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(working_digits(epsilon)):
        return mpmath.exp(mpf(epsilon))


def oracle(name: str, epsilon: float, r: float) -> mpmath.mpf:
    with mpmath.workdps(working_digits(epsilon)):
        return EXACT[name](exponential(epsilon), mpf(r))


def assert_close(found: float, wanted: mpmath.mpf, scale: float, ulps: float, what: object) -> None:
    if abs(wanted) > mpf("1.797e308"):
        assert math.isinf(found), what
        assert (found > 0) == (wanted > 0), what
        return
    error = abs(mpf(float(found)) - wanted)
    assert error <= ulps * ULP * max(abs(wanted), scale) + UNDERFLOW, (what, found, wanted)


@pytest.mark.parametrize("name", EXACT)
def test_every_formula_agrees_with_mpmath_from_epsilon_1e_300_to_1e4(name: str) -> None:
    grid_e, grid_r = np.meshgrid(EPSILONS, CARDINALITIES)
    found = getattr(rr, name)(grid_e, grid_r)
    for e, r, value in zip(grid_e.flat, grid_r.flat, found.flat, strict=True):
        scale = math.log(r) + min(e, 1.0) if name in CANCELLING else 0.0
        assert_close(value, oracle(name, float(e), float(r)), scale, RELATIVE, (name, e, r))


@pytest.mark.parametrize("name", EXACT)
@given(
    exponent=st.floats(-300, 4, exclude_max=True),
    cardinality=st.one_of(st.integers(2, 10**12), st.floats(2, 1e12)),
)
def test_every_formula_agrees_with_mpmath_at_any_point(
    name: str, exponent: float, cardinality: float
) -> None:
    epsilon = 10.0**exponent
    scale = math.log(cardinality) + min(epsilon, 1.0) if name in CANCELLING else 0.0
    found = float(getattr(rr, name)(epsilon, cardinality))
    assert_close(found, oracle(name, epsilon, cardinality), scale, RELATIVE, (name, epsilon, cardinality))


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("retention", 0.0),
        ("log_retention", -math.inf),
        ("log_complement", 0.0),
        ("log_tau", math.inf),
        ("tau", math.inf),
        ("log_retention_slope", math.inf),
        ("log_retention_curvature", -math.inf),
        ("truth_probability", 1 / 7),
        ("other_probability", 1 / 7),
        ("retention_slope", 1 / 7),
    ],
)
def test_at_epsilon_0_every_function_takes_its_limit(name: str, limit: float) -> None:
    assert float(getattr(rr, name)(0.0, 7)) == limit
    assert np.array_equal(getattr(rr, name)(np.array([0, 0]), np.array([7, 7])), [limit, limit])


@pytest.mark.parametrize("name", EXACT)
def test_an_undefined_epsilon_stays_undefined(name: str) -> None:
    """A NaN must not come out as a retention."""
    assert math.isnan(getattr(rr, name)(math.nan, 4))


def test_a_retention_never_reaches_1_before_its_complement_underflows() -> None:
    """lambda rounds to 1.0 from epsilon 37 on; its logarithm and complement still know better."""
    assert float(rr.log_retention(600.0, 4)) < 0
    assert float(rr.log_complement(600.0, 4)) == pytest.approx(math.log(4) - 600, rel=1e-15)
    assert float(rr.tau(600.0, 4)) > 0


def test_table_1_of_ruiz_follows_from_the_retention_of_one_attribute() -> None:
    """Ruiz 2026, Table 1, first configuration; DESIGN 2.9's own example numbers."""
    assert float(rr.retention(1.0, 4)) ** 2 == pytest.approx(0.090, abs=5e-4)
    assert float(rr.retention(2.0, 4)) ** 2 == pytest.approx(0.378, abs=5e-4)
    assert float(rr.retention(2.0, 4)) == pytest.approx(0.615, abs=5e-4)
    assert float(rr.retention(4.0, 16)) == pytest.approx(0.770, abs=5e-4)


epsilons = st.floats(1e-6, 40)
cardinalities = st.one_of(st.floats(2, 1e6), st.floats(2, 1e12))


@given(e=epsilons, step=st.floats(1e-3, 5), r=cardinalities)
def test_retention_rises_with_epsilon_and_falls_with_the_number_of_categories(
    e: float, step: float, r: float
) -> None:
    assert rr.log_retention(e + step, r) > rr.log_retention(e, r)
    assert rr.log_tau(e + step, r) < rr.log_tau(e, r)
    assert rr.log_retention(e, r * (1 + step)) < rr.log_retention(e, r)
    assert rr.truth_probability(e + step, r) >= rr.truth_probability(e, r)


@given(low=epsilons, width=st.floats(1e-2, 20), share=st.floats(0.05, 0.95), r=cardinalities)
def test_log_retention_is_concave_and_log_tau_convex_in_epsilon(
    low: float, width: float, share: float, r: float
) -> None:
    between = low + share * width
    exact_share = (between - low) / width
    for function, sign in ((rr.log_retention, 1), (rr.log_tau, -1)):
        ends = function(np.array([low, low + width]), r)
        chord = (1 - exact_share) * ends[0] + exact_share * ends[1]
        rounding = 8 * ULP * (np.abs(ends).max() + math.log(r) + between + 1)
        assert sign * (function(between, r) - chord) >= -rounding


@given(r=st.floats(2.1, 1e6), share=st.floats(0.02, 0.9))
def test_retention_is_a_sigmoid_that_turns_where_exp_epsilon_is_r_minus_1(r: float, share: float) -> None:
    turn = math.log(r - 1)
    step = share * min(turn, 1.0)
    slope = rr.retention_slope(np.array([turn - step, turn, turn + step]), r)
    assert slope[0] < slope[1]
    assert slope[2] < slope[1]


@given(exponent=st.floats(-300, 2.5), r=cardinalities)
def test_log_retention_determines_epsilon(exponent: float, r: float) -> None:
    epsilon = 10.0**exponent
    log_kept = float(rr.log_retention(epsilon, r))
    found = float(rr.epsilon_for_log_retention(log_kept, r))
    # what rounding log lambda to a double leaves of epsilon
    lost = ULP * abs(log_kept) / float(rr.log_retention_slope(epsilon, r))
    assert abs(found - epsilon) <= lost + 4 * ULP * (epsilon * (math.log(r) + abs(log_kept) + 1))


@given(exponent=st.floats(-300, 4, exclude_max=True), r=st.floats(2, 1e12))
def test_the_slope_of_log_retention_determines_epsilon(exponent: float, r: float) -> None:
    epsilon = 10.0**exponent
    slope = float(rr.log_retention_slope(epsilon, r))
    found = float(rr.epsilon_for_log_retention_slope(slope, r))
    if slope < UNDERFLOW:  # the slope has lost its digits, and at 0 nothing is known but that epsilon is far
        assert found > 700
        return
    curvature = abs(float(rr.log_retention_curvature(epsilon, r)))
    lost = 4 * ULP * slope / curvature if math.isfinite(curvature) else 0.0
    assert abs(found - epsilon) <= 2 * lost + 8 * ULP * epsilon


def test_a_slope_so_small_that_r_by_it_overflows_still_has_its_epsilon() -> None:
    slope = 1e-300
    found = float(rr.epsilon_for_log_retention_slope(slope, 1e11))
    assert found == pytest.approx(math.log(1e11) - math.log(slope), rel=1e-15)
    assert np.all(rr.epsilon_for_log_retention_slope(np.array([0.0, np.inf]), 1e11) == [np.inf, 0.0])


@given(exponent=st.floats(-300, 4, exclude_max=True), r=st.one_of(st.floats(2, 1e12), st.just(1e24)))
def test_nothing_warns_whatever_epsilon_and_cardinality(exponent: float, r: float) -> None:
    """DESIGN 2.1, of what starts from epsilon and of the way back from each result; warnings are errors."""
    e = np.array([0.0, 10.0**exponent])
    for name in EXACT:
        assert not np.any(np.isnan(getattr(rr, name)(e, r))), name
    rr.epsilon_for_retention(rr.retention(e, r), r)
    rr.epsilon_for_log_retention(rr.log_retention(e, r), r)
    rr.epsilon_for_log_retention_slope(rr.log_retention_slope(e, r), r)
    rr.log_tau_of(rr.log_retention(e, r))
    v = logit.logit(e, r)
    ways = logit.epsilon, logit.epsilon_slope, logit.epsilon_curvature
    assert not any(np.any(np.isnan(way(v, r))) for way in ways)
    inverse.upper_point(inverse.slope_product(rr.retention(e, r), r)[0], r)


@given(exponent=st.floats(-300, 1.2), r=cardinalities)
def test_retention_determines_epsilon(exponent: float, r: float) -> None:
    epsilon = 10.0**exponent
    kept = float(rr.retention(epsilon, r))
    found = float(rr.epsilon_for_retention(kept, r))
    # below 1e-308 doubles stand 5e-324 apart
    lost = max(ULP * kept, 5e-324) / float(rr.retention_slope(epsilon, r))
    assert abs(found - epsilon) <= lost + 8 * ULP * epsilon


@given(exponent=st.floats(-320, 0, exclude_max=True), r=cardinalities)
def test_the_inverses_agree_with_mpmath(exponent: float, r: float) -> None:
    kept = min(10.0**exponent, 1 - ULP / 2)
    with mpmath.workdps(400):
        wanted = mpmath.log((1 + (mpf(r) - 1) * mpf(kept)) / (1 - mpf(kept)))
        from_log = mpmath.log(mpf(kept))
        log_kept = float(from_log)
        exact_kept = mpmath.exp(mpf(log_kept))
        by_log = mpmath.log((1 + (mpf(r) - 1) * exact_kept) / (1 - exact_kept))
    assert_close(float(rr.epsilon_for_retention(kept, r)), wanted, 0.0, 6, (kept, r))
    terms = 1 + abs(log_kept) + math.log(r)
    assert_close(float(rr.epsilon_for_log_retention(log_kept, r)), by_log, 0.0, 2 * terms, (kept, r))


def test_the_inverses_take_their_limits() -> None:
    assert float(rr.epsilon_for_retention(0.0, 5)) == 0.0
    assert float(rr.epsilon_for_retention(1.0, 5)) == math.inf
    assert float(rr.epsilon_for_log_retention(-math.inf, 5)) == 0.0
    assert float(rr.epsilon_for_log_retention(0.0, 5)) == math.inf
    assert float(rr.log_tau_of(-math.inf)) == math.inf
    assert float(rr.log_tau_of(0.0)) == -math.inf


@given(log_kept=st.floats(-700, -1e-300))
def test_log_tau_of_a_log_retention_agrees_with_mpmath(log_kept: float) -> None:
    with mpmath.workdps(700):
        wanted = mpmath.log(1 / mpmath.exp(mpf(log_kept)) - 1)
    assert_close(float(rr.log_tau_of(log_kept)), wanted, 1.0, 4, log_kept)


@given(epsilon=st.floats(1e-4, 20), r=st.integers(2, 40))
def test_the_uniform_matrix_is_symmetric_and_stochastic_with_likelihood_ratio_exp_epsilon(
    epsilon: float, r: int
) -> None:
    matrix = rr.transition_matrix(float(rr.retention(epsilon, r)), np.full(r, 1 / r))
    assert np.array_equal(matrix, matrix.T)
    assert np.allclose(matrix.sum(axis=0), 1, rtol=0, atol=r * ULP)
    assert np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=r * ULP)
    assert np.allclose(np.diag(matrix), rr.truth_probability(epsilon, r), rtol=1e-14)
    off = matrix[~np.eye(r, dtype=bool)]
    assert np.allclose(off, rr.other_probability(epsilon, r), rtol=1e-7 if epsilon > 10 else 1e-11)
    ratio = (matrix.max(axis=0) / matrix.min(axis=0)).max()
    # 1 - lambda has lost as many digits as exp(epsilon) has
    assert math.log(ratio) == pytest.approx(epsilon, rel=1e-9, abs=1e-7 if epsilon > 10 else 1e-12)


@given(
    epsilon=st.floats(1e-3, 12),
    weights=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=8),
)
def test_another_background_has_the_price_of_its_effective_cardinality(
    epsilon: float, weights: list[float]
) -> None:
    """DESIGN 2.1: e = log(1 + lambda / ((1 - lambda) min q)), so r becomes 1 / min q."""
    q = np.array(weights) / math.fsum(weights)
    r = rr.effective_cardinality(q)
    assert r >= 2 * (1 - 1e-12)
    matrix = rr.transition_matrix(float(rr.retention(epsilon, r)), q)
    assert np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=16 * ULP)
    ratios = matrix.max(axis=0) / matrix.min(axis=0)
    assert math.log(ratios.max()) == pytest.approx(epsilon, rel=1e-9)
    assert int(np.argmax(ratios)) in np.flatnonzero(q <= q.min() * (1 + 1e-12))
