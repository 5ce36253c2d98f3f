"""Group means as ratios of corrected shares, with the influence functions of all of them.

Letters: A an indicator of true categories of the grouping attribute g (one category, or all but one),
h = unbiased(A) and u = unbiased(f) of `channels`, p = E h the group's share, m = E h u / p its mean. Since
the reports are independent given the truth, h u is unbiased for A f. With everything in units of p,

    N = h (u - m) / p,   D = h / p - 1

are the influence functions of the numerator about its ratio, which is that of m itself, and of p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.intervals.errors_of_means import Covariances, covariances_of_means
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.releases.counting import Cells, Counts, counts_of


@dataclass(frozen=True)
class GroupNumbers:
    """Of the r groups and then of the r rests: `shares` and `means`, corrected, and the released `raw` means.

    Each of shape (2 r,); NaN where a share is not positive. Means are less the design's origin.
    `covariances`, shape (6 r, 6 r), are those of N, of D and of the raw means' influence functions.
    `inflations` are E h^2 / p, those of a group's share.
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
    h = group.unbiased(indicators(group.cardinality), axis=0)
    table = counts.shares
    shares = h.T @ table.sum(axis=1)
    sums = h.T @ (table @ design.unbiased(design.scores))
    return shares, _ratio(sums, shares)


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
    unbiased = design.unbiased(design.scores)[None, :, None]
    own = h[:, None, :] * (unbiased - centre) / unit
    size = np.broadcast_to(h[:, None, :] / unit - 1.0, own.shape)
    seen = np.where(released > 0, released, np.inf)
    left = truths[:, None, :] * (design.scores[None, :, None] - raw_centre) / seen
    functions = np.concatenate([own, size, left], axis=-1)
    covariances = covariances_of_means(functions, counts, [group, design])
    inflations = (h**2).T @ table.sum(axis=1) / np.where(shares > 0, shares, np.nan)
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


def _ratio(sums: FloatArray, shares: FloatArray) -> FloatArray:
    return np.divide(sums, shares, out=np.full_like(sums, np.nan), where=shares > 0)
