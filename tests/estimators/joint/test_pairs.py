"""Pairs that agree, and the table of largest entropy with them."""

from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.estimators.joint.entropy import CLOSE, completed
from budget_opt.estimators.joint.held_out import likelihood_by_held_out
from budget_opt.estimators.joint.independent import product_of
from budget_opt.estimators.joint.pairs import agreeing, fitted_pairs
from tests.estimators.joint.dense import channels, random_counts
from tests.estimators.release_model import FloatArray

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from([(2, 3), (3, 2, 4), (2, 2, 3, 2)])


def pairs_of(table: FloatArray) -> dict[tuple[int, int], FloatArray]:
    axes = range(table.ndim)
    return {
        pair: table.sum(axis=tuple(axis for axis in axes if axis not in pair))
        for pair in combinations(axes, 2)
    }


def random_table(seed: int, shape: tuple[int, ...], concentration: float = 1.0) -> FloatArray:
    size = int(np.prod(shape))
    return np.random.default_rng(seed).dirichlet(np.full(size, concentration)).reshape(shape)


def test_every_pair_is_fitted_to_its_own_counts() -> None:
    counted, given_channels = (
        random_counts(np.random.default_rng(1), (3, 2, 4)),
        channels((3, 2, 4), [0.5] * 3),
    )
    fits = fitted_pairs(counted, given_channels, np.random.default_rng(2))
    assert list(fits) == [(0, 1), (0, 2), (1, 2)]
    rng = np.random.default_rng(2)
    for pair, fit in fits.items():
        names = [counted.attributes[axis] for axis in pair]
        alone = likelihood_by_held_out(counted.marginal(*names), [given_channels[axis] for axis in pair], rng)
        assert np.array_equal(fit.shares, alone.shares)


@given(seeds, shapes)
def test_agreeing_pairs_share_the_mean_marginals_and_keep_their_odds_ratios(seed, shape) -> None:
    pairs = {
        pair: random_table(seed + i, wanted.shape)
        for i, (pair, wanted) in enumerate(pairs_of(np.ones(shape)).items())
    }
    agreed = agreeing(pairs)
    for axis in range(len(shape)):
        before = [table.sum(axis=1 - pair.index(axis)) for pair, table in pairs.items() if axis in pair]
        after = [table.sum(axis=1 - pair.index(axis)) for pair, table in agreed.items() if axis in pair]
        for one in after:
            assert one == pytest.approx(np.mean(before, axis=0), abs=1e-8)
    for pair, table in agreed.items():
        log_ratio = np.log(table) - np.log(pairs[pair])
        assert np.diff(np.diff(log_ratio, axis=0), axis=1) == pytest.approx(0, abs=1e-6)


def test_pairs_that_agree_already_are_left_alone_with_their_empty_cells() -> None:
    table = np.array([[[0.2, 0.0], [0.1, 0.1]], [[0.0, 0.3], [0.3, 0.0]]])
    pairs = pairs_of(table)
    for pair, agreed in agreeing(pairs).items():
        assert agreed == pytest.approx(pairs[pair], abs=1e-9)
        assert np.all(agreed[pairs[pair] == 0] == 0)


@given(seeds, shapes)
@settings(max_examples=40)
def test_the_completion_has_the_pairs_of_a_table_and_no_less_entropy_than_it(seed, shape) -> None:
    table = random_table(seed, shape)
    done = completed(pairs_of(table), shape)
    assert done.residual <= CLOSE
    for pair, wanted in pairs_of(table).items():
        assert np.abs(pairs_of(done.shares)[pair] - wanted).sum() <= 4 * CLOSE
    assert done.shares.sum() == pytest.approx(1, abs=1e-12)
    entropies = [-(one[one > 0] * np.log(one[one > 0])).sum() for one in (done.shares, table)]
    assert entropies[0] >= entropies[1] - 1e-2


def test_an_independent_solver_finds_the_same_table_of_largest_entropy() -> None:
    table = random_table(5, (2, 3, 2))
    shares = cp.Variable(table.size, nonneg=True)
    constraints = []
    places = np.arange(table.size).reshape(table.shape)
    for pair, wanted in pairs_of(table).items():
        moved = np.moveaxis(places, pair, (0, 1))
        constraints += [
            cp.sum(shares[moved[cell].ravel()]) == wanted[cell] for cell in np.ndindex(*wanted.shape)
        ]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(shares))), constraints).solve(solver=cp.CLARABEL)
    assert completed(pairs_of(table), table.shape).shares.ravel() == pytest.approx(shares.value, abs=3e-4)


def test_two_attributes_are_their_pair_and_independent_ones_their_product() -> None:
    pair = random_table(6, (4, 3), 0.3)
    assert completed({(0, 1): pair}, (4, 3)).shares == pytest.approx(pair, abs=2e-9)
    rng = np.random.default_rng(7)
    product = product_of([rng.dirichlet(np.ones(r)) for r in (2, 4, 3, 2)])
    assert completed(pairs_of(product), product.shape).shares == pytest.approx(product, abs=1e-9)


def test_pairs_that_contradict_each_other_end_with_what_is_left() -> None:
    """a = b, b = c and a = not c: no table has these pairs, though all marginals agree."""
    same, other = np.diag([0.5, 0.5]), np.diag([0.5, 0.5])[::-1]
    done = completed({(0, 1): same, (1, 2): same, (0, 2): 0.9 * other + 0.1 * same}, (2, 2, 2))
    assert done.residual > 0.1
    assert np.all(np.isfinite(done.shares))
    assert done.shares.sum() == pytest.approx(1)
    impossible = completed({(0, 1): same, (1, 2): same, (0, 2): other}, (2, 2, 2))
    assert impossible.residual > 0.1
    assert np.all(np.isfinite(impossible.shares))
