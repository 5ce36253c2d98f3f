"""Tests of independence: their false alarms, their statistics against scipy, and the naive test's failure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.statistics import independence
from budget_opt.estimators.statistics.independence import Method, independence_test
from budget_opt.estimators.statistics.plain import plain_phi_square
from tests.estimators.release_model import IntArray, released_shares
from tests.estimators.statistics.simulation import channels_of, designs, independent, strong

N = 3_000
SMALL = Counts(("a", "b"), np.array([[30, 20], [20, 40]]))


def reports(shares: FloatArray, channels: Sequence[Channel], times: int, seed: int, n: int = N) -> IntArray:
    moved = released_shares(shares, designs(channels)).ravel()
    drawn: IntArray = np.random.default_rng(seed).multinomial(n, moved, times)
    return drawn.reshape(times, *shares.shape)


def counted(rows: IntArray) -> Counts:
    return Counts(tuple("abcd"[: rows.ndim]), rows)


def rejected(
    shares: FloatArray, channels: Sequence[Channel], method: Method, times: int, n: int = N
) -> float:
    tables = reports(shares, channels, times, 3, n)
    return float(
        np.mean([independence_test(counted(one), channels, method).p_value < 0.05 for one in tables])
    )


def naive(rows: IntArray, channels: Sequence[Channel]) -> float:
    """The textbook's p value of the corrected table, cut off at 0."""
    cells = np.maximum(along_all(Channel.corrected, channels, rows / rows.sum()), 0)
    freedoms = math.prod(r - 1 for r in rows.shape)
    return float(stats.chi2.sf(rows.sum() * plain_phi_square(cells / cells.sum()), freedoms))


@pytest.mark.parametrize("method", ["released", "likelihood", "corrected"])
@pytest.mark.parametrize("retentions", [(0.3, 0.4), pytest.param((0.9, 0.7), marks=pytest.mark.slow)])
def test_false_alarms_are_5_percent_and_those_of_the_naive_test_nearly_all(
    method: Method, retentions: tuple[float, float]
) -> None:
    """300 releases, at 6 standard deviations of the simulation (7.5 percentage points)."""
    channels, times = channels_of((3, 4), retentions), 300
    share = rejected(independent((3, 4)), channels, method, times)
    assert abs(share - 0.05) <= 6 * math.sqrt(0.05 * 0.95 / times)
    if method == "corrected":
        wrong = [naive(one, channels) < 0.05 for one in reports(independent((3, 4)), channels, 200, 4)]
        assert np.mean(wrong) > (0.95 if retentions == (0.3, 0.4) else 0.5)


def test_association_is_found_by_every_method() -> None:
    channels = channels_of((3, 4), (0.5, 0.5))
    for method in ("released", "likelihood", "corrected"):
        assert rejected(strong((3, 4)), channels, method, 20) > 0.9


@pytest.mark.slow
def test_false_alarms_of_mutual_independence_of_three_are_5_percent_and_pairs_and_triples_are_found() -> None:
    channels = channels_of((2, 3, 2), (0.6, 0.5, 0.7))
    free = np.einsum("ij,k->ijk", independent((2, 3)), [0.7, 0.3])
    for method in ("released", "corrected"):
        share = rejected(free, channels, method, 300)
        assert abs(share - 0.05) <= 6 * math.sqrt(0.05 * 0.95 / 300)
    sign = np.array([1, -1])
    triple = np.full((2, 3, 2), 1 / 12) * (1 + 0.9 * np.einsum("i,j,k->ijk", sign, [1, 0, -1], sign))
    assert rejected(triple, channels, "released", 50, 20_000) > 0.9
    assert (
        independence_test(counted(reports(free, channels, 1, 1)[0]), channels).freedoms == 12 - 1 - 1 - 2 - 1
    )


@pytest.mark.parametrize(("method", "power"), [("released", 1.0), ("likelihood", 0.0)])
def test_on_the_released_table_it_is_scipys_test(method: Method, power: float) -> None:
    rows = reports(strong((3, 4)), channels_of((3, 4), (0.3, 0.4)), 1, 9)[0]
    found = independence_test(counted(rows), channels_of((3, 4), (0.3, 0.4)), method)
    expected = stats.chi2_contingency(rows, correction=False, lambda_=power)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.freedoms == expected.dof
    assert found.weights == pytest.approx((1.0,) * 6)


def test_the_corrected_test_is_pearsons_without_randomization_and_heavier_with_it() -> None:
    rows = reports(independent((3, 3)), channels_of((3, 3), (1.0, 1.0)), 1, 2)[0]
    plain = independence_test(counted(rows), channels_of((3, 3), (1.0, 1.0)), "corrected")
    assert plain.p_value == pytest.approx(stats.chi2_contingency(rows, correction=False).pvalue, rel=0.02)
    heavy = independence_test(counted(rows), channels_of((3, 3), (0.5, 0.4)), "corrected")
    assert heavy.weights is not None
    assert min(heavy.weights) >= (1 / 0.5 / 0.4) ** 2 * 0.9


def test_equal_survey_weights_change_nothing_and_unequal_ones_keep_false_alarms_at_5_percent() -> None:
    """Weights that depend on one attribute, where the effective number alone would not be right."""
    channels = channels_of((3, 3), (0.6, 0.7))
    tables = reports(independent((3, 3)), channels, 300, 6)
    rows = tables[0]
    for method in ("released", "corrected"):
        bare = independence_test(counted(rows), channels, method)
        weighted = Counts(("a", "b"), rows, 3.0 * rows, 9.0 * rows)
        assert independence_test(weighted, channels, method).p_value == pytest.approx(bare.p_value, rel=1e-6)
    heavy = np.array([[1.0], [1.0], [6.0]]) * np.ones((3, 3))
    values = [
        independence_test(Counts(("a", "b"), one, heavy * one, heavy**2 * one), channels).p_value < 0.05
        for one in tables
    ]
    assert abs(np.mean(values) - 0.05) <= 6 * math.sqrt(0.05 * 0.95 / 300)


def test_the_weights_of_a_survey_are_the_eigenvalues_of_the_covariance_of_the_standardized_table() -> None:
    """Rao and Scott's, from the dense covariance of all cells' contributions to d."""
    rng = np.random.default_rng(5)
    rows, weight = rng.integers(5, 60, (3, 4)), rng.uniform(0.5, 4, (3, 4))
    counts = Counts(("a", "b"), rows, weight * rows, weight**2 * rows)
    found = independence_test(counts, channels_of((3, 4), (0.5, 0.5)))
    shares = counts.shares
    p, q = shares.sum(axis=1), shares.sum(axis=0)
    first, second = ((np.eye(one.size) - one) / np.sqrt(one) for one in (p, q))
    psi = np.kron(first, second)  # reports x categories
    squares = counts.second.ravel() / counts.first.sum() ** 2 * counts.effective
    expected = np.linalg.eigvalsh(psi.T @ (squares[:, None] * psi))[-6:]
    assert found.weights == pytest.approx(tuple(expected), rel=1e-9)
    assert found.freedoms == 6


def test_large_weighted_tables_take_as_many_equal_chi_squares_as_have_the_same_variance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from budget_opt.estimators.statistics import null_weights

    channels = channels_of((4, 5), (0.5, 0.5))
    rows = reports(independent((4, 5)), channels, 1, 3)[0]
    weights = np.random.default_rng(2).uniform(0.5, 3, rows.shape)
    counts = Counts(("a", "b"), rows, weights * rows, weights**2 * rows)
    exact = independence_test(counts, channels)
    monkeypatch.setattr(null_weights, "LARGEST_KERNEL", 4)
    rough = independence_test(counts, channels)
    assert exact.weights is not None
    assert rough.weights is not None
    assert sum(rough.weights) == pytest.approx(sum(exact.weights), rel=1e-9)
    assert rough.p_value == pytest.approx(exact.p_value, abs=0.02)
    monkeypatch.setattr(null_weights, "LARGEST_TRACES", 4)
    with pytest.raises(InputError, match="more than 4"):
        independence_test(counts, channels)


def test_the_permutation_test_is_right_on_few_rows_and_the_same_for_the_same_seed() -> None:
    channels = channels_of((2, 3), (0.5, 0.5))
    shares = np.outer([0.9, 0.1], [0.8, 0.15, 0.05])
    tables = reports(shares, channels, 300, 8, 40)
    found = [independence_test(counted(one), channels, "permutation", permutations=199) for one in tables]
    share = np.mean([one.p_value <= 0.05 for one in found])
    assert share <= 0.05 + 6 * math.sqrt(0.05 * 0.95 / 300)
    again = independence_test(counted(tables[0]), channels, "permutation", permutations=199)
    assert again == found[0]
    assert found[0].weights is None
    # of the 6 ways to pair two and two, 2 are as far from independence as this one
    tied = independence_test(
        counted(np.array([[2, 0], [0, 2]])), channels_of((2, 2), (0.5, 0.5)), "permutation"
    )
    assert abs(tied.p_value - 1 / 3) < 6 * math.sqrt(2 / 9 / 9_999)
    other = independence_test(counted(tables[0]), channels, "permutation", permutations=9_999, seed=1)
    assert abs(other.p_value - found[0].p_value) < 6 * math.sqrt(0.25 / 199)


def test_a_public_column_makes_it_a_test_of_homogeneity_and_its_empty_categories_do_not_count() -> None:
    channels = channels_of((4, 3), (1.0, 0.5))
    rows = reports(strong((4, 3)), channels, 1, 5)[0]
    rows[2] = 0
    found = independence_test(counted(rows), channels)
    assert found.freedoms == 2 * 2
    assert found.p_value == pytest.approx(stats.chi2_contingency(rows[[0, 1, 3]], correction=False).pvalue)
    noisy = independence_test(counted(rows), channels_of((4, 3), (1.0, 0.5)), "corrected")
    assert noisy.freedoms == 2 * 2


def test_what_cannot_be_tested_is_refused() -> None:
    channels = channels_of((2, 2), (0.5, 0.5))
    rows = np.array([[5, 3], [2, 8]])
    one_category = Counts(("a", "b"), np.array([[5, 3], [0, 0]]))
    weighted = Counts(("a", "b"), rows, 2.0 * rows, 4.0 * rows)
    with pytest.raises(InputError, match="one category alone"):
        independence_test(one_category, channels)
    with pytest.raises(InputError, match="fewer than two"):
        independence_test(Counts(("a",), np.array([3, 4])), channels[:1])
    with pytest.raises(InputError, match="method"):
        independence_test(counted(rows), channels, "naive")  # type: ignore[arg-type]  # what is refused
    with pytest.raises(InputError, match="equal weight"):
        independence_test(weighted, channels, "permutation")
    with pytest.raises(InputError, match="permutations"):
        independence_test(counted(rows), channels, "permutation", permutations=0)


def test_few_expected_counts_and_more_rows_than_fit_32_bits() -> None:
    channels = channels_of((2, 2), (0.5, 0.5))
    few = independence_test(counted(np.array([[5, 3], [2, 4]])), channels)
    assert any("least expected count" in note for note in few.notes)
    many = independence_test(counted(np.array([[2, 1], [1, 2]]) * 2**40), channels)
    assert many.n == 6 * 2**40
    assert many.p_value == 0
    assert str(many)
    assert many.to_dict()["freedoms"] == 1
    assert many.rows()[0]["attributes"] == "a x b"


@pytest.mark.parametrize(
    ("method", "weighted"),
    [("corrected", False), pytest.param("released", True, marks=pytest.mark.slow)],
)
def test_p_values_of_many_cells_are_spread_under_independence(method: Method, weighted: bool) -> None:
    """10 tables of 30 x 30: none below 1e-4, and not all on one side; it was 0 and 1 at random."""
    channels, rng = channels_of((30, 30), (0.6, 0.6)), np.random.default_rng(2)
    tables = reports(np.full((30, 30), 1 / 900), channels, 10, 8, 50_000)
    found = []
    for one in tables:
        heavy = rng.binomial(one, 0.3)
        first, second = (one + (2.0**power - 1) * heavy for power in (1, 2))
        counts = Counts(("a", "b"), one, first, second) if weighted else counted(one)
        found.append(independence_test(counts, channels, method).p_value)
    assert 1e-4 < min(found) < 0.5 < max(found) < 1 - 1e-4


@pytest.mark.parametrize("value", [True, 1.5, math.nan, "x", 0, 10**9, None])
def test_permutations_are_a_whole_number(value: Any) -> None:
    with pytest.raises(InputError, match=r"permutations: is .* must be a whole number from 1 to 1,000,000"):
        independence_test(SMALL, channels_of((2, 2), (0.5, 0.5)), "permutation", permutations=value)


@pytest.mark.parametrize("value", [True, -1, 1.5, math.nan, "x", None])
def test_a_seed_is_a_whole_number_since_no_seed_is_not_reproducible(value: Any) -> None:
    for method in ("permutation", "released"):
        with pytest.raises(InputError, match=r"seed: is .* must be a whole number from 0"):
            independence_test(SMALL, channels_of((2, 2), (0.5, 0.5)), method, seed=value)


def test_permutations_in_parts_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no p value of another test is computed for them."""
    channels = channels_of((2, 2), (0.5, 0.5))
    whole = independence_test(SMALL, channels, "permutation", permutations=np.int64(500), seed=3)
    monkeypatch.setattr(independence, "_DRAWN_CELLS", 4 * 77)
    monkeypatch.setattr(independence, "weighted_chi_square_tail", None)
    assert independence_test(SMALL, channels, "permutation", permutations=500, seed=3) == whole
    assert (whole.freedoms, whole.weights) == (1, None)
