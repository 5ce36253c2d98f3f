"""R30: the expected AVD where rows are few for the cells, and what cannot be excluded, against the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from budget_opt.estimators.channels import along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.cell_errors import cell_errors
from budget_opt.estimators.joint.drawing import drawn_originals, drawn_reports
from budget_opt.estimators.joint.mean_errors import difference_deviation, expected_avds, poisson_deviation
from budget_opt.estimators.joint.methods import METHODS
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.own_error import ROUGH, qualified
from budget_opt.estimators.joint.plausible import plausible_shares
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.solution import OwnError
from budget_opt.estimators.joint.unbiased import unbiased
from tests.estimators.joint.dense import channels, counts
from tests.estimators.release_model import FloatArray, skewed, sparse

TARGETS: tuple[Target, ...] = ("population", "data")
MEANS = np.array([1e-6, 0.3, 0.99, 1.0, 1.01, 4.5, 30.0, 900.0])


def flat(*shape: int) -> FloatArray:
    return np.full(shape, 1 / np.prod(shape))


def own_errors(
    method: str, truth: FloatArray, n: int, kept: float, target: Target, releases: int
) -> tuple[FloatArray, list[OwnError]]:
    """The true AVD of every release, and what the method says of it."""
    given, rng = channels(truth.shape, [kept] * truth.ndim), np.random.default_rng(61)
    true, own = [], []
    for _ in range(releases):
        originals = drawn_originals(truth, n, rng)
        released = counts(drawn_reports(originals, given, rng))
        solution = METHODS[method].run(released, given, np.random.default_rng(0))
        true.append(variation_distance(truth if target == "population" else originals / n, solution.shares))
        judged = METHODS[method].own_judge(released, given, solution, target, np.random.default_rng(1))
        own.append(qualified(judged, released.effective))
    return np.array(true), own


def test_mean_deviations_of_counts_are_their_sums() -> None:
    k = np.arange(2000)
    law = stats.poisson(MEANS[:, None]).pmf(k)
    assert poisson_deviation(MEANS) * np.sqrt(MEANS) == pytest.approx(
        (law * abs(k - MEANS[:, None])).sum(axis=1), rel=1e-9
    )
    difference = np.arange(-1500, 1500)
    for mean, found in zip(MEANS, difference_deviation(MEANS) * np.sqrt(MEANS), strict=True):
        masses = stats.skellam(mean / 2, mean / 2).pmf(difference)
        assert found == pytest.approx(float((masses * abs(difference)).sum()), rel=1e-4)


@pytest.mark.parametrize(
    ("truth", "n", "kept", "target"),
    [
        (flat(10, 10, 10), 100, 0.99, "data"),
        (flat(10, 10, 10), 1000, 0.95, "population"),
        (sparse(np.random.default_rng(7), (10, 10, 10)), 100, 0.99, "population"),
        (skewed(np.random.default_rng(7), (10, 10, 10)), 300, 0.9, "data"),
        (flat(50, 50), 300, 0.95, "data"),
        (flat(50), 30, 0.9, "population"),
        (skewed(np.random.default_rng(8), (3, 4)), 2000, 0.5, "data"),
    ],
)
def test_r30_the_unbiased_table_expects_its_true_error_however_few_rows_a_cell_has(
    truth: FloatArray, n: int, kept: float, target: Target
) -> None:
    """Means over 12 of 200 releases. By s sqrt(2 / pi) of estimated errors: 0.44 to 4.9 of the true one."""
    given, rng = channels(truth.shape, [kept] * truth.ndim), np.random.default_rng(61)
    true, expected = [], []
    for release in range(200):
        originals = drawn_originals(truth, n, rng)
        released = counts(drawn_reports(originals, given, rng))
        whole = truth if target == "population" else originals / n
        true.append(variation_distance(whole, unbiased(released, given)))
        if release < 12:
            expected.append(expected_avds(released, given, target, 8, rng).mean())
    assert 0.9 < np.mean(expected) / np.mean(true) < 1.1


@pytest.mark.parametrize("method", ["simplex", "truncated"])
def test_r30_a_projected_table_of_few_rows_expects_its_true_error(method: str) -> None:
    """Drawn from the projected table itself it was 0.65 of the true one."""
    true, own = own_errors(method, flat(10, 10, 5), 300, 0.95, "population", 3)
    assert 0.9 < np.mean([one.expected_avd for one in own]) / true.mean() < 1.1


@pytest.mark.parametrize(
    ("method", "truth", "n", "kept"),
    [
        ("default", np.diag(np.full(4, 0.25)), 300, 0.1),
        ("independent", sparse(np.random.default_rng(7), (10, 10)), 1000, 0.2),
        ("hybrid", np.diag(np.full(4, 0.25)), 300, 0.1),
        ("likelihood", sparse(np.random.default_rng(7), (10, 10)), 1000, 0.2),
    ],
)
def test_r30_dependence_that_the_noise_hides_is_not_excluded(
    method: str, truth: FloatArray, n: int, kept: float
) -> None:
    """The expected error is 0.6 to 0.85 of the true one here: the result gives the reach, and says so."""
    true, own = own_errors(method, truth, n, kept, "population", 2)
    for avd, one in zip(true, own, strict=True):
        assert one.up_to is not None
        assert max(avd, one.expected_avd) <= one.up_to <= 1.0
        assert (one.rough is not None) == (one.up_to > ROUGH * one.expected_avd)


@pytest.mark.parametrize("method", ["default", "unbiased", "simplex"])
def test_r30_the_error_of_a_handful_of_rows_is_told_to_be_rough(method: str) -> None:
    truth = np.outer([0.8, 0.2], [0.6, 0.3, 0.1])
    for n, is_few in ((2, True), (9, True), (100, False)):
        own = own_errors(method, truth, n, 0.8, "population", 1)[1][0]
        assert (own.rough is not None and f"worth {n} rows" in own.rough) == is_few
        assert not is_few or (own.up_to is not None and own.up_to >= 1)


def test_where_many_events_stand_behind_a_cell_its_error_is_normal() -> None:
    given, truth = channels((2, 3), (0.5, 0.6)), skewed(np.random.default_rng(4), (2, 3))
    released = counts(np.rint(1e6 * along_all(type(given[0]).spread, given, truth)).astype(np.int64))
    for target in TARGETS:
        normal = cell_errors(released, given, target).standard_errors.sum() / np.sqrt(2 * np.pi)
        found = expected_avds(released, given, target, 8, np.random.default_rng(0))
        assert found.mean() == pytest.approx(normal, rel=1e-3)


def test_without_randomization_the_data_are_known_exactly() -> None:
    released = counts(np.array([[3, 0, 1], [0, 7, 2]]))
    found = expected_avds(released, channels((2, 3), (1.0, 1.0)), "data", 2, np.random.default_rng(0))
    assert np.array_equal(found, [0, 0])


@pytest.mark.parametrize(("shape", "n", "kept"), [((30, 30), 200, 0.97), ((400,), 100, 0.95)])
def test_a_plausible_truth_gives_rows_to_what_was_not_seen(shape: Sequence[int], n: int, kept: float) -> None:
    """Of equal shares the projection makes a few large ones, from which as many single reports never come."""
    rng, given = np.random.default_rng(5), channels(shape, [kept] * len(shape))
    released = counts(drawn_reports(drawn_originals(flat(*shape), n, rng), given, rng))
    plausible, projected = plausible_shares(released, given), nearest_shares(unbiased(released, given))
    assert plausible.sum() == pytest.approx(1)
    assert plausible.min() > 0.2 / plausible.size
    single = [np.sum(table * n * np.exp(-table * n)) for table in (plausible, projected)]
    seen = np.count_nonzero(released.rows == 1)
    assert abs(single[0] - seen) < 0.15 * seen
    assert single[1] < 0.6 * seen


def test_a_plausible_truth_of_many_rows_is_the_unbiased_table() -> None:
    given, truth = channels((3, 4), (0.5, 0.6)), skewed(np.random.default_rng(6), (3, 4))
    released = counts(np.rint(1e7 * along_all(type(given[0]).spread, given, truth)).astype(np.int64))
    assert variation_distance(truth, plausible_shares(released, given)) < 1e-3
