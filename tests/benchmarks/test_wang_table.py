"""Entropy and chi-square of the table of benchmarks/wang_table.py, their gradients and their deviations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from benchmarks.wang_table import (
    TABLE,
    chi_square,
    chi_square_gradient,
    delta_deviations,
    entropy,
    entropy_gradient,
    repaired,
    rows,
    simulated,
    truths,
)


def test_the_stated_shares_are_a_distribution_of_the_size_of_the_yesiwell_table() -> None:
    assert TABLE.shape == (6, 3)
    assert TABLE.sum() == pytest.approx(1.0)
    assert TABLE.min() > 0


def test_scipy_gives_the_same_statistics() -> None:
    counts = np.array([[10, 20, 5], [7, 1, 30], [4, 4, 4]])
    known = stats.chi2_contingency(counts, correction=False).statistic
    n = int(counts.sum())
    assert chi_square(counts / n, n) == pytest.approx(known)
    shares = counts.sum(axis=1) / n
    assert entropy(shares) == pytest.approx(stats.entropy(shares, base=2))


def test_gradients_are_those_of_differences() -> None:
    """Of the entropy up to a constant, which moves along no distribution."""
    slopes = chi_square_gradient(TABLE).ravel()
    near = optimize.approx_fprime(TABLE.ravel(), lambda p: float(chi_square(p.reshape(6, 3))), 1e-8)
    assert slopes == pytest.approx(near, rel=1e-4, abs=1e-2)
    shares = TABLE.sum(axis=1)
    apart = optimize.approx_fprime(shares, lambda p: float(entropy(p)), 1e-9) - entropy_gradient(shares)
    assert apart == pytest.approx(np.full(6, apart[0]), abs=1e-4)


def test_an_empty_row_adds_nothing_and_a_missing_category_is_no_error() -> None:
    with_empty = np.vstack([TABLE, np.zeros((1, 3))])
    assert chi_square(with_empty) == pytest.approx(chi_square(TABLE))
    assert entropy(np.array([1.0, 0.0])) == 0.0


def test_repaired_shares_are_distributions() -> None:
    shares = np.array([[-0.2, 0.7, 0.5], [0.2, 0.3, 0.5]])
    assert repaired(shares, 1) == pytest.approx(np.array([[0.0, 0.7 / 1.2, 0.5 / 1.2], [0.2, 0.3, 0.5]]))


def test_the_delta_method_is_right_where_the_noise_is_small() -> None:
    """20,000 repetitions: a deviation is known to half a percent, and its second-order terms to a few."""
    for mechanism, epsilon in (("RR", 9.0), ("LM", 80.0)):
        drawn, delta = simulated(mechanism, epsilon, 20_000), delta_deviations(mechanism, epsilon)
        for statistic, estimates in drawn.items():
            deviation = np.sqrt(np.mean(estimates.var(axis=0)))
            assert deviation == pytest.approx(delta[statistic], rel=0.05), (mechanism, statistic)


def test_shares_and_means_are_unbiased_and_their_formula_is_exact_at_small_epsilon() -> None:
    made = [row for row in rows([0.5], 20_000) if row.statistic in {"share", "mean level"}]
    assert len(made) == 4
    for row in made:
        assert row.simulated == pytest.approx(row.delta, rel=0.04)
        assert abs(row.mean - truths()[row.statistic]) < 6 * row.delta / np.sqrt(20_000)


def test_a_small_deviation_of_a_repaired_chi_square_is_no_sign_of_a_good_estimate() -> None:
    """The Laplace design varies less than randomized response, by the delta method 20 times as much."""
    of = {row.mechanism: row for row in rows([0.5], 5_000) if row.statistic == "chi-square"}
    assert of["LM"].simulated < of["RR"].simulated
    assert of["LM"].delta > 20 * of["RR"].delta
    assert all(row.distance > row.simulated for row in of.values())
