"""Where the Laplace design is better than randomized response: searches over epsilon and shares.

The grid is `EPSILONS`; shares of two categories are a grid, of more Dirichlet draws from a fixed seed, single
categories, halves at two of them, and uniform.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from benchmarks.wang_designs import FloatArray, dispersion, laplace, response, retention, share_variances
from benchmarks.wang_graph import noise

EPSILONS = tuple(np.geomspace(0.05, 12.0, 45).tolist())
_SEED = 2016

Criterion = Callable[[FloatArray, FloatArray], Any]
"""A number, or one a category, of a design matrix and of shares, the less the better."""


def excess(criterion: Criterion, epsilon: float, shares: FloatArray) -> Any:
    """The Laplace design's error over that of randomized response, less 1: below 0 the claim fails."""
    t = shares.shape[-1]
    return criterion(laplace(epsilon, t), shares) / criterion(response(epsilon, t), shares) - 1.0


def some_shares(t: int, draws: int = 300) -> FloatArray:
    """Shares to search over, shape (..., t), all positive: random, one category, two of them, uniform."""
    random = np.random.default_rng([_SEED, t])
    drawn = [random.dirichlet(np.full(t, a), draws) for a in (0.1, 0.3, 1.0)]
    alone = np.eye(t)
    pairs = [(alone[i] + alone[j]) / 2.0 for i in range(t) for j in range(i)]
    shares = np.vstack([*drawn, alone, *pairs, np.full((1, t), 1.0 / t)])
    mixed: FloatArray = 0.999 * shares + 0.001 / t
    return mixed


def binary_shares() -> FloatArray:
    """Shares of two categories, shape (99, 2)."""
    ones = np.linspace(0.01, 0.99, 99)
    return np.column_stack([1.0 - ones, ones])


def fails_until(criterion: Criterion, shares: FloatArray) -> float:
    """The largest epsilon at which the Laplace design is better."""
    worse = [e for e in EPSILONS if excess(criterion, e, shares) < 0]
    last = EPSILONS.index(max(worse))
    return float(brentq(lambda e: excess(criterion, e, shares), EPSILONS[last], EPSILONS[last + 1]))


def worst(criterion: Criterion, t: int) -> tuple[float, float, FloatArray]:
    """The least excess, with its epsilon and shares."""
    shares = some_shares(t)
    found = []
    for epsilon in EPSILONS:
        every = excess(criterion, epsilon, shares)
        found.append(
            (float(every.min()), epsilon, shares[every.reshape(len(shares), -1).min(axis=1).argmin()])
        )
    return min(found, key=lambda one: one[0])


def total_variance(P: FloatArray, shares: FloatArray) -> float:
    """n times the sum of the variances of the corrected shares."""
    return float(share_variances(P, shares).sum())


def mean_variance(P: FloatArray, shares: FloatArray) -> float:
    """n times the variance of the corrected mean, categories at 0 .. t - 1."""
    scores = np.arange(shares.size)
    return float(scores @ dispersion(P, shares) @ scores)


def triangles_cross() -> float:
    """epsilon below which noise of the global sensitivity beats corrected reports, triangles of a node.

    Where the noise of three edges dominates, mean absolute errors sqrt(2 / pi) s2^(3/2) n / sqrt(2) against
    3 n / epsilon, for every large n.
    """

    def apart(epsilon: float) -> float:
        return float(np.sqrt(1.0 / np.pi) * noise(retention(epsilon, 2)) ** 1.5 - 3.0 / epsilon)

    return float(brentq(apart, 0.05, 5.0))
