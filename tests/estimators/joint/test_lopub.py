"""The peer of `benchmarks/joint.py`: LoPub costs what it states, and finds the table where noise is small."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import lopub
from budget_opt.estimators.joint.metrics import variation_distance

TRUTH = np.array([[0.30, 0.05, 0.00], [0.10, 0.15, 0.40]])


def filters(epsilon, n=40_000, seed=4):
    rng = np.random.default_rng(seed)
    cells = rng.choice(TRUTH.size, n, p=TRUTH.ravel())
    columns = np.unravel_index(cells, TRUTH.shape)
    shares = np.bincount(cells, minlength=TRUTH.size).reshape(TRUTH.shape) / n
    return shares, [
        lopub.release(rng, name, codes, r, epsilon)
        for name, codes, r in zip("ab", columns, TRUTH.shape, strict=True)
    ]


@pytest.mark.parametrize("r", [2, 5, 18])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_bits_of_an_attribute_cost_exactly_its_epsilon(r, epsilon):
    one = lopub.release(np.random.default_rng(0), "a", np.zeros(1, dtype=np.int64), r, epsilon)
    likely, unlikely = (1 + one.kept) / 2, (1 - one.kept) / 2
    losses = [
        int(np.abs(one.codebook[x] - one.codebook[other]).sum()) * math.log(likely / unlikely)
        for x in range(r)
        for other in range(r)
    ]
    assert max(losses) == pytest.approx(epsilon)
    assert one.codebook.sum(axis=1).max() <= lopub.HASHES
    assert lopub.largest_distance(one.codebook) <= 2 * lopub.HASHES


def test_the_corrected_bits_are_unbiased_for_the_codewords():
    n = 200_000
    rng = np.random.default_rng(6)
    one = lopub.release(rng, "a", np.full(n, 2), 4, 2.0)
    # 6.5 standard errors over 64 bits: a false alarm in 2e8
    assert np.abs(one.bits.mean(axis=0, dtype=np.float64) - one.codebook[2]).max() < 6.5 * one.noise


def test_pairs_of_bits_find_the_table_and_single_bits_only_its_marginals():
    shares, released = filters(epsilon=20.0)
    pairs = lopub.estimate(released, "pairs")
    assert pairs.shape == TRUTH.shape
    assert pairs.min() >= 0
    assert pairs.sum() == pytest.approx(1)
    assert variation_distance(shares, pairs) < 0.02
    single = lopub.estimate(released, "concatenated", penalty=1e-3)
    assert variation_distance(shares.sum(axis=1), single.sum(axis=1)) < 0.02
    assert variation_distance(shares.sum(axis=0), single.sum(axis=0)) < 0.02
    # which of the tables with these marginals it takes, the bits do not say
    assert variation_distance(shares, single) > 0.05


def test_the_error_of_pairs_falls_with_the_number_of_records():
    errors = []
    for n in (2_000, 200_000):
        shares, released = filters(epsilon=4.0, n=n)
        errors.append(variation_distance(shares, lopub.estimate(released, "pairs")))
    assert errors[1] < errors[0] / 2.5
    assert errors[1] < 0.03


def test_large_designs_are_left_out():
    assert lopub.fits((9, 16, 7), "pairs")
    assert not lopub.fits((9, 16, 7, 15, 6), "pairs")
    assert lopub.fits((9, 16, 7, 15, 6), "concatenated")
