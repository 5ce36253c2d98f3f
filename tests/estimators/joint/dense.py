"""The oracle: everything about a joint table by one dense matrix over all its cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.drawing import drawn_originals
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.release_model import FloatArray, IntArray, release, released_shares
from tests.estimators.statistics.simulation import designs

NAMES = "abcdefgh"
REPETITIONS = 10_000


def channels(
    shape: Sequence[int], retentions: Sequence[float], *, skewed: bool = False
) -> tuple[Channel, ...]:
    """One channel an axis; `skewed`: the replacements of every axis are drawn from 1 : 2 : ... : r."""
    backgrounds = [np.arange(1.0, r + 1) / (r * (r + 1) / 2) if skewed else uniform(r) for r in shape]
    return tuple(
        Channel(name, kept, q) for name, kept, q in zip(NAMES, retentions, backgrounds, strict=False)
    )


def matrix(given: Sequence[Channel]) -> FloatArray:
    """P[x, y] over all cells, the Kronecker product."""
    one = [
        channel.retention * np.eye(channel.cardinality)
        + (1 - channel.retention) * channel.background[None, :]
        for channel in given
    ]
    return reduce(np.kron, one)


def counts(rows: IntArray, weights: FloatArray | None = None, squares: FloatArray | None = None) -> Counts:
    return Counts(tuple(NAMES[: rows.ndim]), rows, weights, squares)


def random_counts(rng: np.random.Generator, shape: Sequence[int], *, weighted: bool = False) -> Counts:
    """Counts with empty cells; `weighted`: survey weights from 0.5 to 3.5 that differ within cells."""
    size = int(np.prod(shape))
    codes = rng.integers(size, size=40 * size // 8 + 8)
    rows = np.bincount(codes, minlength=size).reshape(tuple(shape))
    if not weighted:
        return counts(rows)
    w = rng.uniform(0.5, 3.5, codes.size)
    first, second = (np.bincount(codes, power, minlength=size).reshape(tuple(shape)) for power in (w, w**2))
    return counts(rows, first, second)


def covariance(counted: Counts, given: Sequence[Channel], target: str) -> FloatArray:
    """The covariance matrix of all cells of the unbiased table, written out.

    Population: of a mean of independent rows, about the estimated mean. Data: the mean over the estimated
    truths of the multinomial covariance of one report given its truth. Both through the dense inverse.
    """
    p = matrix(given)
    inverse = np.linalg.inv(p)  # row y: the score of every cell
    second, total = counted.second.ravel(), counted.first.sum()
    if target == "population":
        scores = inverse - counted.shares.ravel() @ inverse
        return scores.T @ np.diag(second) @ scores * counted.effective / (counted.effective - 1) / total**2
    truths = second @ inverse
    whole = np.zeros_like(p)
    for share, law in zip(truths, p, strict=True):
        whole += share * inverse.T @ (np.diag(law) - np.outer(law, law)) @ inverse
    return whole / total**2


def releases(
    shares: FloatArray, given: tuple[Channel, ...], n: int, target: Target, seed: int
) -> tuple[FloatArray, Iterator[Counts]]:
    """The truth of the target, and as many releases as there are repetitions."""
    rng = np.random.default_rng(seed)
    if target == "data":
        fixed = drawn_originals(shares, n, rng)
        return fixed / n, map(counts, release(rng, fixed, designs(given), REPETITIONS))
    tables = rng.multinomial(n, released_shares(shares, designs(given)).ravel(), REPETITIONS)
    return shares, map(counts, tables.reshape(-1, *shares.shape))
