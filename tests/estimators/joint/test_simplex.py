"""The nearest table of shares, against an independent solver and the conditions of its optimum."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from budget_opt.estimators.joint.simplex import nearest_shares, simplex
from budget_opt.estimators.joint.unbiased import unbiased
from tests.estimators.joint.dense import channels, random_counts

TABLES = array_shapes(max_dims=3, max_side=6).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-1e3, 1e3))
)


@settings(max_examples=20)
@given(TABLES)
def test_the_projection_meets_the_conditions_of_the_optimum(table: np.ndarray) -> None:
    """Nearest in squared distance: all positive cells moved by one amount, all others were below it."""
    shares = nearest_shares(table)
    assert shares.shape == table.shape
    assert np.all(shares >= 0)
    assert shares.sum() == pytest.approx(1.0, abs=1e-9)
    moved = (table - shares)[shares > 0]
    assert np.ptp(moved) <= 1e-9 * max(1.0, np.abs(table).max())
    assert np.all(table[shares == 0] <= moved.max() + 1e-9 * max(1.0, np.abs(table).max()))


@given(
    array_shapes(max_dims=2, max_side=6).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.floats(-1e300, 1e300))
    )
)
def test_the_projection_of_any_finite_table_adds_up_to_1(table: np.ndarray) -> None:
    shares = nearest_shares(table)
    assert np.all(shares >= 0)
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert shares[table == table.max()] == pytest.approx(shares.max(), abs=1e-12)


def test_the_projection_of_a_large_table_of_noise_adds_up_to_1() -> None:
    """The cells add up to 4e11 here."""
    table = np.random.default_rng(7).normal(2e6, 1e6, 200_000)
    assert nearest_shares(table).sum() == pytest.approx(1.0, abs=1e-12)
    assert nearest_shares(np.full(300_000, 1e17)) == pytest.approx(1 / 300_000, rel=1e-9)


def test_the_projection_is_that_of_cvxpy() -> None:
    rng = np.random.default_rng(5)
    for scale in (0.01, 0.3, 3.0):
        table = rng.normal(0.05, scale, (4, 5))
        q = cp.Variable((4, 5), nonneg=True)
        cp.Problem(cp.Minimize(cp.sum_squares(q - table)), [cp.sum(q) == 1]).solve(solver="CLARABEL")
        assert nearest_shares(table) == pytest.approx(q.value, abs=1e-6)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=20))
def test_a_table_of_shares_stays_as_it_is(numbers: list[float]) -> None:
    shares = np.array(numbers) / sum(numbers)
    assert nearest_shares(shares) == pytest.approx(shares, abs=1e-12)


def test_it_is_never_further_from_a_distribution_than_the_unbiased_table() -> None:
    """A projection on a convex set moves nearer to every point of it."""
    rng = np.random.default_rng(6)
    shape = (3, 4)
    given_channels = channels(shape, (0.3, 0.3))
    counted = random_counts(rng, shape)
    before, after = unbiased(counted, given_channels), simplex(counted, given_channels)
    for truth in rng.dirichlet(np.ones(12), 50):
        assert np.linalg.norm(after.ravel() - truth) <= np.linalg.norm(before.ravel() - truth) + 1e-12
