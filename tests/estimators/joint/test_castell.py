"""Castell's family: RR-Independent, truncated, RR-Joint, and the measures of the error."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, along_all, uniform
from budget_opt.estimators.joint.independent import corrected_marginals, independent, product_of
from budget_opt.estimators.joint.metrics import (
    average_variation_distance,
    mean_absolute_error,
    variation_distance,
)
from budget_opt.estimators.joint.one_domain import channel_of_domain, one_domain
from budget_opt.estimators.joint.truncated import truncated, truncated_table
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts
from budget_opt.mechanisms.sampler import sampler_for

seeds = st.integers(0, 2**32 - 1)
shapes = st.lists(st.integers(2, 4), min_size=1, max_size=4).map(tuple)


def channels_of(shape, epsilon=1.0):
    return [
        Channel(f"a{m}", float(sampler_for(epsilon + 0.1 * m, r).retention), uniform(r))
        for m, r in enumerate(shape)
    ]


def counts_of(rng, shape, n=2_000):
    table = rng.multinomial(n, rng.dirichlet(np.full(math.prod(shape), 0.3))).reshape(shape)
    return Counts(tuple(f"a{m}" for m in range(len(shape))), table)


def dense_inverse(channels):
    inverse = np.ones((1, 1))
    for one in channels:
        r = one.cardinality
        matrix = one.retention * np.eye(r) + (1 - one.retention) / r
        inverse = np.kron(inverse, np.linalg.inv(matrix))
    return inverse


def truncated_by_definition(table):
    """Algorithm 4 as it is stated: a recursion over the attributes left out, cell by cell."""
    if table.ndim == 1:
        return np.clip(table, 0, 1)
    parts = [truncated_by_definition(table.sum(axis=axis)) for axis in range(table.ndim)]
    cut = np.empty(table.shape)
    for cell in np.ndindex(*table.shape):
        upper = min(parts[axis][cell[:axis] + cell[axis + 1 :]] for axis in range(table.ndim))
        cut[cell] = min(max(table[cell], 0.0), upper)
    return cut


@given(shapes, seeds)
def test_the_axiswise_inverse_is_that_of_the_kronecker_matrix(shape, seed):
    counts, channels = counts_of(np.random.default_rng(seed), shape), channels_of(shape)
    dense = (dense_inverse(channels).T @ counts.shares.ravel()).reshape(shape)
    np.testing.assert_allclose(unbiased(counts, channels), dense, atol=1e-9, rtol=1e-9)


@given(shapes, seeds)
def test_no_cell_of_the_truncated_table_exceeds_any_of_its_parts(shape, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(1 / math.prod(shape), 1.0, shape)
    whole = truncated_table(table)
    assert np.all((whole >= 0) & (whole <= 1))
    for size in range(1, len(shape)):
        for kept in combinations(range(len(shape)), size):
            left = tuple(axis for axis in range(len(shape)) if axis not in kept)
            bound = np.expand_dims(truncated_table(table.sum(axis=left)), left)
            assert np.all(whole <= bound + 1e-12)


@given(shapes, seeds)
def test_the_truncated_table_is_that_of_the_recursion(shape, seed):
    table = np.random.default_rng(seed).normal(1 / math.prod(shape), 0.2, shape)
    np.testing.assert_allclose(truncated_table(table), truncated_by_definition(table), atol=1e-14)


@given(shapes, seeds)
def test_truncation_leaves_a_table_of_shares_as_it_is(shape, seed):
    shares = np.random.default_rng(seed).dirichlet(np.ones(math.prod(shape))).reshape(shape)
    np.testing.assert_allclose(truncated_table(shares), shares, atol=1e-15)


def test_the_normalised_truncated_table_adds_up_to_one_and_the_plain_one_does_not():
    counts, channels = counts_of(np.random.default_rng(3), (4, 4, 4), 300), channels_of((4, 4, 4), 0.5)
    plain, normalised = truncated(counts, channels), truncated(counts, channels, normalised=True)
    assert abs(plain.sum() - 1) > 0.05
    np.testing.assert_allclose(normalised, plain / plain.sum())


def test_where_truncation_leaves_nothing_the_shares_are_equal(monkeypatch):
    module = "budget_opt.estimators.joint.truncated"
    monkeypatch.setattr(f"{module}.unbiased", lambda counts, channels: np.array([[1.0, -1.0], [0.0, 1.0]]))
    counts = Counts(("a", "b"), np.ones((2, 2), dtype=np.int64))
    assert not truncated(counts, channels_of((2, 2))).any()
    np.testing.assert_array_equal(
        truncated(counts, channels_of((2, 2)), normalised=True), np.full((2, 2), 0.25)
    )


@given(shapes, seeds)
def test_independent_is_exact_where_attributes_are_independent_and_reports_are_as_expected(shape, seed):
    rng = np.random.default_rng(seed)
    truth = product_of([rng.dirichlet(np.ones(r)) for r in shape])
    channels = channels_of(shape)
    released = along_all(Channel.spread, channels, truth)
    counts = Counts(tuple(f"a{m}" for m in range(len(shape))), np.rint(released * 1e15).astype(np.int64))
    np.testing.assert_allclose(independent(counts, channels), truth, atol=1e-12)


@given(shapes, seeds)
def test_independent_is_a_distribution_with_the_nearest_marginals(shape, seed):
    counts, channels = counts_of(np.random.default_rng(seed), shape, 50), channels_of(shape)
    table = independent(counts, channels)
    assert table.min() >= 0
    assert table.sum() == pytest.approx(1)
    for axis, marginal in enumerate(corrected_marginals(counts, channels)):
        others = tuple(other for other in range(len(shape)) if other != axis)
        np.testing.assert_allclose(table.sum(axis=others), marginal, atol=1e-12)


def test_one_domain_inverts_the_matrix_of_all_combinations():
    shape = (2, 3, 2)
    channel = channel_of_domain(shape, 2.0)
    sampler = sampler_for(2.0, 12)
    matrix = np.full((12, 12), float(sampler.other_probability))
    np.fill_diagonal(matrix, float(sampler.truth_probability))
    counts = counts_of(np.random.default_rng(5), shape)
    by_enumeration = np.linalg.solve(matrix.T, counts.shares.ravel()).reshape(shape)
    np.testing.assert_allclose(one_domain(counts, channel), by_enumeration, atol=1e-12)


def test_one_domain_is_unbiased_and_errs_as_much_as_stated():
    shape, n, times = (2, 3), 500, 4_000
    channel = channel_of_domain(shape, 2.0)
    rng = np.random.default_rng(11)
    truth = np.array([[200, 100, 50], [0, 50, 100]])
    law = channel.spread(np.eye(6))
    reports = sum(rng.multinomial(count, law[x], size=times) for x, count in enumerate(truth.ravel()))
    errors = np.array(
        [one_domain(Counts(("a", "b"), one.reshape(shape)), channel) - truth / n for one in reports]
    )
    kept = channel.retention
    stated = ((1 - (1 - kept**2) / 6) / kept**2 - 1) / n
    # 6 standard errors of a mean of 4,000; the sums of squares have a relative deviation of about 0.65
    assert np.abs(errors.mean(axis=0)).max() < 6 * math.sqrt(stated / times)
    assert (errors**2).sum(axis=(1, 2)).mean() == pytest.approx(stated, rel=6 * 0.65 / math.sqrt(times))


def test_one_domain_refuses_what_it_cannot_do():
    with pytest.raises(InputError, match=r"1000 x 1000 x 1000 = 1000000000 cells"):
        channel_of_domain((1_000, 1_000, 1_000), 5.0)
    with pytest.raises(InputError, match=r"12 cells .* at most 10"):
        channel_of_domain((3, 4), 5.0, largest=10)
    with pytest.raises(InputError, match=r"total_epsilon: is 0\.0"):
        channel_of_domain((3, 4), 0.0)
    with pytest.raises(InputError, match="12 cells, the counts have 6"):
        one_domain(counts_of(np.random.default_rng(0), (2, 3)), channel_of_domain((3, 4), 1.0))


@given(shapes, seeds)
def test_avd_is_a_distance_between_distributions_in_0_to_1(shape, seed):
    rng = np.random.default_rng(seed)
    one, two, three = (rng.dirichlet(np.full(math.prod(shape), 0.4)).reshape(shape) for _ in range(3))
    assert variation_distance(one, one) == 0
    assert variation_distance(one, two) == variation_distance(two, one)
    assert 0 <= variation_distance(one, two) <= 1 + 1e-12
    direct, around = (
        variation_distance(one, three),
        variation_distance(one, two) + variation_distance(two, three),
    )
    assert direct <= around + 1e-12
    assert mean_absolute_error(one, two) == pytest.approx(2 * variation_distance(one, two) / one.size)


def test_avd_is_the_largest_error_in_the_share_of_any_set_of_cells():
    rng = np.random.default_rng(8)
    one, two = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    sets = [list(some) for size in range(9) for some in combinations(range(8), size)]
    largest = max(abs(one[some].sum() - two[some].sum()) for some in sets)
    assert variation_distance(one, two) == pytest.approx(largest)


def test_avd_is_one_apart_half_for_zeros_and_averaged_over_sets():
    apart = ([1.0, 0.0], [0.0, 1.0])
    zeros = ([[0.25, 0.25], [0.5, 0.0]], np.zeros((2, 2)))
    assert variation_distance(*apart) == 1
    assert variation_distance(*zeros) == 0.5
    assert mean_absolute_error(*zeros) == 0.25
    assert average_variation_distance([apart, zeros]) == 0.75


def test_tables_of_different_shapes_are_refused():
    with pytest.raises(InputError, match=r"shape \(2,\), the estimate \(3,\)"):
        variation_distance([0.5, 0.5], [0.2, 0.3, 0.5])
    with pytest.raises(InputError, match=r"shape \(0,\)"):
        mean_absolute_error([], [])
    with pytest.raises(InputError, match="none are given"):
        average_variation_distance([])
