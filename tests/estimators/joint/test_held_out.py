"""Stopping by held-out rows: fair folds, repeatable, no dependence from noise, all where it shows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.joint.drawing import drawn_originals, drawn_reports
from budget_opt.estimators.joint.held_out import INDEPENDENCE, folds, likelihood, likelihood_by_held_out
from budget_opt.estimators.joint.likelihood import maximum_likelihood, product_start, step_of
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.joint.dense import channels, counts, random_counts
from tests.estimators.release_model import FloatArray

DEPENDENT = np.array([[0.30, 0.02, 0.01], [0.03, 0.28, 0.02], [0.01, 0.03, 0.30]])


def release_of(shares: FloatArray, n: int, kept: float, seed: int) -> tuple[Counts, tuple[Channel, ...]]:
    rng = np.random.default_rng(seed)
    given = channels(shares.shape, [kept] * shares.ndim)
    return counts(drawn_reports(drawn_originals(shares, n, rng), given, rng)), given


def test_folds_are_whole_rows_that_add_up_to_the_counts_and_are_drawn_uniformly() -> None:
    """Chi-square of 5 parts over 200 thinnings; a fair one fails at 1e-9."""
    table = counts(np.array([[400, 0], [37, 1]]))
    rng = np.random.default_rng(1)
    drawn = np.array([folds(table, rng) for _ in range(200)])
    assert drawn.shape == (200, 2, 2, 5)
    assert np.array_equal(drawn.sum(axis=-1), np.broadcast_to(table.rows, (200, 2, 2)))
    assert np.array_equal(drawn, np.rint(drawn))
    for cell in [(0, 0), (1, 0), (1, 1)]:
        found = drawn[:, *cell].sum(axis=0)
        assert stats.chisquare(found).pvalue > 1e-9


def test_folds_of_survey_weights_add_up_to_the_effective_number_of_rows_in_shares_of_weight() -> None:
    table = random_counts(np.random.default_rng(2), (3, 4), weighted=True)
    parts = folds(table, np.random.default_rng(3))
    assert parts.sum() == pytest.approx(table.effective)
    assert parts.sum(axis=-1) / parts.sum() == pytest.approx(table.shares)


def test_a_generator_of_one_seed_gives_one_estimate_and_weights_of_one_size_change_nothing() -> None:
    plain, given = release_of(DEPENDENT, 3_000, 0.4, 4)
    fit = likelihood_by_held_out(plain, given, np.random.default_rng(5))
    again = likelihood_by_held_out(plain, given, np.random.default_rng(5))
    assert np.array_equal(fit.shares, again.shares)
    assert fit.trace == again.trace
    other = likelihood_by_held_out(plain, given, np.random.default_rng(6))
    assert not np.array_equal(fit.shares, other.shares)
    weighted = counts(plain.rows, 2.5 * plain.rows, 6.25 * plain.rows)
    same = likelihood_by_held_out(weighted, given, np.random.default_rng(5))
    assert same.shares == pytest.approx(fit.shares, abs=1e-10)


def test_the_trace_never_decreases_and_ends_at_the_best_step() -> None:
    table, given = release_of(DEPENDENT, 2_000, 0.5, 7)
    fit = likelihood_by_held_out(table, given, np.random.default_rng(0))
    assert len(fit.trace) == fit.iterations + 1
    assert np.all(np.diff(fit.trace) >= -1e-13)
    assert fit.stopped_by == "held-out likelihood"
    best = maximum_likelihood(table.shares, given, tolerance=1e-10).trace[-1]
    assert fit.trace[-1] <= best <= fit.trace[-1] + fit.gap + 1e-12
    told = likelihood(table, given, np.random.default_rng(0))
    assert told.trace == fit.trace
    assert f"best after {fit.iterations} steps" in told.notes[0]


def test_the_estimate_is_the_mean_over_the_steps_by_prior_times_held_out_likelihood() -> None:
    """Written out for four steps: each fold's own path, and the posterior weights in plain numbers."""
    table, given = release_of(DEPENDENT, 400, 0.4, 11)
    fit = likelihood_by_held_out(table, given, np.random.default_rng(12), most_steps=4)
    parts = folds(table, np.random.default_rng(12))
    held, points = np.zeros(5), []
    for part in [*np.moveaxis(parts, -1, 0), None]:
        learned = table.rows if part is None else table.rows - part
        reports = learned / learned.sum()
        shares = product_start(reports, given)
        for done in range(5):
            if part is None:
                points.append(shares)
            else:
                held[done] += np.sum(part * np.log(along_all(Channel.spread, given, shares)))
            shares = step_of(shares, reports, given).shares
    prior = np.array([INDEPENDENCE, *((1 - INDEPENDENCE) / np.arange(1, 5) / np.sum(1 / np.arange(1, 5)))])
    weights = prior * np.exp(held - held.max())
    weights /= weights.sum()
    assert weights[1:].min() > 1e-4
    assert fit.start_weight == pytest.approx(weights[0], rel=1e-9)
    assert fit.shares == pytest.approx(np.tensordot(weights, points, axes=1), abs=1e-12)


def test_independent_attributes_stay_at_the_start_and_strong_dependence_leaves_it() -> None:
    independent = np.outer([0.6, 0.3, 0.1], [0.5, 0.3, 0.2])
    weights = []
    for seed in range(40):
        table, given = release_of(independent, 2_000, 0.35, seed)
        weights.append(likelihood_by_held_out(table, given, np.random.default_rng(seed)).start_weight)
    assert np.mean(np.array(weights) > 0.5) > 0.85
    for seed in range(5):
        table, given = release_of(DEPENDENT, 5_000, 0.4, seed)
        fit = likelihood_by_held_out(table, given, np.random.default_rng(seed))
        assert fit.start_weight < 1e-6


def test_stopping_early_is_nearer_to_the_truth_than_the_maximum() -> None:
    """Some dependence in much noise; the mean over 12 releases, where it is nearer by more than a fifth."""
    rng = np.random.default_rng(9)
    product = np.outer(rng.dirichlet(np.full(5, 2.0)), rng.dirichlet(np.full(6, 2.0)))
    truth = 0.7 * product + 0.3 * rng.dirichlet(np.ones(30)).reshape(5, 6)
    early, late = [], []
    for seed in range(12):
        table, given = release_of(truth, 3_000, 0.35, seed)
        fit = likelihood_by_held_out(table, given, np.random.default_rng(seed))
        early.append(variation_distance(truth, fit.shares))
        late.append(variation_distance(truth, maximum_likelihood(table.shares, given).shares))
    assert np.mean(early) < 0.8 * np.mean(late)


def test_where_a_fold_holds_no_rows_it_stays_at_the_product_of_marginals() -> None:
    table, given = counts(np.array([[1, 0], [0, 0]])), channels((2, 2), (0.5, 0.5))
    fit = likelihood_by_held_out(table, given, np.random.default_rng(0))
    assert fit.stopped_by == "too few rows"
    assert fit.iterations == 0
    assert fit.start_weight == 1
    assert np.array_equal(fit.shares, product_start(table.shares, given))
    assert "too few rows" in likelihood(table, given, np.random.default_rng(0)).notes[0]


def test_a_limit_of_steps_is_told() -> None:
    table, given = release_of(DEPENDENT, 20_000, 0.3, 10)
    fit = likelihood_by_held_out(table, given, np.random.default_rng(0), most_steps=4)
    assert fit.stopped_by == "number of steps"
    assert fit.iterations <= 4


def test_without_randomization_held_out_rows_agree_with_the_table_itself() -> None:
    table = counts(np.rint(DEPENDENT * 50_000).astype(np.int64))
    given = channels((3, 3), (1.0, 1.0))
    fit = likelihood_by_held_out(table, given, np.random.default_rng(0))
    assert fit.shares == pytest.approx(along_all(Channel.corrected, given, table.shares), abs=1e-9)
