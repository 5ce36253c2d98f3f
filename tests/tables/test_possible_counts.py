"""Counts of reports that no originals lead to: how often a sound release looks so, and what is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from budget_opt.tables.binomial import least_of_possible


@pytest.mark.parametrize("r", [2, 3, 10])
@pytest.mark.parametrize("kept", [0.1, 0.6])
def test_a_sound_release_looks_impossible_no_more_often_than_is_said(r: int, kept: float) -> None:
    """All originals equal: the hardest case, as every other category has the least probability.

    2,000 releases at the rate 0.05. False alarm 1e-9 (six standard deviations of a binomial at the rate);
    detectable fault: a rate above 0.08.
    """
    fewest = (1 - kept) / r
    most = fewest + kept
    rng = np.random.default_rng([r, int(10 * kept)])
    tables = rng.multinomial(500, [most] + (r - 1) * [fewest], 2_000)
    odd = sum(least_of_possible(counts, fewest, most) <= 0.05 for counts in tables)
    assert odd <= stats.binom.isf(1e-9, 2_000, 0.05)


def test_a_share_below_the_noise_or_above_the_truth_is_noticed_at_its_exact_tail() -> None:
    n, fewest, most = 1_000, 0.1, 0.8
    low = least_of_possible(np.array([60, 540, 400]), fewest, most)
    assert low == pytest.approx(6 * stats.binom.cdf(60, n, fewest), rel=1e-9)
    high = least_of_possible(np.array([860, 140]), fewest, most)
    assert high == pytest.approx(4 * stats.binom.sf(859, n, most), rel=1e-9)
    assert least_of_possible(np.array([450, 350, 200]), fewest, most) == 1.0


def test_counts_of_any_size_are_judged() -> None:
    assert least_of_possible(np.array([1, 9]) * 10**15, 0.1, 0.9) > 0.5
    assert least_of_possible(np.array([1, 9]) * 10**15, 0.100001, 0.9) < 1e-9
    assert least_of_possible(np.array([0, 0]), 0.1, 0.9) == 1.0
