"""The default estimate: laws of any release, what its notes say, and its own error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.estimators.channels import Channel, along_all, uniform
from budget_opt.estimators.joint.default import default
from budget_opt.estimators.joint.default_error import MOST_MISFIT, squared_lacks
from budget_opt.estimators.joint.drawing import drawn_originals, drawn_reports
from budget_opt.estimators.joint.independent import independent, product_of
from budget_opt.estimators.joint.methods import METHODS
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.simplex import simplex
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.joint.dense import channels, counts, random_counts
from tests.estimators.release_model import FloatArray

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from([(3,), (2, 5), (3, 2, 4), (2, 3, 2, 2)])
retentions = st.sampled_from([1e-6, 0.02, 0.4, 0.95, 1 - 1e-12, 1.0])

CHAIN = np.einsum(
    "a,ab,bc->abc", [0.5, 0.3, 0.2], [[0.8, 0.2], [0.3, 0.7], [0.1, 0.9]], [[0.9, 0.1], [0.2, 0.8]]
)
PARITY = np.array([[[0.25, 0.0], [0.0, 0.25]], [[0.0, 0.25], [0.25, 0.0]]])
"""All pairs are independent; the third attribute tells whether the first two agree."""


def released(shares: FloatArray, n: int, kept: float, seed: int) -> tuple[Counts, tuple[Channel, ...]]:
    rng = np.random.default_rng(seed)
    given_channels = channels(shares.shape, [kept] * shares.ndim)
    return counts(drawn_reports(drawn_originals(shares, n, rng), given_channels, rng)), given_channels


def estimated(counted: Counts, given_channels, seed: int = 0) -> FloatArray:
    return default(counted, given_channels, np.random.default_rng(seed)).shares


@given(seeds, shapes, retentions, st.booleans(), st.booleans())
@settings(max_examples=4, deadline=None)
def test_it_is_a_distribution_for_any_release_and_the_same_again(seed, shape, kept, skewed, weighted) -> None:
    counted = random_counts(np.random.default_rng(seed), shape, weighted=weighted)
    given_channels = channels(shape, [kept] * len(shape), skewed=skewed)
    shares = estimated(counted, given_channels)
    assert shares.shape == shape
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1, abs=1e-9)
    assert np.array_equal(shares, estimated(counted, given_channels))


@pytest.mark.parametrize("kept", [1e-6, 0.4, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("rows", [[[1, 0], [0, 0]], [[1, 1], [0, 0]], [[2**40, 3], [5, 2**41]]])
def test_one_row_and_2_to_the_41_give_a_distribution(rows, kept) -> None:
    counted, given_channels = counts(np.array(rows)), channels((2, 2), (kept, kept))
    solution = default(counted, given_channels, np.random.default_rng(0))
    assert np.all(np.isfinite(solution.shares))
    assert solution.shares.sum() == pytest.approx(1, abs=1e-9)
    own = (
        METHODS["default"].own_judge(counted, given_channels, solution, "data", np.random.default_rng(0))
        if (counted.n < 2**31)
        else None
    )
    assert own is None or 0 <= own.expected_avd <= 1


def test_eight_attributes_and_a_category_that_never_occurs() -> None:
    rng = np.random.default_rng(1)
    shape = (3, 2, 2, 2, 2, 3, 2, 2)
    truth = product_of([np.array([0.7, 0.3, 0.0]), *(rng.dirichlet(np.ones(r)) for r in shape[1:])])
    counted, given_channels = released(truth, 5_000, 0.5, 2)
    shares = estimated(counted, given_channels)
    assert shares.shape == shape
    assert shares[2].sum() < 0.02
    assert variation_distance(truth, shares) < 1.1 * variation_distance(
        truth, independent(counted, given_channels)
    )


def test_one_attribute_is_the_nearest_distribution() -> None:
    counted, given_channels = counts(np.array([60, 3, 40])), channels((3,), (0.5,))
    solution = default(counted, given_channels, np.random.default_rng(0))
    assert np.array_equal(solution.shares, simplex(counted, given_channels))
    assert solution.notes == ()


def test_without_randomization_it_is_the_table_itself() -> None:
    counted = random_counts(np.random.default_rng(3), (3, 4))
    assert estimated(counted, channels((3, 4), (1.0, 1.0))) == pytest.approx(counted.shares, abs=1e-8)


@pytest.mark.parametrize("truth", [CHAIN, PARITY], ids=["pairs suffice", "pairs show nothing"])
def test_it_comes_to_the_truth_as_the_rows_grow_whatever_the_dependence(truth) -> None:
    for n, most in [(10_000, 0.35), (10_000_000, 0.02)]:
        counted, given_channels = released(truth, n, 0.5, 4)
        assert variation_distance(truth, estimated(counted, given_channels)) < most
    if truth is PARITY:
        notes = default(counted, given_channels, np.random.default_rng(0)).notes
        assert "it shows what they miss" in notes[-1]


def test_survey_weights_are_weighed() -> None:
    """Half of the cells count threefold: the estimate is that of the weighted population."""
    n, given_channels = 40_000, channels((2, 2), (0.7, 0.7))
    plain = np.array([[0.4, 0.1], [0.2, 0.3]])
    rng = np.random.default_rng(5)
    heavy = drawn_reports(drawn_originals(plain, n, rng), given_channels, rng)
    light = drawn_reports(drawn_originals(plain.T[::-1], n, rng), given_channels, rng)
    weighted = counts(heavy + light, 3.0 * heavy + light, 9.0 * heavy + light)
    target = (3 * plain + plain.T[::-1]) / 4
    assert variation_distance(target, estimated(weighted, given_channels)) < 0.02
    assert variation_distance((plain + plain.T[::-1]) / 2, estimated(weighted, given_channels)) > 0.05


def test_in_noise_it_is_nearly_the_product_of_the_marginals_and_says_so() -> None:
    counted, given_channels = released(CHAIN, 2_000, 0.05, 6)
    solution = default(counted, given_channels, np.random.default_rng(0))
    alone = independent(counted, given_channels)
    assert variation_distance(alone, solution.shares) < 0.1
    assert solution.notes[0].startswith("No dependence between the attributes stands out from the noise")
    assert "left out" in solution.notes[1]


def test_the_notes_tell_which_pairs_show_dependence() -> None:
    joint = np.multiply.outer(np.diag([0.5, 0.5]), [0.5, 0.5])
    counted, given_channels = released(joint, 20_000, 0.5, 7)
    notes = default(counted, given_channels, np.random.default_rng(0)).notes
    assert "in 1 of 3 pairs" in notes[0]
    assert "a x c, b x c" in notes[0]
    counted, given_channels = released(CHAIN, 2_000_000, 0.8, 8)
    notes = default(counted, given_channels, np.random.default_rng(0)).notes
    assert notes[0] == "Dependence stands out from the noise in every pair of attributes."


def test_a_background_that_is_not_uniform_is_corrected() -> None:
    skewed = channels(CHAIN.shape, (0.5, 0.6, 0.5), skewed=True)
    rows = np.rint(1e7 * along_all(Channel.spread, skewed, CHAIN)).astype(np.int64)
    assert variation_distance(CHAIN, estimated(counts(rows), skewed)) < 0.005
    wrong = [Channel(c.name, c.retention, uniform(c.cardinality)) for c in skewed]
    assert variation_distance(CHAIN, estimated(counts(rows), wrong)) > 0.05


@pytest.mark.parametrize(("method", "kept"), [("default", 0.35), ("likelihood", 0.7)])
def test_its_own_error_is_about_the_true_one(method, kept) -> None:
    """The mean over 2 releases, within a factor of 1.6 either way."""
    rng = np.random.default_rng(9)
    truth = 0.5 * CHAIN + 0.5 * rng.dirichlet(np.ones(CHAIN.size)).reshape(CHAIN.shape)
    true, expected = [], []
    for seed in range(2):
        counted, given_channels = released(truth, 3_000, kept, seed)
        solution = METHODS[method].run(counted, given_channels, np.random.default_rng(0))
        own = METHODS[method].own_judge(
            counted, given_channels, solution, "population", np.random.default_rng(1)
        )
        true.append(variation_distance(truth, solution.shares))
        expected.append(own.expected_avd)
        assert own.standard_error is not None
    assert 1 / 1.6 < np.mean(expected) / np.mean(true) < 1.6


def test_what_the_unbiased_table_shows_to_be_missing_is_expected_as_error() -> None:
    """The product of marginals of a parity: its AVD is 1/2, and the known rows show it."""
    counted, given_channels = released(PARITY, 1_000_000, 0.8, 10)
    product = np.full((2, 2, 2), 1 / 8)
    assert squared_lacks(product, counted, given_channels)[0] ** 0.5 == pytest.approx(0.4, abs=0.02)
    assert squared_lacks(PARITY, counted, given_channels)[0] ** 0.5 < 0.01
    assert squared_lacks(product.sum(axis=(0, 1)), counted.marginal("c"), given_channels[2:]) == (0, 0)
    assert MOST_MISFIT == 2
