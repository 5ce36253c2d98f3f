"""Expectation-maximization on noisy counts: a concave problem, with a proved gap, against other solvers."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.estimators.channels import Channel, along_all, uniform
from budget_opt.estimators.joint.likelihood import cycle_of, maximum_likelihood, product_start, step_of
from budget_opt.estimators.joint.methods import METHODS
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.joint.dense import channels, counts, matrix, random_counts
from tests.estimators.release_model import FloatArray

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from([(2,), (5,), (2, 3), (4, 3), (2, 2, 3), (3, 2, 2, 2)])
retentions = st.sampled_from([0.02, 0.3, 0.7, 0.999])


def released(seed: int, shape: tuple[int, ...], kept: float, *, skewed: bool = True):
    reports = random_counts(np.random.default_rng(seed), shape)
    return reports.shares, channels(shape, [kept] * len(shape), skewed=skewed)


def dense_log_likelihood(shares: FloatArray, reports: FloatArray, given_channels) -> float:
    law = shares.ravel() @ matrix(given_channels)
    seen = reports.ravel() > 0
    return float(reports.ravel()[seen] @ np.log(law[seen]))


@given(seeds, shapes, retentions)
def test_the_likelihood_never_decreases_and_the_trace_is_that_of_a_dense_matrix(seed, shape, kept) -> None:
    reports, given_channels = released(seed, shape, kept)
    fit = maximum_likelihood(reports, given_channels, most_steps=60)
    assert np.all(np.diff(fit.trace) >= -1e-13)
    assert fit.shares.min() >= 0
    assert fit.shares.sum() == pytest.approx(1, abs=1e-12)
    assert fit.trace[-1] == pytest.approx(
        dense_log_likelihood(fit.shares, reports, given_channels), abs=1e-12
    )
    start = product_start(reports, given_channels)
    assert fit.trace[0] == pytest.approx(dense_log_likelihood(start, reports, given_channels), abs=1e-12)


@given(seeds, shapes, st.sampled_from([0.3, 0.7, 0.999]))
@settings(max_examples=30)
def test_where_it_converges_no_cell_could_gain_and_every_cell_that_is_there_is_level(
    seed, shape, kept
) -> None:
    """Kuhn and Tucker: g <= 1, and g = 1 where a share is not 0; g by a dense matrix."""
    reports, given_channels = released(seed, shape, kept)
    fit = maximum_likelihood(reports, given_channels, tolerance=1e-7, most_steps=60_000)
    assert fit.stopped_by == "convergence"
    p = matrix(given_channels)
    law = fit.shares.ravel() @ p
    gradient = p @ np.divide(reports.ravel(), law, out=np.zeros_like(law), where=law > 0)
    assert gradient.max() <= 1 + 1e-7 + 1e-12
    assert fit.gap == pytest.approx(max(gradient.max() - 1, 0), abs=1e-12)
    assert fit.shares.ravel() @ (1 - gradient) == pytest.approx(0, abs=1e-12)
    assert fit.shares.ravel() @ np.abs(1 - gradient) < 1e-3


@pytest.mark.parametrize("kept", [0.15, 0.5, 0.9])
@pytest.mark.parametrize("shape", [(4,), (3, 3), (2, 3, 2)])
def test_an_independent_solver_finds_no_more_likelihood_than_the_gap_allows(shape, kept) -> None:
    reports, given_channels = released(7, shape, kept)
    shares = cp.Variable(reports.size, nonneg=True)
    law = matrix(given_channels).T @ shares
    problem = cp.Problem(cp.Maximize(reports.ravel() @ cp.log(law)), [cp.sum(shares) == 1])
    best = problem.solve(solver=cp.CLARABEL)
    for steps in (3, 30, 60_000):
        fit = maximum_likelihood(reports, given_channels, most_steps=steps)
        assert -1e-7 <= best - fit.trace[-1] <= fit.gap + 1e-7
    assert best - fit.trace[-1] < 2e-7
    assert fit.shares.ravel() == pytest.approx(shares.value, abs=5e-3)


def test_inside_the_simplex_the_maximum_is_the_unbiased_table() -> None:
    table = counts(np.array([[400, 300, 350], [250, 420, 380]]))
    given_channels = channels((2, 3), (0.8, 0.7), skewed=True)
    inside = unbiased(table, given_channels)
    assert inside.min() > 0
    fit = maximum_likelihood(table.shares, given_channels, tolerance=1e-13)
    assert fit.stopped_by == "convergence"
    assert fit.shares == pytest.approx(inside, abs=1e-6)


def test_acceleration_reaches_the_gap_in_fewer_steps_than_plain_ones() -> None:
    reports, given_channels = released(3, (4, 3), 0.3)
    fit = maximum_likelihood(reports, given_channels, tolerance=1e-6)
    shares, plain = product_start(reports, given_channels), 0
    while float((step := step_of(shares, reports, given_channels)).gap) > 1e-6:
        shares, plain = step.shares, plain + 1
    assert fit.iterations < plain / 3


def test_several_data_sets_in_lockstep_are_each_fitted_by_itself() -> None:
    given_channels = channels((3, 2), (0.4, 0.6))
    rng = np.random.default_rng(5)
    several = np.stack([random_counts(rng, (3, 2)).shares for _ in range(4)], axis=-1)
    together = product_start(several, given_channels)
    alone = [product_start(several[..., one], given_channels) for one in range(4)]
    for _ in range(5):
        cycle = cycle_of(together, several, given_channels)
        together = cycle.shares
        for one in range(4):
            single = cycle_of(alone[one], several[..., one], given_channels)
            alone[one] = single.shares
            assert together[..., one] == pytest.approx(alone[one], abs=1e-12)
            assert cycle.gap[one] == pytest.approx(float(single.gap), abs=1e-12)


def test_without_randomization_the_maximum_is_the_table_itself() -> None:
    reports = random_counts(np.random.default_rng(8), (3, 4)).shares
    fit = maximum_likelihood(reports, channels((3, 4), (1.0, 1.0)))
    assert fit.shares == pytest.approx(reports, abs=1e-12)
    assert fit.stopped_by == "convergence"


def test_a_start_decides_where_it_begins_and_not_where_it_ends() -> None:
    reports, given_channels = released(11, (3, 3), 0.7)
    start = np.random.default_rng(1).dirichlet(np.ones(9)).reshape(3, 3)
    fit = maximum_likelihood(reports, given_channels, start, tolerance=1e-9, most_steps=60_000)
    usual = maximum_likelihood(reports, given_channels, tolerance=1e-9, most_steps=60_000)
    assert fit.trace[0] == pytest.approx(dense_log_likelihood(start, reports, given_channels), abs=1e-12)
    assert fit.trace[-1] == pytest.approx(usual.trace[-1], abs=2e-9)


def test_no_marginal_of_the_start_is_zero_where_the_corrected_one_is_negative() -> None:
    reports = np.array([[90.0, 2.0], [8.0, 0.0]]) / 100
    given_channels = channels((2, 2), (0.4, 0.4))
    corrected = along_all(Channel.corrected, given_channels, reports)
    assert corrected.sum(axis=0).min() < 0
    start = product_start(reports, given_channels)
    assert start.min() > 0
    assert start.sum() == pytest.approx(1)
    assert math.isclose(start.sum(axis=0).min(), 1e-3 / 2)
    assert uniform(2).size == 2


def test_the_method_by_name_converges_and_gives_its_trace() -> None:
    rng = np.random.default_rng(8)
    rows = rng.multinomial(3_000, rng.dirichlet(np.ones(12))).reshape(3, 4)
    given_channels = [Channel("a", 0.6, uniform(3)), Channel("b", 0.5, uniform(4))]
    counted = Counts(("a", "b"), rows)
    solution = METHODS["maximum-likelihood"].run(counted, given_channels, np.random.default_rng(0))
    ours = maximum_likelihood(counted.shares, given_channels)
    assert np.array_equal(solution.shares, ours.shares)
    assert solution.trace == ours.trace
    assert "ended by convergence" in solution.notes[0]
    held_out = METHODS["likelihood"].run(counted, given_channels, np.random.default_rng(0))
    assert held_out.trace is not None
    assert solution.trace[-1] >= held_out.trace[-1] - ours.gap
