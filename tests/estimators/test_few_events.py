"""R30: intervals where no normal law holds: the middle of two categories, few rows, rare events."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel
from budget_opt.estimators.estimate import Estimate, Target
from budget_opt.estimators.groups.means import means_by_group
from budget_opt.estimators.matrices.correlations import correlation_matrix
from budget_opt.estimators.matrices.covariances import covariance_matrix
from budget_opt.estimators.matrices.scored import scored
from budget_opt.estimators.moments.moment import moment_from_cells
from budget_opt.estimators.releases.counting import Cells, Counts
from tests.estimators.release_model import design, moment_of, release, released_shares

TIMES = 10_000
TARGETS: tuple[Target, ...] = ("population", "data")


def coverage(
    p: float, n: int, retention: float, target: Target, interval: Callable[[Cells], Estimate], truth: float
) -> float:
    """How often the interval of a release of two categories, the second with the share p, holds the truth."""
    rng = np.random.default_rng([n, len(target)])
    one = design("a", retention, [0, 1])
    if target == "data":
        ones = release(rng, np.array([n - round(n * p), round(n * p)]), [one], TIMES)[:, 1]
    else:
        ones = rng.binomial(n, released_shares([1 - p, p], [one])[1], TIMES)
    held = {}
    for k in np.unique(ones):
        low, high = interval(Counts(("a",), [n - k, k]).cells).interval()
        held[k] = low <= truth <= high
    return float(np.mean([held[k] for k in ones]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "p"), [(1_000, 0.45), (10_000, 0.48), (1_000, 0.5), (10_000, 0.2)])
def test_r30_variances_of_two_categories_cover_near_the_middle_too(n: int, p: float, target: Target) -> None:
    """At most 97.5 % (see `of_two`); value +- z errors covered 0.86 to 0.88 there, and 1.0 in the middle."""

    def variance(cells: Cells) -> Estimate:
        return covariance_matrix(cells, [design("a", 0.5, [0, 1])], target)["a", "a"]

    covered = coverage(p, n, 0.5, target, variance, p * (1 - p))
    assert 0.94 <= covered <= 0.985
    if p in (0.2, 0.5):
        assert covered <= 0.962


@pytest.mark.parametrize("target", TARGETS)
def test_variances_have_no_bias_by_the_noise_of_the_mean(target: Target) -> None:
    """Three categories, few rows, much noise; without the mean's variance it would be some 7 errors."""
    rng = np.random.default_rng(5)
    one, held = design("a", 0.3, [0, 1, 2]), np.array([60, 80, 60])
    truth = 0.6
    tables = (
        release(rng, held, [one], 1_500)
        if target == "data"
        else rng.multinomial(200, released_shares(held / 200, [one]), 1_500)
    )
    values = [scored(Counts(("a",), t).cells, (one,))[0].variance(target) for t in tables]
    whole = covariance_matrix(Counts(("a",), tables[0]).cells, [one], target)
    assert whole.values[0, 0] == pytest.approx(values[0], rel=1e-12)
    assert abs(np.mean(values) - truth) <= 4 * np.std(values) / math.sqrt(1_500)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "p", "retention"), [(1_000, 0.001, 0.999), (100, 0.02, 0.99)])
def test_r30_a_mean_of_a_rare_category_has_the_interval_of_its_share(
    n: int, p: float, retention: float, target: Target
) -> None:
    """The plain normal interval covered 0.77 and 0.91; from the data that of a share covers 0.91 here."""
    one = design("a", retention, [2, 5])

    def mean(cells: Cells) -> Estimate:
        found = moment_from_cells(cells, [one], target)
        assert any("few rows or chance events" in note for note in found.notes)
        return found

    assert coverage(p, n, retention, target, mean, 2 + 3 * p) >= (0.94 if target == "population" else 0.9)


@pytest.mark.parametrize("target", TARGETS)
def test_r30_pairs_of_rare_categories_are_flagged_and_their_intervals_are_wider(target: Target) -> None:
    rng = np.random.default_rng(2)
    p, n = 0.08, 300
    designs = [design(name, 0.95, [0, 1]) for name in "ab"]
    both = 0.3 * p * (1 - p) + p * p
    table = np.array([[1 - 2 * p + both, p - both], [p - both, both]])
    (counts,) = rng.multinomial(n, released_shares(table, designs).ravel(), 1).reshape(-1, 2, 2)
    cells = Counts(("a", "b"), counts).cells
    moment = moment_from_cells(cells, designs, target)
    low, high = moment.interval()
    assert moment.degrees is not None
    assert high - low > 2 * 1.99 * moment.standard_error
    assert "few rows or chance events" in moment.notes[-1]
    for matrix in (covariance_matrix(cells, designs, target), correlation_matrix(cells, designs, target)):
        assert any("stand behind the intervals of" in note and "a x b" in note for note in matrix.notes)
        entry = matrix["a", "b"]
        assert "few rows or chance events" in entry.notes[-1]
        assert entry.degrees == pytest.approx(moment.degrees)
        ends = matrix.interval()
        assert entry.interval() == pytest.approx((ends[0][0, 1], ends[1][0, 1]))
    assert matrix.to_dict()["notes"]


@pytest.mark.parametrize("target", TARGETS)
def test_many_events_leave_the_normal_interval_and_no_note(target: Target) -> None:
    designs = [design(name, 0.7, [0, 1, 2]) for name in "ab"]
    rows = np.random.default_rng(3).multinomial(5_000, np.full(9, 1 / 9)).reshape(3, 3)
    cells = Counts(("a", "b"), rows).cells
    found = moment_from_cells(cells, designs, target)
    assert found.degrees is None
    assert found.notes == ()
    matrix = covariance_matrix(cells, designs, target)
    assert matrix.notes == ()
    assert np.all(np.isinf(matrix.degrees))


def test_a_small_public_group_is_flagged_and_takes_students_t_of_its_own_rows() -> None:
    """15 of 300 rows; the plain normal intervals covered 0.85 to 0.87."""
    group, scored = Channel("g", 1.0, np.array([0.5, 0.5])), design("y", 0.7, [0, 1, 2, 3])
    counts = Counts(("g", "y"), [[4, 5, 3, 3], [80, 70, 65, 70]])
    found = means_by_group(counts, group, scored, ("small", "large"), "population")
    small = found["small"]
    assert small.degrees == pytest.approx(14, abs=0.01)
    assert "about 15" in small.notes[0]
    assert any(note.startswith("small: few rows") for note in found.notes)
    assert found["large"].notes == ()
    assert found["large"].degrees is None


def test_scores_that_are_all_equal_have_no_group_means() -> None:
    counts = Counts(("g", "y"), [[40, 50], [60, 70]])
    with pytest.raises(InputError, match="scores are all equal"):
        means_by_group(
            counts, Channel("g", 1.0, np.array([0.5, 0.5])), design("y", 0.7, [1, 1]), ("n", "s"), "data"
        )


def weighted(weights: Any) -> Cells:
    w = np.asarray(weights, dtype=float)
    codes = np.arange(w.size) % 2
    return Cells((codes, (codes + np.arange(w.size) // 2) % 2), None, w, w * w)


@pytest.mark.parametrize("target", TARGETS)
def test_rows_without_weight_do_not_count(target: Target) -> None:
    """All weights 0 but one: 1,000 rows, and an error of 0."""
    cells, designs = weighted([1.0] + 999 * [0.0]), [design(name, 0.5, [0, 1]) for name in "ab"]
    mean = Cells(cells.codes[:1], None, cells.weights, cells.squares)
    asked: list[Callable[[], Any]] = [
        lambda: moment_from_cells(cells, designs, target),
        lambda: moment_from_cells(mean, designs[:1], target),
        lambda: covariance_matrix(cells, designs, target),
        lambda: correlation_matrix(cells, designs, target),
    ]
    for ask in asked:
        with pytest.raises(InputError, match=r"its 1,000 rows count as 1 by their survey weights \(Kish\)"):
            ask()
    counts = Counts(("g", "y"), [[250, 250], [250, 250]], [[1, 0], [0, 0]], [[1, 0], [0, 0]])
    with pytest.raises(InputError, match="count as 1 by their survey weights"):
        means_by_group(counts, Channel("g", 1.0, np.array([0.5, 0.5])), designs[0], ("n", "s"), target)


def test_the_factor_of_the_sample_is_kishs() -> None:
    """Half of the rows without weight: the very numbers of the other half alone."""
    designs = [design("a", 0.5, [0, 1, 2])]
    half = Counts(("a",), [30, 40, 30]).cells
    doubled = Counts(("a",), [60, 80, 60], [30, 40, 30], [30, 40, 30]).cells
    one, other = (moment_from_cells(cells, designs, "population") for cells in (half, doubled))
    assert other.standard_error == pytest.approx(one.standard_error, rel=1e-14)
    matrices = [covariance_matrix(cells, designs, "population") for cells in (half, doubled)]
    assert matrices[0].standard_errors == pytest.approx(matrices[1].standard_errors, rel=1e-14)


@pytest.mark.slow
def test_r30_few_effective_rows_of_survey_weights_take_students_t() -> None:
    """Lognormal weights, sigma 1.5, 100 rows worth 21 on the average: the normal interval covers 0.930."""
    rng, times = np.random.default_rng(4), 10_000
    one = design("a", 0.5, [0, 1, 2])
    law, truth = released_shares([0.3, 0.4, 0.3], [one]), 1.0
    covered = used = 0
    for _ in range(times):
        w = np.exp(1.5 * rng.normal(size=100))
        if w.sum() ** 2 < 5 * (w * w).sum():
            continue
        used += 1
        found = moment_from_cells(Cells((rng.choice(3, 100, p=law),), None, w, w * w), [one], "population")
        low, high = found.interval()
        covered += low <= truth <= high
    assert used > 0.95 * times
    assert 0.935 <= covered / used <= 0.965


@pytest.mark.slow
def test_r30_moments_of_a_table_with_few_events() -> None:
    """The interval covers 0.89 only, being skewed; nearly all that miss the truth are flagged."""
    rng = np.random.default_rng(8)
    p, n, times = 0.02, 300, 4_000
    designs = [design(name, 0.95, [0, 1]) for name in "ab"]
    both = 0.3 * p * (1 - p) + p * p
    table = np.array([[1 - 2 * p + both, p - both], [p - both, both]])
    truth = moment_of(table, designs)
    covered = 0
    for counts in rng.multinomial(n, released_shares(table, designs).ravel(), times).reshape(-1, 2, 2):
        found = moment_from_cells(Counts(("a", "b"), counts).cells, designs, "population")
        low, high = found.interval()
        covered += low <= truth <= high or any("few rows" in note for note in found.notes)
    assert covered / times >= 0.97


@pytest.mark.parametrize("target", TARGETS)
def test_events_that_could_have_occurred_and_did_not_are_flagged(target: Target) -> None:
    """Two rare categories that never met: the error looks small, and the interval covered 0.46."""
    designs = [design(name, 0.95, [0, 1]) for name in "ab"]
    cells = Counts(("a", "b"), [[274, 13], [13, 0]]).cells
    found = moment_from_cells(cells, designs, target)
    assert "few rows or chance events (about 0.68)" in found.notes[-1]
    assert any("a x b" in note for note in covariance_matrix(cells, designs, target).notes)
