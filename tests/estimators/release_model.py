"""The oracle of the tests: joint tables pushed through dense matrices, moments by their definition.

A table is an array of shares or counts, one axis an attribute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.moments.designs import Design
from budget_opt.mechanisms.sampler import sampler_for

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def design(
    name: str,
    retention: float,
    scores: Sequence[float],
    background: Sequence[float] | None = None,
    cluster: str | None = None,
) -> Design:
    f = np.array(scores, dtype=float)
    q = np.full(f.size, 1 / f.size) if background is None else np.array(background, dtype=float)
    return Design(name, retention, q, f, cluster=cluster)


def matrix(one: Design) -> FloatArray:
    return one.retention * np.eye(one.cardinality) + (1 - one.retention) * one.background[None, :]


def released_shares(table: npt.ArrayLike, designs: Sequence[Design]) -> FloatArray:
    """The expected joint table of the release; members of a cluster stay together or are drawn together."""
    moved = np.asarray(table, dtype=float)
    clusters: dict[str, list[int]] = {}
    for axis, one in enumerate(designs):
        if one.cluster is None:
            moved = np.moveaxis(np.tensordot(moved, matrix(one), axes=(axis, 0)), -1, axis)
        else:
            clusters.setdefault(one.cluster, []).append(axis)
    for axes in clusters.values():
        noise = moved.sum(axis=tuple(axes), keepdims=True)
        for axis in axes:
            noise = noise * designs[axis].background.reshape(
                [-1 if other == axis else 1 for other in range(moved.ndim)]
            )
        kept = designs[axes[0]].retention
        moved = kept * moved + (1 - kept) * noise
    return moved


def moment_of(table: npt.ArrayLike, designs: Sequence[Design]) -> float:
    """E prod (f_m - E f_m) over the table by its definition; E f for one attribute."""
    shares = np.asarray(table, dtype=float) / np.sum(table)
    grid = np.ones(shares.shape)
    for axis, one in enumerate(designs):
        f = one.scores.reshape([-1 if other == axis else 1 for other in range(shares.ndim)])
        grid = grid * (f - (np.sum(shares * f) if len(designs) > 1 else 0.0))
    return float(np.sum(shares * grid))


def corrected_moments(tables: IntArray, designs: Sequence[Design]) -> FloatArray:
    """The corrected moment of every table, along the first axis, by its definition: no estimator of ours.

    The sample-centred moment of the reports over the retentions; of one attribute its mean, less what the
    noise adds, over the retention.
    """
    shares = tables / tables.reshape(len(tables), -1).sum(axis=1).reshape(-1, *[1] * len(designs))
    factors = []
    for axis, one in enumerate(designs):
        others = tuple(1 + other for other in range(len(designs)) if other != axis)
        mean = shares.sum(axis=others) @ one.scores
        if len(designs) == 1:
            noise = (1 - one.retention) * float(one.background @ one.scores)
            return (mean - noise) / one.retention
        centred = one.scores - mean[:, None]
        sizes = [one.cardinality if other == axis else 1 for other in range(len(designs))]
        factors.append(centred.reshape(-1, *sizes))
    product = shares * math.prod(factors)
    whole: FloatArray = product.reshape(len(tables), -1).sum(axis=1)
    return whole / math.prod(one.retention for one in designs)


def release(rng: np.random.Generator, counts: IntArray, designs: Sequence[Design], times: int) -> IntArray:
    """`times` independent releases of a fixed table, as joint counts, shape (times, *counts.shape)."""
    reports = np.zeros((times, counts.size), dtype=np.int64)
    for cell in np.flatnonzero(counts):
        one = np.zeros(counts.size)
        one[cell] = 1.0
        shares = released_shares(one.reshape(counts.shape), designs).ravel()
        reports += rng.multinomial(counts.ravel()[cell], shares, size=times)
    return reports.reshape(times, *counts.shape)


def skewed(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Every last category is rare (about 1 in 12 of the first), with associations."""
    independent = np.ones(shape)
    for axis, r in enumerate(shape):
        falling = np.geomspace(1.0, 0.08, r)
        independent = independent * falling.reshape(
            [-1 if other == axis else 1 for other in range(len(shape))]
        )
    wild = rng.dirichlet(np.full(math.prod(shape), 0.5)).reshape(shape)
    return 0.6 * independent / independent.sum() + 0.4 * wild


def sparse(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Three quarters of the cells are empty."""
    size = math.prod(shape)
    shares = np.zeros(size)
    present = rng.choice(size, max(3, size // 4), replace=False)
    shares[present] = rng.dirichlet(np.ones(present.size))
    return shares.reshape(shape)


def allocation_like() -> Any:
    def attribute(name: str, r: int, epsilon: float, scores: tuple[float, ...] | None) -> SimpleNamespace:
        sampler = sampler_for(epsilon, r)
        return SimpleNamespace(
            name=name,
            cardinality=r,
            epsilon=epsilon,
            cluster=(),
            is_released=sampler is not None,
            is_correctable=sampler is not None,
            has_retention=True,
            exact_retention=None if sampler is None else sampler.retention,
            column_sampler=sampler,
            score_values=scores,
        )

    return SimpleNamespace(
        public=(),
        attributes=(
            attribute("smoker", 2, 1.0, (0.0, 1.0)),
            attribute("region", 3, 1.0, None),
            attribute("silent", 2, 0.0, (0.0, 1.0)),
        ),
    )
