"""R29, R30: the unbiased table, its errors and those of linear functions, against dense matrices."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.cell_errors import cell_errors, least_variances
from budget_opt.estimators.joint.unbiased import linear, unbiased
from budget_opt.mechanisms.sampler import sampler_for
from tests.estimators.joint.dense import channels, counts, covariance, matrix, random_counts

SHAPES = [(4,), (3, 2), (2, 3, 4), (3, 2, 2, 3)]
RETENTIONS = (0.6, 0.35, 0.8, 0.9)
TARGETS: tuple[Target, ...] = ("population", "data")


@given(st.integers(2, 9), st.sampled_from(["0.01", "0.5", "1", "2.5", "7"]))
def test_r29_the_inverse_is_the_inverse_in_exact_fractions(r: int, epsilon: str) -> None:
    """lambda comes from the sampler's integers, and the closed form has no matrix to go wrong with."""
    sampler = sampler_for(float(epsilon), r)
    kept = sampler.retention
    assert isinstance(kept, Fraction)
    spread = (1 - kept) / r
    for x, z in product(range(r), repeat=2):
        entries = ((kept * (x == y) + spread) * ((Fraction(int(y == z)) - spread) / kept) for y in range(r))
        assert sum(entries) == (x == z)
    assert Channel("a", float(kept), np.full(r, 1 / r)).corrected(np.eye(r), 0) == pytest.approx(
        np.array([[float((int(y == z) - spread) / kept) for y in range(r)] for z in range(r)]), rel=1e-12
    )


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_r29_axis_by_axis_is_the_dense_inverse_and_keeps_the_total(
    shape: tuple[int, ...], skewed: bool
) -> None:
    counted = random_counts(np.random.default_rng(1), shape)
    given_channels = channels(shape, RETENTIONS, skewed=skewed)
    table = unbiased(counted, given_channels)
    dense = counted.shares.ravel() @ np.linalg.inv(matrix(given_channels))
    assert table.ravel() == pytest.approx(dense, abs=1e-11)
    assert table.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_r30_covariances_of_linear_functions_are_those_of_the_dense_covariance_matrix(
    shape: tuple[int, ...], weighted: bool, target: Target
) -> None:
    rng = np.random.default_rng(2)
    counted = random_counts(rng, shape, weighted=weighted)
    given_channels = channels(shape, RETENTIONS, skewed=True)
    coefficients = [rng.normal(size=shape) for _ in range(3)]
    found = linear(counted, given_channels, coefficients)
    flat = np.stack([one.ravel() for one in coefficients])
    dense = flat @ covariance(counted, given_channels, target) @ flat.T
    assert getattr(found.covariances, target) == pytest.approx(dense, rel=1e-9)
    assert found.values == pytest.approx(flat @ unbiased(counted, given_channels).ravel(), rel=1e-9)
    assert found.raw == pytest.approx(flat @ counted.shares.ravel(), rel=1e-12)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_r30_standard_errors_of_all_cells_are_the_diagonal_of_the_dense_covariance_matrix(
    shape: tuple[int, ...], weighted: bool, target: Target
) -> None:
    counted = random_counts(np.random.default_rng(3), shape, weighted=weighted)
    given_channels = channels(shape, RETENTIONS, skewed=True)
    errors = cell_errors(counted, given_channels, target)
    dense = np.diag(covariance(counted, given_channels, target))
    least = least_variances(given_channels).ravel() / errors.effective
    assert np.mean(dense > least) > 0.5
    assert errors.standard_errors.ravel() ** 2 == pytest.approx(np.maximum(dense, least), rel=1e-9)


def test_no_variance_is_reported_below_the_least_that_any_truth_can_give() -> None:
    given_channels = channels((2, 3), (0.5, 0.7), skewed=True)
    p = matrix(given_channels)
    inverse = np.linalg.inv(p)
    given_truth = p @ inverse**2 - np.eye(6)
    assert np.all(least_variances(given_channels).ravel() <= given_truth.min(axis=0) + 1e-12)
    assert np.all(least_variances(given_channels) > 0)


@pytest.mark.parametrize("target", TARGETS)
def test_survey_weights_give_what_the_rows_give_one_by_one(target: Target) -> None:
    rng = np.random.default_rng(4)
    shape, n = (3, 2), 200
    given_channels = channels(shape, RETENTIONS)
    codes, w = rng.integers(6, size=n), rng.uniform(0.2, 4, n)
    sums = [np.bincount(codes, power, minlength=6).reshape(shape) for power in (w, w**2)]
    counted = counts(np.bincount(codes, minlength=6).reshape(shape), *sums)
    a = rng.normal(size=6)
    inverse = np.linalg.inv(matrix(given_channels))
    scores = (inverse @ a)[codes]
    value = w @ scores / w.sum()
    if target == "population":
        variance = np.sum((w * (scores - value)) ** 2) / (w.sum() ** 2 - (w**2).sum())
    else:
        squares = (inverse @ (a - value) ** 2)[codes]
        variance = np.sum(w**2 * ((scores - value) ** 2 - squares)) / w.sum() ** 2
    found = linear(counted, given_channels, [a.reshape(shape)])
    assert found.values[0] == pytest.approx(value, rel=1e-12)
    assert getattr(found.covariances, target)[0, 0] == pytest.approx(variance, rel=1e-10)


def test_a_category_that_never_occurs_has_an_estimate_and_an_error() -> None:
    rows = np.array([[50, 0, 30], [20, 0, 40]])
    errors = cell_errors(counts(rows), channels((2, 3), (0.7, 0.7)), "population")
    assert np.all(np.isfinite(errors.shares))
    assert np.all(errors.standard_errors > 0)


def test_r30_counts_beyond_2_to_the_31_keep_their_digits() -> None:
    rows = np.array([[2**40 + 3, 2**39], [2**38, 2**41 + 1]])
    given_channels = channels((2, 2), (0.5, 0.25))
    table = unbiased(counts(rows), given_channels)
    shares = rows / rows.sum()
    assert table.ravel() == pytest.approx(shares.ravel() @ np.linalg.inv(matrix(given_channels)), rel=1e-12)
    errors = cell_errors(counts(rows), given_channels, "population").standard_errors
    fewer = cell_errors(counts(rows // 2**20), given_channels, "population").standard_errors
    assert errors * 2**10 == pytest.approx(fewer, rel=1e-5)


def test_no_rows_other_shapes_and_strange_coefficients_are_refused_by_name() -> None:
    given_channels = channels((2, 2), (0.5, 0.5))
    with pytest.raises(InputError, match="has 0 rows"):
        unbiased(counts(np.zeros((2, 2), dtype=int)), given_channels)
    some = counts(np.full((2, 2), 5))
    with pytest.raises(InputError, match="a channel an axis"):
        unbiased(some, channels((2, 3), (0.5, 0.5)))
    with pytest.raises(InputError, match="none are given"):
        linear(some, given_channels, [])
    with pytest.raises(InputError, match="number for every cell"):
        linear(some, given_channels, [np.ones(2)])
    with pytest.raises(InputError, match="finite"):
        linear(some, given_channels, [np.full((2, 2), np.nan)])
