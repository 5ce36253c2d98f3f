"""Group means as ratios of corrected shares, with the influence functions of all of them.

Letters: A an indicator of true categories of the grouping attribute g (one category, or all but one), h^
`Channel.unbiased` of a function h of the truths, p = E A^ the group's share, m = E (A f)^ / p its mean.
(Where the reports are independent given the truth, (A f)^ is A^ f^; members of one cluster are taken
together.) With everything in units of p,

    N = (A (f - m))^ / p,   D = A^ / p - 1

are the influence functions of the numerator about its ratio, which is that of m itself, and of p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray, along_all, touches_twice
from budget_opt.estimators.intervals.errors_of_means import Covariances, covariances_of_means
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.moments.spread import Spread
from budget_opt.estimators.releases.counting import Cells, Counts, counts_of


@dataclass(frozen=True)
class GroupNumbers:
    """Of the r groups and then of the r rests: `shares` and `means`, corrected, and the released `raw` means.

    Each of shape (2 r,); NaN where a share is not positive. Means are less the design's origin.
    `covariances`, shape (6 r, 6 r), are those of N, of D and of the raw means' influence functions.
    `inflations` of the variance of a mean: that of the group's share, E A^^2 / p, times that of f; of
    members of one cluster E N^2 over the same of the truths. NaN where that is not defined.
    `squares` and `fourths` are the means of N^2 and N^4 over the rows, in the unit of the largest N.
    """

    shares: FloatArray
    means: FloatArray
    raw: FloatArray
    inflations: FloatArray
    covariances: Covariances
    squares: FloatArray
    fourths: FloatArray


def indicators(r: int) -> FloatArray:
    """A of each category and of the rest of each, shape (r, 2 r)."""
    own = np.eye(r)
    return np.concatenate([own, 1 - own], axis=1)


def group_means(counts: Counts, group: Channel, design: Design) -> tuple[FloatArray, FloatArray]:
    """Shares and means of the groups and their rests, each (2 r,); NaN where a share is not positive."""
    own = indicators(group.cardinality).T
    truths = along_all(Channel.corrected, [group, design], counts.shares)
    shares = own @ truths.sum(axis=1)
    return shares, _ratio(own @ (truths @ design.scores), shares)


def group_numbers(counts: Counts, group: Channel, design: Design) -> GroupNumbers:
    """Shares, means and their errors, from the joint table of the grouping attribute and the scored one."""
    shares, means = group_means(counts, group, design)
    truths = indicators(group.cardinality)
    h = group.unbiased(truths, axis=0)
    table = counts.shares
    released = truths.T @ table.sum(axis=1)
    raw = _ratio(truths.T @ (table @ design.scores), released)
    unit = np.where(shares > 0, shares, np.inf)
    centre, raw_centre = (np.where(np.isfinite(mean), mean, 0.0) for mean in (means, raw))
    wanted = truths[:, None, :] * (design.scores[None, :, None] - centre) / unit
    own = along_all(Channel.unbiased, [group, design], wanted)
    size = np.broadcast_to(h[:, None, :] / unit - 1.0, own.shape)
    seen = np.where(released > 0, released, np.inf)
    left = truths[:, None, :] * (design.scores[None, :, None] - raw_centre) / seen
    functions = np.concatenate([own, size, left], axis=-1)
    covariances = covariances_of_means(functions, counts, [group, design])
    if touches_twice([group, design]):
        inflations = _inflations(own, wanted, table, [group, design])
    else:
        of_share = (h**2).T @ table.sum(axis=1) / np.where(shares > 0, shares, np.nan)
        mean = Spread(design, table.sum(axis=0)).inflation
        inflations = np.maximum(of_share, 1.0) * (np.nan if mean is None else mean)
    weights = counts.second / counts.second.sum()
    sizes = np.abs(own).max(axis=(0, 1))
    relative = own / np.where(sizes > 0, sizes, 1.0)
    squares, fourths = (np.tensordot(weights, relative**power, 2) for power in (2, 4))
    return GroupNumbers(shares, means, raw, inflations, covariances, squares, fourths)


def group_means_of_cells(cells: Cells, channels: Sequence[Channel]) -> FloatArray:
    """The means alone, of cells of the grouping attribute and the scored one: what a bootstrap repeats."""
    group, design = channels
    if not isinstance(design, Design):
        raise TypeError("the second channel has scores")
    shape = (group.cardinality, design.cardinality)
    return group_means(counts_of(cells, (group.name, design.name), shape), group, design)[1]


def _inflations(
    own: FloatArray, wanted: FloatArray, table: FloatArray, channels: Sequence[Channel]
) -> FloatArray:
    """E N^2 of the reports over that of the truths, at least 1; NaN where that is not positive."""
    randomized = np.tensordot(table, own**2, 2)
    original = np.tensordot(table, along_all(Channel.unbiased, channels, wanted**2), 2)
    return np.maximum(_ratio(randomized, original), 1.0)


def _ratio(sums: FloatArray, shares: FloatArray) -> FloatArray:
    return np.divide(sums, shares, out=np.full_like(sums, np.nan), where=shares > 0)
