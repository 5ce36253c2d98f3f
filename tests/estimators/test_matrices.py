"""Covariance and correlation matrices: exact identities, what is withheld, and how they are read."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.matrices.correlations import correlation_matrix, correlations
from budget_opt.estimators.matrices.covariances import covariance_matrix
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.moments.moment import moment_from_cells
from budget_opt.estimators.releases.counting import Cells, counts_of
from tests.estimators.release_model import design, moment_of, released_shares, skewed
from tests.estimators.test_matrix_coverage import correlations_of, covariances_of

TARGETS: tuple[Target, ...] = ("population", "data")
DESIGNS = (
    design("a", 0.4, [0, 1, 4]),
    design("b", 0.5, [1, 0], [0.3, 0.7]),
    design("c", 0.6, [0, 1, 2, 3, 400]),
)


def rows(n: int = 20_000, *, weighted: bool = False) -> Cells:
    """Associated rows, several blocks of them."""
    rng = np.random.default_rng(2)
    law = released_shares(skewed(rng, (3, 2, 5)), DESIGNS).ravel()
    drawn = np.unravel_index(rng.choice(law.size, n, p=law / law.sum()), (3, 2, 5))
    codes = tuple(column.astype(np.uint8) for column in drawn)
    weights = rng.gamma(2.0, size=n) * (1 + codes[0])
    return Cells(codes, None, weights, weights**2) if weighted else Cells(codes)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_an_entry_of_the_covariance_matrix_is_the_moment_of_its_pair(target: Target, weighted: bool) -> None:
    cells = rows(weighted=weighted)
    found = covariance_matrix(cells, DESIGNS, target)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        pair = Cells((cells.codes[a], cells.codes[b]), None, cells.weights, cells.squares)
        alone = moment_from_cells(pair, (DESIGNS[a], DESIGNS[b]), target)
        entry = found[DESIGNS[a].name, DESIGNS[b].name]
        assert entry.value == pytest.approx(alone.value, rel=1e-9)
        assert entry.standard_error == pytest.approx(alone.standard_error, rel=1e-9)
        assert entry.raw == pytest.approx(alone.raw, rel=1e-9)
        assert entry.effective_n == pytest.approx(alone.effective_n, rel=1e-9)
        assert alone.usefulness is not None
        assert entry.usefulness is not None
        assert entry.usefulness.mse_raw == pytest.approx(alone.usefulness.mse_raw, rel=1e-9)
        assert entry.usefulness.useful == alone.usefulness.useful


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_and_their_counts_give_the_same_matrices(weighted: bool) -> None:
    cells = rows(weighted=weighted)
    counted = counts_of(cells, "abc", (3, 2, 5)).cells
    for build in (covariance_matrix, correlation_matrix):
        one, other = build(cells, DESIGNS, "data"), build(counted, DESIGNS, "data")
        assert one.values == pytest.approx(other.values, rel=1e-9)
        assert one.standard_errors == pytest.approx(other.standard_errors, rel=1e-9)
        assert one.mse_raw == pytest.approx(other.mse_raw, rel=1e-9, nan_ok=True)


def test_the_expected_release_of_a_table_gives_back_its_own_covariances_and_correlations() -> None:
    """Corrected variances, not divided ones, on the diagonal (DESIGN 2.2)."""
    table = skewed(np.random.default_rng(7), (3, 2, 5))
    expected = np.rint(1e15 * released_shares(table, DESIGNS)).astype(np.int64)
    cells = counts_of(
        Cells(tuple(np.indices((3, 2, 5)).reshape(3, -1)), expected.ravel()), "abc", (3, 2, 5)
    ).cells
    truth = covariances_of(table, DESIGNS)
    found = covariance_matrix(cells, DESIGNS, "population")
    assert found.values == pytest.approx(truth, rel=1e-7)
    assert found.values[0, 1] == pytest.approx(moment_of(table.sum(axis=2), DESIGNS[:2]), rel=1e-7)
    assert correlation_matrix(cells, DESIGNS, "data").values == pytest.approx(
        correlations_of(truth), rel=1e-7
    )
    assert correlations(cells, DESIGNS) == pytest.approx(correlations_of(truth), rel=1e-7)


def test_r30_counts_beyond_2_to_the_31_keep_their_digits() -> None:
    small = counts_of(rows(), "abc", (3, 2, 5)).cells
    many = Cells(small.codes, small.rows * 10**10) if small.rows is not None else small
    for build in (covariance_matrix, correlation_matrix):
        one, other = (build(cells, DESIGNS, "population") for cells in (small, many))
        assert other.n == 2 * 10**14
        # a variance has the variance of the mean added, which small counts have more of
        assert np.triu(other.values, 1) == pytest.approx(np.triu(one.values, 1), rel=1e-9)
        assert np.diag(other.values) == pytest.approx(np.diag(one.values), rel=1e-2)
        assert other.standard_errors * 1e5 == pytest.approx(one.standard_errors, rel=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_without_randomization_it_is_the_sample_covariance_of_numpy_and_statsmodels(weighted: bool) -> None:
    """The standard error of the correlation too: that of its influence function (delta method)."""
    open_designs = [design(one.name, 1.0, one.scores) for one in DESIGNS]
    cells = rows(weighted=weighted)
    scores = np.stack([one.scores[code] for one, code in zip(open_designs, cells.codes, strict=True)])
    judge = DescrStatsW(scores.T, weights=cells.weights, ddof=0)
    wanted = np.array(judge.cov)
    w = np.ones(cells.n) if cells.weights is None else cells.weights
    kish = cells.effective / (cells.effective - 1)
    of_means = kish * np.sum((w * (scores - judge.mean[:, None])) ** 2, axis=1) / w.sum() ** 2
    np.fill_diagonal(wanted, np.diag(wanted) + of_means)
    assert covariance_matrix(cells, open_designs, "population").values == pytest.approx(wanted, rel=1e-9)
    exactly = covariance_matrix(cells, open_designs, "data").values
    assert exactly == pytest.approx(np.array(judge.cov), rel=1e-9)
    found = correlation_matrix(cells, open_designs, "population")
    assert found.values == pytest.approx(judge.corrcoef, rel=1e-9)
    assert found.values == pytest.approx(found.raw, rel=1e-9)
    z = (scores - judge.mean[:, None]) / np.sqrt(judge.var)[:, None]
    rho = judge.corrcoef[0, 2]
    psi = z[0] * z[2] - rho * (z[0] ** 2 + z[2] ** 2) / 2
    error = math.sqrt(np.sum((w * psi) ** 2)) / w.sum() * math.sqrt(kish)
    assert found.standard_errors[0, 2] == pytest.approx(error, rel=1e-9)
    exact = correlation_matrix(cells, open_designs, "data")
    assert np.all(exact.standard_errors <= found.standard_errors)


def test_units_of_the_scores_do_not_matter() -> None:
    cells = rows()
    scaled = [Design(one.name, one.retention, one.background, one.scores * 1e-60 + 1e-61) for one in DESIGNS]
    one, other = (correlation_matrix(cells, designs, "data") for designs in (DESIGNS, scaled))
    assert other.values == pytest.approx(one.values, rel=1e-9)
    assert other.standard_errors == pytest.approx(one.standard_errors, rel=1e-9)
    small = covariance_matrix(cells, scaled, "data")
    assert small.values == pytest.approx(covariance_matrix(cells, DESIGNS, "data").values * 1e-120, rel=1e-9)


def noise_only(retention: float, n: int = 400) -> tuple[Cells, list[Design]]:
    rng = np.random.default_rng(4)
    designs = [design(name, retention, [0, 1]) for name in "xyz"]
    return Cells(tuple(rng.integers(0, 2, n) for _ in designs)), designs


def test_near_retention_0_a_matrix_of_noise_is_refused_and_not_returned_in_silence() -> None:
    cells, designs = noise_only(0.01)
    with pytest.raises(NoiseError, match="the most certain of 3"):
        covariance_matrix(cells, designs, "data", 1.0)
    assert np.all(np.isfinite(covariance_matrix(cells, designs, "data", math.inf).values))


def test_a_noisy_pair_among_others_is_withheld_by_name() -> None:
    cells, designs = noise_only(0.9)
    designs[2] = design("z", 0.004, [0, 1])
    found = covariance_matrix(cells, designs, "population", 1.0)
    assert math.isfinite(found.values[0, 1])
    assert math.isnan(found.values[0, 2])
    assert found.rows()[2]["value"] is None
    assert any("withheld" in note and "x x z" in note for note in found.notes)
    with pytest.raises(InputError, match="withheld"):
        found["x", "z"]


def test_a_corrected_variance_that_is_not_clearly_above_0_has_no_correlations() -> None:
    """A category that never occurs in the originals: what is seen of it is noise."""
    rng = np.random.default_rng(9)
    designs = [design("x", 0.5, [0, 1]), design("never", 0.5, [0, 1]), design("y", 0.5, [0, 1])]
    reports = [rng.integers(0, 2, 5000), (rng.random(5000) < 0.25).astype(int), rng.integers(0, 2, 5000)]
    found = correlation_matrix(Cells(tuple(reports)), designs, "population")
    assert np.isnan(found.values[1]).all()
    assert math.isfinite(found.values[0, 2])
    assert any("never" in note for note in found.notes)
    with pytest.raises(InputError, match="withheld"):
        found.repaired()
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_correlation_outside_its_range_is_flagged_and_its_interval_is_not_beyond() -> None:
    cells = Cells((np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])), np.array([60, 0, 0, 60]) + 15)
    designs = [design("x", 0.55, [0, 1]), design("y", 0.55, [0, 1])]
    found = correlation_matrix(cells, designs, "data")
    assert found.values[0, 1] > 1
    assert any(note.startswith("outside [-1, 1]: x x y") for note in found.notes)
    entry = found["x", "y"]
    assert entry.notes == ("outside [-1, 1]",)
    assert entry.interval()[1] == 1.0
    assert entry.interval() == pytest.approx((found.interval()[0][0, 1], found.interval()[1][0, 1]))
    assert any("positive semidefinite" in note for note in found.notes)
    assert np.all(np.abs(found.repaired()) <= 1)


def test_a_matrix_is_read_by_name_as_rows_as_json_and_as_text() -> None:
    found = correlation_matrix(rows(), DESIGNS, "population")
    assert [(row["first"], row["second"]) for row in found.rows()] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(covariance_matrix(rows(), DESIGNS, "population").rows()) == 6
    assert found["a", "b"].value == found["b", "a"].value == found.values[0, 1]
    assert found.values.diagonal() == pytest.approx(1)
    assert "a x b" in str(found)
    assert "effective n" in str(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["pairs"][0]["kind"] == "estimated"
    with pytest.raises(InputError, match="'d' is not an attribute"):
        found["a", "d"]


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(InputError, match="has 2 rows, a pair needs at least 3"):
        covariance_matrix(Cells((np.array([0, 1]),) * 3), DESIGNS, "data")
