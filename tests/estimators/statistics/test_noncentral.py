"""Intervals for a noncentrality: exact coverage, never empty, and continuous where the normal takes over."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from budget_opt.errors import InputError
from budget_opt.estimators.statistics.noncentral import noncentrality_interval


@pytest.mark.parametrize("freedoms", [1.0, 2.7, 12.0])
@pytest.mark.parametrize(
    ("truth", "least", "most"), [(0.0, 0.975, 0.975), (4.0, 0.95, 0.975), (60.0, 0.95, 0.95)]
)
def test_it_covers_exactly_and_at_0_one_tail_more(
    freedoms: float, truth: float, least: float, most: float
) -> None:
    """By the quantiles of the observation: false alarm none."""
    levels = (np.arange(4_000) + 0.5) / 4_000
    observed = stats.ncx2.ppf(levels, freedoms, truth) if truth else stats.chi2.ppf(levels, freedoms)
    low, high = noncentrality_interval(observed, np.full(observed.shape, freedoms), 0.95)
    covered = np.mean((low <= truth) & (truth <= high))
    assert least - 1e-3 <= covered <= most + 1e-3


def test_it_is_never_empty_and_wider_for_a_higher_level() -> None:
    observed = np.array([0.0, 1e-3, 1.0, 50.0, 1e3, 1e5, 1e12])
    low, high = noncentrality_interval(observed, np.full(7, 5.0), 0.95)
    wide_low, wide_high = noncentrality_interval(observed, np.full(7, 5.0), 0.99)
    assert np.all(high > low)
    assert np.all(low >= wide_low)
    assert np.all(high < wide_high)


def test_the_normal_takes_over_without_a_step() -> None:
    ends = noncentrality_interval(np.array([9_999.0, 10_001.0]), np.full(2, 8.0), 0.95)
    for end in ends:
        assert end[1] - end[0] == pytest.approx(2.0, abs=4.0)  # a standard error is 200


def test_a_level_outside_0_to_1_is_refused() -> None:
    with pytest.raises(InputError, match="level"):
        noncentrality_interval(np.ones(1), np.ones(1), 1.0)
