"""The bootstrap on request, against the standard errors by formula and against its own definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.asked import Bootstrap, bootstrap_of
from budget_opt.estimators.bootstrap.redrawing import plausible_truths, redrawn_reports, resampled_rows
from budget_opt.estimators.bootstrap.replicates import Replicates
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.groups.functions import group_means_of_cells
from budget_opt.estimators.groups.means import means_by_group
from budget_opt.estimators.matrices.correlations import correlation_matrix, correlations
from budget_opt.estimators.moments.moment import moment_from_cells
from budget_opt.estimators.releases.counting import Cells, Counts, cells_of_counts
from tests.estimators.release_model import design, released_shares, skewed

DESIGNS = [design("a", 0.5, [0, 1, 3]), design("b", 0.6, [0, 1])]
TARGETS: tuple[Target, ...] = ("population", "data")


def counted(n: int = 4_000) -> Counts:
    law = released_shares(skewed(np.random.default_rng(1), (3, 2)), DESIGNS)
    return Counts(("a", "b"), np.random.default_rng(2).multinomial(n, law.ravel()).reshape(3, 2))


def bootstrap(times: int = 400) -> Bootstrap:
    return Bootstrap(times, np.random.default_rng(3))


def moment(cells: Cells, designs: Any) -> FloatArray:
    return np.array([moment_from_cells(cells, designs, "population").value])


@pytest.mark.parametrize("target", TARGETS)
def test_its_standard_errors_are_those_by_formula(target: Target) -> None:
    """At 15 %: 400 replicates leave 3.5 % of a standard error, the formula has its own."""
    counts = counted()
    found = bootstrap().errors(moment, counts.cells, DESIGNS, target)
    by_formula = moment_from_cells(counts.cells, DESIGNS, target)
    assert np.std(found) == pytest.approx(by_formula.standard_error, rel=0.15)
    assert abs(np.mean(found)) < 0.25 * by_formula.standard_error
    matrix = bootstrap().errors(correlations, counts.cells, DESIGNS, target)
    judged = correlation_matrix(counts.cells, DESIGNS, target)
    assert np.std(matrix[:, 0, 1]) == pytest.approx(judged.standard_errors[0, 1], rel=0.15)
    turned = Counts(("b", "a"), counts.rows.T)
    groups = bootstrap().errors(group_means_of_cells, turned.cells, DESIGNS[::-1], target)
    means = means_by_group(turned, DESIGNS[1], DESIGNS[0], ("no", "yes"), target)
    said = [means["no"].standard_error, means["yes"].standard_error]
    assert np.std(groups[:, :2], axis=0) == pytest.approx(said, rel=0.15)


def test_rows_keep_their_survey_weights() -> None:
    rng = np.random.default_rng(5)
    codes = tuple(rng.integers(0, r, 3_000) for r in (3, 2))
    weights = rng.gamma(1.0, size=3_000)
    cells = Cells(codes, None, weights, weights**2)
    errors = bootstrap(500).errors(moment, cells, DESIGNS, "population")
    assert np.std(errors) == pytest.approx(
        moment_from_cells(cells, DESIGNS, "population").standard_error, rel=0.2
    )
    again = resampled_rows(cells, np.random.default_rng(6))
    assert again.n == 3_000
    assert again.rows is not None
    assert again.weights == pytest.approx(again.rows * weights)
    assert again.squares == pytest.approx(again.rows * weights**2)


def test_what_cannot_be_drawn_again_is_refused_by_name() -> None:
    counts = counted()
    weighted = Counts(("a", "b"), counts.rows, 1.0 * counts.rows, 1.0 * counts.rows).cells
    with pytest.raises(InputError, match="do not say which rows had which weight"):
        bootstrap().errors(moment, weighted, DESIGNS, "population")
    with pytest.raises(InputError, match="for the population only"):
        bootstrap().errors(moment, weighted, DESIGNS, "data")
    wide = [design(f"w{m}", 0.5, list(range(40))) for m in range(4)]
    with pytest.raises(InputError, match=r"2,560,000 cells; at most 1,048,576"):
        bootstrap().errors(moment, Cells((np.zeros(5, int),) * 4), wide, "data")


def test_redrawn_reports_follow_the_channel() -> None:
    """At 6 standard deviations of every cell: false alarm below 1e-7."""
    table = np.array([[4_000_000, 0], [1_000_000, 2_000_000], [0, 500]])
    drawn = redrawn_reports(table, DESIGNS, np.random.default_rng(1))
    assert drawn.sum() == table.sum()
    expected = released_shares(table.astype(float), DESIGNS)
    assert np.all(np.abs(drawn - expected) <= 6 * np.sqrt(expected))
    public = Channel("p", 1.0, np.full(3, 1 / 3)), Channel("q", 1.0, np.full(2, 0.5))
    assert np.array_equal(redrawn_reports(table, public, np.random.default_rng(1)), table)


def test_plausible_truths_are_whole_rows_that_lead_to_what_was_seen() -> None:
    table = np.array([[4_000, 300], [1_000, 2_000], [700, 500]])
    seen = np.rint(released_shares(table.astype(float), DESIGNS)).astype(np.int64)
    truths = plausible_truths(Counts(("a", "b"), seen), DESIGNS)
    assert truths.sum() == seen.sum()
    assert np.all(truths >= 0)
    assert truths == pytest.approx(table, rel=0.02)
    large = plausible_truths(Counts(("a", "b"), seen * 10**13), DESIGNS)
    assert large.sum() == seen.sum() * 10**13


def test_the_same_generator_draws_the_same_and_none_is_seed_0() -> None:
    cells = counted().cells
    one, other = (bootstrap_of(50, None) for _ in range(2))
    assert one is not None
    assert other is not None
    assert np.array_equal(
        one.errors(moment, cells, DESIGNS, "data"), other.errors(moment, cells, DESIGNS, "data")
    )
    assert bootstrap_of(0, None) is None


@pytest.mark.parametrize("times", [1, 19, 100_001, 2.5, True, "100"])
def test_a_number_of_replicates_out_of_range_is_refused(times: Any) -> None:
    with pytest.raises(InputError, match="replicates from 20"):
        bootstrap_of(times, None)


def test_replicates_say_what_they_are() -> None:
    found = Replicates(2.0, np.array([-1.0, 0.0, 1.0, np.nan]), "bootstrap: drawn")
    assert found.undefined == 1
    assert found.standard_error == pytest.approx(1)
    assert found.interval(0.5) == pytest.approx((1.5, 2.5))
    assert found.to_dict()["how"].startswith("bootstrap")
    with pytest.raises(InputError, match="replicates have no estimate"):
        _ = Replicates(2.0, np.array([np.nan, 1.0]), "").standard_error


def test_the_errors_of_the_data_target_are_measured_from_the_originals_they_came_from() -> None:
    """Without randomization nothing varies, and the replicates are the truth itself."""
    counts = counted()
    public = [design("a", 1.0, [0, 1, 3]), design("b", 1.0, [0, 1])]
    errors = bootstrap(20).errors(moment, cells_of_counts(counts.rows), public, "data")
    assert np.all(errors == 0)
