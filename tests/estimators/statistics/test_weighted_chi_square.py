"""The tail of weighted chi-squares: scipy for equal weights, closed forms for pairs, Imhof, simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.statistics.weighted_chi_square import weighted_chi_square_tail


@pytest.mark.parametrize("q", [1e-3, 0.1, 1.0, 7.0, 60.0, 900.0])
@pytest.mark.parametrize("freedoms", [2, 3, 40])
def test_nearly_equal_weights_are_an_ordinary_chi_square_far_into_the_tail(q: float, freedoms: int) -> None:
    nearly = 1 + 1e-8 * np.linspace(-1, 1, freedoms)  # not equal enough for the shortcut
    assert weighted_chi_square_tail(q, nearly) == pytest.approx(stats.chi2.sf(q, freedoms), rel=1e-6)
    assert weighted_chi_square_tail(3 * q, [3.0] * freedoms) == pytest.approx(
        stats.chi2.sf(q, freedoms), rel=1e-12
    )


@pytest.mark.parametrize("q", [1e-3, 0.5, 5.0, 50.0, 500.0])
def test_weights_in_pairs_are_sums_of_exponentials(q: float) -> None:
    a, b = 1.0, 0.3
    expected = (a * np.exp(-q / 2 / a) - b * np.exp(-q / 2 / b)) / (a - b)
    assert weighted_chi_square_tail(q, [a, b, a, b]) == pytest.approx(expected, rel=1e-7)


def imhof(q: float, w: FloatArray) -> float:
    def integrand(u: float) -> float:
        angle = 0.5 * np.arctan(w * u).sum() - 0.5 * q * u
        return float(np.sin(angle) / (u * np.prod((1 + (w * u) ** 2) ** 0.25)))

    return 0.5 + float(integrate.quad(integrand, 0, np.inf, limit=2000)[0]) / np.pi


@pytest.mark.parametrize("q", [1.0, 5.0, 12.0])
def test_it_is_imhofs_integral(q: float) -> None:
    w = np.array([3.0, 1.0, 0.8, 0.5, 0.2, 0.1, 0.1])
    assert weighted_chi_square_tail(q, w) == pytest.approx(imhof(q, w), abs=1e-6)


@pytest.mark.parametrize("w", [[1.0, 1e-5], np.geomspace(1, 1e-6, 20), np.linspace(0.01, 1, 60)])
def test_it_is_the_share_of_200000_draws(w: FloatArray) -> None:
    """At 6 standard deviations of the share."""
    rng, times = np.random.default_rng(8), 200_000
    drawn = sum(weight * rng.chisquare(1, times) for weight in np.asarray(w))
    for probability in (0.02, 0.5, 0.95, 0.999):
        q = float(np.quantile(drawn, probability))
        error = np.sqrt(probability * (1 - probability) / times)
        assert weighted_chi_square_tail(q, w) == pytest.approx(1 - probability, abs=6 * error)


def test_it_falls_and_begins_at_one() -> None:
    tails = [weighted_chi_square_tail(q, [2.0, 1.0, 0.1]) for q in np.linspace(0, 80, 200)]
    assert tails[0] == 1
    assert np.all(np.diff(tails) < 0)


@pytest.mark.parametrize("w", [[], [0.0], [1.0, -0.1], [np.nan], [np.inf, 1]])
def test_weights_that_make_no_sum_are_refused(w: list[float]) -> None:
    with pytest.raises(InputError, match="weights"):
        weighted_chi_square_tail(1.0, w)
