"""The hybrid: its bounds hold, its thresholds are where they cross, and it takes the smaller error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, along_all, uniform
from budget_opt.estimators.joint.error_bounds import (
    dependence_bound,
    independent_bound,
    joint_bound,
    paper_joint_bound,
    squared_error,
    worst_dependence,
)
from budget_opt.estimators.joint.hybrid import (
    bounded_errors,
    errors_by,
    estimated_errors,
    hybrid,
    hybrid_solution,
)
from budget_opt.estimators.joint.hybrid_thresholds import LARGEST_EPSILON, LEAST_EPSILON, hybrid_thresholds
from budget_opt.estimators.joint.independent import independent, product_of
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts
from budget_opt.mechanisms.randomized_response import retention
from tests.estimators.joint.test_castell import channels_of, counts_of, dense_inverse
from tests.estimators.release_model import design, release, skewed

seeds = st.integers(0, 2**32 - 1)
cardinalities = st.lists(st.integers(2, 20), min_size=2, max_size=5)
epsilons = st.floats(0.05, 8.0)
numbers = st.floats(10.0, 1e9)
RULES = ("estimated", "bounds", "paper")


def even_channels(shape, epsilon):
    return [Channel(f"a{m}", float(retention(epsilon, r)), uniform(r)) for m, r in enumerate(shape)]


def marginals_of(table):
    axes = range(table.ndim)
    return [table.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]


@given(st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple))
def test_the_squared_error_is_that_of_the_columns_of_the_dense_inverse(shape):
    channels = channels_of(shape)
    squares = (dense_inverse(channels) ** 2).sum(axis=1)
    np.testing.assert_allclose(squares, 1 + squared_error(channels, 1.0), rtol=1e-9)


@given(st.lists(st.integers(2, 4), min_size=2, max_size=4).map(tuple), st.floats(0.05, 2.0), seeds)
def test_no_table_is_further_from_the_product_of_its_marginals_than_the_bound(shape, concentration, seed):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(math.prod(shape), concentration)).reshape(shape)
    marginals = marginals_of(table)
    distance = variation_distance(table, product_of(marginals))
    bound = dependence_bound(marginals)
    assert distance <= bound + 1e-12
    assert bound <= worst_dependence(channels_of(shape)) + 1e-12


@pytest.mark.parametrize(("r", "w"), [(2, 2), (2, 5), (5, 3)])
def test_the_dependence_bound_is_reached_on_the_diagonal(r, w):
    table = np.zeros((r,) * w)
    table[(np.arange(r),) * w] = 1 / r
    reached = variation_distance(table, product_of(marginals_of(table)))
    assert reached == pytest.approx(1 - r ** (1 - w))
    assert dependence_bound(marginals_of(table)) == pytest.approx(reached)


def test_the_attribute_of_largest_entropy_does_not_count():
    assert dependence_bound([np.full(2, 1 / 2), np.full(5, 1 / 5), np.full(3, 1 / 3)]) == pytest.approx(
        1 - 5 / 30
    )
    assert dependence_bound([np.array([0.1, 0.9]), np.array([0.0, 1.0])]) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_both_proved_bounds_hold_and_the_paper_s_for_the_inverse_does_not(epsilon):
    shape, n, times = (3, 2, 4), 20_000, 300
    rng = np.random.default_rng(17)
    truth = rng.multinomial(n, skewed(rng, shape).ravel()).reshape(shape)
    channels = even_channels(shape, epsilon)
    designs = [design(one.name, one.retention, range(one.cardinality)) for one in channels]
    released = [Counts(("a", "b", "c"), one) for one in release(rng, truth, designs, times)]
    shares = truth / n
    joint = np.array([variation_distance(shares, unbiased(one, channels)) for one in released])
    product = np.array([variation_distance(shares, independent(one, channels)) for one in released])
    own = variation_distance(shares, product_of(marginals_of(shares)))
    assert 0.6 * joint_bound(channels, n) < joint.mean() <= joint_bound(channels, n)
    assert product.mean() <= independent_bound(channels, n, own)
    assert 2 * joint.mean() / shares.size > 5 * paper_joint_bound(channels, n)


def test_estimated_errors_are_near_the_true_ones():
    shape, n, times = (4, 3, 5), 30_000, 40
    rng = np.random.default_rng(23)
    truth = rng.multinomial(n, skewed(rng, shape).ravel()).reshape(shape)
    channels = even_channels(shape, 2.0)
    designs = [design(one.name, one.retention, range(one.cardinality)) for one in channels]
    released = [Counts(("a", "b", "c"), one) for one in release(rng, truth, designs, times)]
    found = [estimated_errors(one, channels) for one in released]
    joint = np.mean([variation_distance(truth / n, unbiased(one, channels)) for one in released])
    product = np.mean([variation_distance(truth / n, independent(one, channels)) for one in released])
    assert np.mean([one.joint for one in found]) == pytest.approx(joint, rel=0.1)
    assert product <= np.mean([one.independent for one in found]) <= 2 * product


def test_noise_is_not_taken_for_dependence():
    shape, n, times = (4, 5), 5_000, 60
    rng = np.random.default_rng(29)
    truth = np.rint(n * product_of([rng.dirichlet(np.full(r, 3.0)) for r in shape])).astype(np.int64)
    channels = even_channels(shape, 1.0)
    designs = [design(one.name, one.retention, range(one.cardinality)) for one in channels]
    released = [Counts(("a", "b"), one) for one in release(rng, truth, designs, times)]
    assert sum(estimated_errors(one, channels).takes_joint for one in released) < times / 4


@given(
    st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple),
    st.floats(0.3, 6.0),
    st.sampled_from(RULES),
    seeds,
)
def test_the_hybrid_is_the_estimate_of_the_smaller_error(shape, epsilon, rule, seed):
    counts = counts_of(np.random.default_rng(seed), shape, 5_000)
    channels = even_channels(shape, epsilon)
    errors = errors_by(rule, counts, channels)
    best = unbiased if errors.joint <= errors.independent else independent
    np.testing.assert_array_equal(hybrid(counts, channels, rule=rule), best(counts, channels))


def test_the_default_hybrid_is_registered_s_and_says_what_it_took():
    shape = (4, 4)
    rng = np.random.default_rng(2)
    truth = np.diag(rng.multinomial(4_000, np.full(4, 0.25)))
    for epsilon, word, estimator in (
        (4.0, "the unbiased table", unbiased),
        (0.1, "the product", independent),
    ):
        channels = even_channels(shape, epsilon)
        law = along_all(Channel.spread, channels, truth / truth.sum())
        counts = Counts(("a", "b"), rng.multinomial(4_000, law.ravel()).reshape(shape))
        solution = hybrid_solution(counts, channels)
        np.testing.assert_array_equal(solution.shares, hybrid(counts, channels))
        np.testing.assert_array_equal(solution.shares, estimator(counts, channels))
        assert word in solution.notes[0].partition(":")[0]


@settings(max_examples=15)
@given(cardinalities, epsilons, numbers, st.sampled_from(["bounds", "paper"]))
def test_thresholds_are_where_the_bounds_cross(shape, epsilon, n, rule):
    found = hybrid_thresholds(shape, epsilon, n, rule=rule)

    def takes_joint(width, at, records):
        return bounded_errors(rule, even_channels(shape[:width], at), records).takes_joint

    assert takes_joint(len(shape), epsilon, found.n * (1 + 1e-9))
    assert not takes_joint(len(shape), epsilon, found.n * (1 - 1e-9))
    if LEAST_EPSILON < found.epsilon < LARGEST_EPSILON:
        assert takes_joint(len(shape), found.epsilon * (1 + 1e-6), n)
        assert not takes_joint(len(shape), found.epsilon * (1 - 1e-6), n)
    assert all(takes_joint(w, epsilon, n) for w in range(2, found.w + 1))
    assert found.w == len(shape) or not takes_joint(found.w + 1, epsilon, n)


@settings(max_examples=15)
@given(cardinalities, epsilons, numbers, st.sampled_from(["bounds", "paper"]))
def test_thresholds_are_monotone_in_n_and_epsilon(shape, epsilon, n, rule):
    here = hybrid_thresholds(shape, epsilon, n, rule=rule)
    more = hybrid_thresholds(shape, epsilon, 2 * n, rule=rule)
    safer = hybrid_thresholds(shape, epsilon / 1.5, n, rule=rule)
    assert more.epsilon <= here.epsilon * (1 + 1e-9)
    assert more.w >= here.w
    assert safer.n >= here.n
    assert safer.w <= here.w


@settings(max_examples=15)
@given(cardinalities, st.integers(2, 20), epsilons, numbers)
def test_one_attribute_more_raises_n_and_epsilon(shape, r, epsilon, n):
    here = hybrid_thresholds(shape, epsilon, n)
    wider = hybrid_thresholds([*shape, r], epsilon, n)
    assert wider.n >= here.n * (1 - 1e-9)
    assert wider.epsilon >= here.epsilon * (1 - 1e-9)


def test_the_paper_s_bounds_do_not_always_fall_with_w():
    # Castell 2022, section III-D claims that they do; two categories, epsilon 2
    assert (
        hybrid_thresholds([2] * 3, 2.0, 10, rule="paper").n
        < hybrid_thresholds([2] * 2, 2.0, 10, rule="paper").n
    )


def test_less_dependence_asks_for_more_records():
    found = [hybrid_thresholds([4, 5], 1.0, 1_000, dependence=one).n for one in (0.6, 0.2, 0.05)]
    assert found == sorted(found)
    # where attributes are known to be independent, nothing makes the unbiased table the better one
    assert hybrid_thresholds([4, 5], 1.0, 1_000, dependence=0.0).n == math.inf
    assert hybrid_thresholds([4, 5], 1.0, 1_000, dependence=0.0).w == 1


def test_the_paper_s_rule_switches_after_four_attributes_on_adult_at_epsilon_1():
    # Castell 2022, section IV: w* = 4 on Adult, n = 32,561; eight attributes of 6.3 categories in the mean
    assert hybrid_thresholds([6] * 8, 1.0, 32_561, rule="paper").w == 4
    assert hybrid_thresholds([6] * 8, 1.0, 32_561).w == 2


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (([3], 1.0, 100), {}, "at least two attributes"),
        (([3, 1], 1.0, 100), {}, "at least two categories"),
        (([3, 3], 0.0, 100), {}, r"epsilon: is 0\.0"),
        (([3, 3], math.nan, 100), {}, "epsilon: is nan"),
        (([3, 3], 1.0, 0), {}, "n: is 0"),
        (([3, 3], 1.0, 100), {"dependence": 1.5}, r"dependence: is 1\.5"),
        (([3, 3], 1.0, 100), {"rule": "best"}, "rule: is 'best'"),
    ],
)
def test_thresholds_refuse_numbers_out_of_range(arguments, options, match):
    with pytest.raises(InputError, match=match):
        hybrid_thresholds(*arguments, **options)


def test_another_rule_is_refused():
    counts = counts_of(np.random.default_rng(0), (2, 3))
    with pytest.raises(InputError, match="rule: is 'best'"):
        hybrid(counts, channels_of((2, 3)), rule="best")
