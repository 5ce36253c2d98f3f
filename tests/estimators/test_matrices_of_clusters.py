"""Matrices of pairs with members of one cluster: entry by entry the moment.

Their coverage is in `test_matrix_coverage`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.matrices.correlations import correlation_matrix
from budget_opt.estimators.matrices.covariances import covariance_matrix
from budget_opt.estimators.moments.moment import moment_from_counts
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.release_model import FloatArray, moment_of, skewed
from tests.estimators.test_moments_inside_clusters import pair_and_outsider

DESIGNS = pair_and_outsider()
SHAPE = (2, 3, 3)


def correlation_of(table: FloatArray, a: int, b: int) -> float:
    """By its definition."""
    every = {0, 1, 2}
    both = table.sum(axis=tuple(every - {a, b}))
    deviations = []
    for one in (a, b):
        shares = table.sum(axis=tuple(every - {one})) / table.sum()
        f = DESIGNS[one].scores
        deviations.append(math.sqrt(shares @ (f - shares @ f) ** 2))
    return moment_of(both, [DESIGNS[a], DESIGNS[b]]) / (deviations[0] * deviations[1])


@pytest.mark.parametrize("target", ["population", "data"])
def test_a_matrix_has_the_moments_of_members_and_the_plain_ones_of_others(target: Target) -> None:
    """Values, errors, raw, usefulness and effective n of each entry are those of `moment` alone."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(6000, along_all(Channel.spread, DESIGNS, skewed(rng, SHAPE)).ravel()).reshape(
        SHAPE
    )
    cells = Counts(tuple("acb"), counts).cells
    matrix = covariance_matrix(cells, DESIGNS, target)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        (other,) = {0, 1, 2} - {a, b}
        one = moment_from_counts(counts.sum(axis=other), [DESIGNS[a], DESIGNS[b]], target=target)
        assert one.usefulness is not None
        pairs = [
            (matrix.values, one.value),
            (matrix.standard_errors, one.standard_error),
            (matrix.raw, one.raw),
            (matrix.effective_n, one.effective_n),
            (matrix.mse_raw, one.usefulness.mse_raw),
        ]
        for table, number in pairs:
            assert table[a, b] == table[b, a] == pytest.approx(number, rel=1e-10)


def test_correlations_of_members_agree_with_the_truth_and_raw_ones_with_the_release() -> None:
    """With the expected reports of 10^13 rows; the errors are those of members at retention 1 too."""
    shares = skewed(np.random.default_rng(5), SHAPE)
    counts = np.rint(along_all(Channel.spread, DESIGNS, shares) * 10**13).astype(np.int64)
    found = correlation_matrix(Counts(tuple("acb"), counts).cells, DESIGNS, "population")
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert found.values[a, b] == pytest.approx(correlation_of(shares, a, b), abs=1e-9)
        assert found.raw[a, b] == pytest.approx(correlation_of(counts.astype(float), a, b), abs=1e-9)
    whole = [replace(one, retention=1.0) for one in DESIGNS]
    few = np.random.default_rng(6).multinomial(500, shares.ravel()).reshape(SHAPE)
    cells = Counts(tuple("acb"), few).cells
    both = [
        correlation_matrix(cells, designs, "population")
        for designs in (whole, [replace(one, cluster=None) for one in whole])
    ]
    assert np.allclose(both[0].values, both[1].values, rtol=1e-12)
    assert np.allclose(both[0].standard_errors, both[1].standard_errors, rtol=1e-9)
    assert np.allclose(both[0].mse_raw, both[1].mse_raw, rtol=1e-9, equal_nan=True)


def raw_and_corrected(reports: FloatArray) -> FloatArray:
    """Both correlations of the two members as functions of the shares of their reports."""
    members = [DESIGNS[0], DESIGNS[2]]
    tables = reports, along_all(Channel.corrected, members, reports)
    return np.array([correlation_of(np.repeat(one[:, None, :] / 3, 3, axis=1), 0, 2) for one in tables])


def test_the_error_of_a_released_correlation_of_members_is_that_of_its_slopes() -> None:
    """Its variance, and its squared distance from the corrected one less that one's noise, by differences."""
    members, n = [DESIGNS[0], DESIGNS[2]], 2_000
    shares = skewed(np.random.default_rng(5), (2, 3))
    counts = np.rint(n * along_all(Channel.spread, members, shares)).astype(np.int64)
    reports = counts / counts.sum()
    slopes = np.zeros((2, 2, 3))
    for cell in np.ndindex(2, 3):
        moved = np.zeros((2, 3))
        moved[cell] = 1e-6
        slopes[:, *cell] = (raw_and_corrected(reports + moved) - raw_and_corrected(reports - moved)) / 2e-6
    raw, corrected = (slope - (reports * slope).sum() for slope in slopes)
    of_raw, apart = (float((reports * psi**2).sum()) / counts.sum() for psi in (raw, raw - corrected))
    found = correlation_matrix(Counts(("a", "b"), counts).cells, members, "population")
    squared_bias = (found.raw[0, 1] - found.values[0, 1]) ** 2 - apart
    assert found.mse_raw[0, 1] - squared_bias == pytest.approx(of_raw, rel=5e-3)
    assert found.mse_corrected[0, 1] == pytest.approx(
        float((reports * corrected**2).sum()) / counts.sum(), rel=5e-3
    )
