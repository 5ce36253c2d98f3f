"""Values and gradients: scipy at retention 1, finite differences, and the smoothing's own bias."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.statistics import divergence as divergences
from budget_opt.estimators.statistics.corrected import CorrectedTable
from budget_opt.estimators.statistics.divergence import Divergence
from budget_opt.estimators.statistics.smoothing import entropy_term, positive_part
from tests.estimators.release_model import released_shares, skewed
from tests.estimators.statistics.simulation import channels_of, designs, independent, theta

KINDS: dict[str, Callable[[CorrectedTable], Divergence]] = {
    "entropy": divergences.from_uniform,
    "information": divergences.mutual_information,
    "phi^2": divergences.chi_square,
}


def table_of(shares: FloatArray, retentions: tuple[float, ...], n: float, target: str) -> CorrectedTable:
    """The expected table of reports."""
    channels = channels_of(shares.shape, retentions)
    reports = released_shares(shares, designs(channels))
    return CorrectedTable(channels, reports, reports / n, int(n), target)  # type: ignore[arg-type]  # both


@pytest.mark.parametrize("kind", list(KINDS))
def test_without_randomization_the_value_of_the_data_is_the_plain_one_and_certain(kind: str) -> None:
    counts = np.array([[30, 0, 7], [2, 9, 0]])
    found = KINDS[kind](table_of(counts / 48, (1.0, 1.0), 48, "data"))
    expected = {
        "entropy": 2 * (math.log(6) - stats.entropy(counts.ravel())),
        "information": stats.chi2_contingency(counts, False, "log-likelihood").statistic / 48,
        "phi^2": stats.chi2_contingency(counts, False).statistic / 48,
    }
    assert found.value == pytest.approx(expected[kind], rel=1e-12)
    assert found.standard_error == 0
    for end in found.interval(0.95):
        assert end == pytest.approx(expected[kind])


def test_the_bias_without_randomization_is_millers_and_the_chi_squares_freedoms() -> None:
    n = 10**6
    shares = skewed(np.random.default_rng(3), (4, 3))
    entropy = KINDS["entropy"](table_of(shares, (1.0, 1.0), n, "population"))
    assert entropy.value - theta("entropy", shares) == pytest.approx(-11 / n, rel=0.01)
    free = KINDS["phi^2"](table_of(independent((4, 3)), (1.0, 1.0), n, "population"))
    assert free.noise == pytest.approx(6 / n, rel=1e-4)
    assert free.value == pytest.approx(-6 / n, rel=1e-3)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("target", ["population", "data"])
def test_gradients_are_the_finite_differences_of_the_value(kind: str, target: str) -> None:
    """On tables of 10^14 rows, where the correction of the bias, which has no gradient, is nothing."""
    shares, n = skewed(np.random.default_rng(5), (3, 4)), 1e14
    gradient = KINDS[kind](table_of(shares, (0.5, 0.7), n, target)).gradient
    rng = np.random.default_rng(6)
    for _ in range(5):
        step = rng.normal(size=shares.shape) * shares
        step -= step.mean()
        h = 1e-5
        up, down = (
            KINDS[kind](table_of(shares + sign * h * step, (0.5, 0.7), n, target)) for sign in (1, -1)
        )
        assert (gradient * step).sum() == pytest.approx((up.value - down.value) / (2 * h), rel=1e-5, abs=1e-7)


def test_the_value_is_the_plug_in_less_half_the_trace_of_hessian_times_covariance() -> None:
    """phi^2: the Hessian by finite differences of its definition, the covariance from a dense inverse."""
    shares, n = skewed(np.random.default_rng(7), (3, 3)), 10**9
    table = table_of(shares, (0.4, 0.6), n, "population")
    h = np.kron(
        *[np.linalg.inv(one.retention * np.eye(3) + (1 - one.retention) / 3) for one in table.channels]
    )
    covariance = (h.T @ (table.shares.ravel()[:, None] * h) - np.outer(shares, shares)) / n
    values, vectors = np.linalg.eigh(covariance)
    size, trace = 1e-4, 0.0
    for value, vector in zip(values[1:], vectors.T[1:], strict=True):
        move = size * vector.reshape(3, 3)
        up, down, here = (theta("phi^2", shares + sign * move) for sign in (1, -1, 0))
        trace += value * (up + down - 2 * here) / size**2
    assert theta("phi^2", shares) - KINDS["phi^2"](table).value == pytest.approx(trace / 2, rel=1e-4)


def test_near_the_reference_the_squares_count_alone_and_far_from_it_the_logarithms() -> None:
    """At the reference the squares' value is known: 0, less the noise."""
    near = table_of(independent((3, 4)), (0.4, 0.4), 1_000, "population")
    assert KINDS["information"](near).value == pytest.approx(KINDS["phi^2"](near).value, abs=1e-12)
    even = KINDS["entropy"](table_of(np.full((3, 4), 1 / 12), (0.4, 0.4), 1_000, "population"))
    assert even.value == pytest.approx(-even.noise, rel=1e-9)
    far = table_of(skewed(np.random.default_rng(3), (3, 4)), (0.9, 0.9), 10**7, "population")
    assert KINDS["information"](far).value == pytest.approx(theta("information", far.cells), rel=1e-3)


def test_the_smoothed_logarithm_has_a_bias_of_at_most_0_14_errors_of_a_cell() -> None:
    """Its mean over the noise by quadrature; s = 1, which is no restriction: s psi(p/s) - p log s."""
    noise, weights = np.polynomial.hermite_e.hermegauss(100)
    for p in [*np.arange(0, 8, 0.1), 10.0, 15.0, 30.0]:
        values, _ = entropy_term(p + noise, np.ones(noise.size))
        bias = weights @ values / weights.sum() - (-p * math.log(p) if p > 0 else 0.0)
        assert abs(bias) <= (0.14 if p < 6 else 0.05 if p < 10 else 0.02)


def test_the_smoothed_functions_are_homogeneous_and_end_in_the_plain_ones() -> None:
    p, s = np.array([-0.3, 0.0, 1e-4, 0.02, 0.5]), np.array([0.2, 0.01, 1e-3, 0.02, 1e-9])
    for scale in (1e-6, 1e3):
        scaled, _ = entropy_term(scale * p, scale * s)
        assert scaled == pytest.approx(scale * entropy_term(p, s)[0] - scale * p * math.log(scale), rel=1e-9)
        assert positive_part(scale * p, scale * s) == pytest.approx(scale * positive_part(p, s), rel=1e-12)
    assert entropy_term(p[-1:], s[-1:])[0] == pytest.approx(0.5 * math.log(2))
    assert np.all(positive_part(p, s) > 0)
    zero = np.zeros(1)
    assert entropy_term(zero, zero)[0] == 0
    assert positive_part(zero, zero) == 0
    assert positive_part(np.array([-1.0]), np.array([1e-9])) == pytest.approx(1e-18)


def test_slopes_of_the_smoothed_logarithm_are_finite_differences_to_the_right_of_its_steepest_point() -> None:
    p, s = np.linspace(-0.085, 2.0, 41), np.full(41, 0.1)
    slopes, h = entropy_term(p, s)[1], 1e-6
    assert slopes == pytest.approx(
        (entropy_term(p + h, s)[0] - entropy_term(p - h, s)[0]) / (2 * h), rel=1e-4, abs=1e-4
    )
    far = entropy_term(np.array([-0.5, -0.2]), np.full(2, 0.1))[1]
    assert far == pytest.approx(np.full(2, slopes.max()), rel=1e-3)
