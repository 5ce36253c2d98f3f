"""The tail of weighted chi-squares: scipy for equal weights, closed forms for pairs, Imhof, simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from budget_opt.errors import InputError, NotSolvedError
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
    """Imhof's integral (1961, eq. 3.2), as far as its terms are above 1e-14."""
    each, times = np.unique(w, return_counts=True)

    def decay(u: float) -> float:
        return float(0.25 * np.log1p((each * u) ** 2) @ times) + np.log(u)

    def integrand(u: float) -> float:
        angle = 0.5 * np.arctan(each * u) @ times - 0.5 * q * u
        return float(np.sin(angle) * np.exp(-decay(u)))

    end = 1.0 / float(w.sum())
    while decay(end) < 32:
        end *= 1.5
    return 0.5 + float(integrate.quad(integrand, 0, end, limit=2000, epsabs=1e-9)[0]) / np.pi


@pytest.mark.parametrize("q", [1.0, 5.0, 12.0])
def test_it_is_imhofs_integral(q: float) -> None:
    w = np.array([3.0, 1.0, 0.8, 0.5, 0.2, 0.1, 0.1])
    assert weighted_chi_square_tail(q, w) == pytest.approx(imhof(q, w), abs=1e-6)


@pytest.mark.parametrize("w", [[1.0, 1e-5], np.geomspace(1, 1e-6, 20)])
def test_it_is_the_share_of_100000_draws(w: FloatArray) -> None:
    """At 6 standard deviations of the share: to 1 point in the middle."""
    rng, times = np.random.default_rng(8), 100_000
    drawn = sum(weight * rng.chisquare(1, times) for weight in np.asarray(w))
    for probability in (0.02, 0.5, 0.95, 0.999):
        q = float(np.quantile(drawn, probability))
        error = np.sqrt(probability * (1 - probability) / times)
        assert weighted_chi_square_tail(q, w) == pytest.approx(1 - probability, abs=6 * error)


def test_it_falls_and_begins_at_one() -> None:
    tails = [weighted_chi_square_tail(q, [2.0, 1.0, 0.1]) for q in np.linspace(0, 80, 60)]
    assert tails[0] == 1
    assert np.all(np.diff(tails) < 0)


@pytest.mark.parametrize("w", [[], [0.0], [1.0, -0.1], [np.nan], [np.inf, 1]])
def test_weights_that_make_no_sum_are_refused(w: list[float]) -> None:
    with pytest.raises(InputError, match="weights"):
        weighted_chi_square_tail(1.0, w)


MANY = {
    "60": np.linspace(0.01, 1, 60),
    "200 and one large": np.r_[np.ones(200), 50.0],
    "841": np.geomspace(1, 0.01, 841),
    "2401": np.linspace(1, 2, 2401),
    "2400 and one large": np.r_[np.linspace(1, 1.1, 2400), 100.0],
    "one large and 2400 small": np.r_[10.0, np.full(2400, 0.01)],
}


@pytest.mark.parametrize("name", list(MANY))
def test_of_many_weights_too(name: str) -> None:
    """A path that bends right whatever the weights gave 0, 1 and NaN at random."""
    w = MANY[name]
    for deviations in (-1.2, 0.0, 2.6):
        q = w.sum() + deviations * np.sqrt(2 * (w @ w))
        if q > 0:
            assert weighted_chi_square_tail(q, w) == pytest.approx(imhof(q, w), abs=1e-7)


@pytest.mark.parametrize("freedoms", [20, 39, 41, 200, 841, 2401])
@pytest.mark.parametrize("tail", [1e-100, 1e-6, 0.05, 0.5, 0.99, 1 - 1e-9])
def test_many_nearly_equal_weights_are_an_ordinary_chi_square(freedoms: int, tail: float) -> None:
    nearly = 1 + 1e-8 * np.linspace(-1, 1, freedoms)
    q = float(stats.chi2.isf(tail, freedoms))
    assert weighted_chi_square_tail(q, nearly) == pytest.approx(stats.chi2.sf(q, freedoms), rel=1e-6)


@pytest.mark.parametrize(("freedoms", "share"), [(841, 0.5), (2401, 0.1)])
def test_far_below_the_mean_of_many_weights_the_path_is_upright(freedoms: int, share: float) -> None:
    """There 1/s exp(-s q) rises along every path that leans, and the result was 0 or none."""
    nearly = 1 + 1e-8 * np.linspace(-1, 1, freedoms)
    assert weighted_chi_square_tail(share * freedoms, nearly) == pytest.approx(1, abs=1e-10)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("q", [1e4, 1e12, 1e18, 1e300, np.inf])
def test_what_no_double_can_hold_is_0_without_a_warning(q: float) -> None:
    assert weighted_chi_square_tail(q, [3.0, 1.0, 0.2]) == 0
    with pytest.raises(InputError, match="observed"):
        weighted_chi_square_tail(np.nan, [3.0, 1.0])


def test_an_integral_that_does_not_converge_is_no_p_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrate, "quad", lambda *_, **__: (0.1, 0.1, {}, "the maximum number", ""))
    with pytest.raises(NotSolvedError, match="does not converge"):
        weighted_chi_square_tail(1.0, [3.0, 1.0])
