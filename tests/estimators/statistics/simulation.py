"""Many releases of one table as one `CorrectedTable` with an axis of repetitions, and their truths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray, uniform
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.statistics.corrected import CorrectedTable
from budget_opt.estimators.statistics.plain import plain_entropy, plain_information, plain_phi_square
from tests.estimators.release_model import release, released_shares

NAMES = "abcd"


def channels_of(shape: Sequence[int], retentions: Sequence[float]) -> tuple[Channel, ...]:
    return tuple(Channel(NAMES[i], retentions[i], uniform(r)) for i, r in enumerate(shape))


def designs(channels: Sequence[Channel]) -> list[Design]:
    return [
        Design(one.name, one.retention, one.background, np.zeros(one.cardinality), cluster=one.cluster)
        for one in channels
    ]


def releases(
    shares: FloatArray,
    channels: Sequence[Channel],
    n: int,
    target: Target,
    rng: np.random.Generator,
    times: int = 10_000,
) -> tuple[FloatArray, CorrectedTable]:
    """The target's own shares, and `times` releases of n rows along the last axis."""
    if target == "population":
        moved = released_shares(shares, designs(channels)).ravel()
        truth, tables = shares, rng.multinomial(n, moved, times).reshape(-1, *shares.shape)
    else:
        table = rng.multinomial(n, shares.ravel()).reshape(shares.shape)
        truth, tables = table / n, release(rng, table, designs(channels), times)
    reports = np.moveaxis(tables, 0, -1) / n
    return truth, CorrectedTable(tuple(channels), reports, reports / n, n, target)


def theta(kind: str, shares: FloatArray) -> float:
    """The divergences of `statistics.divergence` by the statistics' definitions."""
    if kind == "entropy":
        return 2 * (float(np.log(shares.size)) - plain_entropy(shares))
    return 2 * plain_information(shares) if kind == "information" else plain_phi_square(shares)


def independent(shape: tuple[int, int]) -> FloatArray:
    """Rare last categories (1 in 10 of the first) and no association."""
    rows, columns = (np.geomspace(1, 0.1, r) for r in shape)
    return np.outer(rows / rows.sum(), columns / columns.sum())


def weak(shape: tuple[int, int]) -> FloatArray:
    """V of about 0.1: hidden by noise, or not, by the number of rows."""
    shares = independent(shape)
    shares[0, 0] += 0.03
    shares[-1, -1] += 0.015
    whole: FloatArray = shares / shares.sum()
    return whole


def strong(shape: tuple[int, int]) -> FloatArray:
    """V of about 0.6: half of the rows on a diagonal."""
    diagonal = np.eye(*shape)
    shares: FloatArray = 0.5 * independent(shape) + 0.5 * diagonal / diagonal.sum()
    return shares
