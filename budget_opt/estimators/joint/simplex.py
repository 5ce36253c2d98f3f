"""The table of shares nearest to a table that may have negative cells: projection on the simplex.

The nearest one in squared distance is max(t - c, 0) with the one c for which it adds up to 1 (Held, Wolfe and
Crowder 1974; by sorting, Duchi, Shalev-Shwartz, Singer and Chandra 2008): exact in O(D log D) for D cells.
It is never further from the truth than t, for the truth is a point of the convex set of all tables of shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts


def nearest_shares(table: FloatArray) -> FloatArray:
    """The table of shares (>= 0, sum 1) nearest to `table` in squared distance, of the same shape.

    For any finite cells: they are taken from the largest one, of which a share is at most 1, so that those
    more than 1 below it are 0 and what is added up is small.
    """
    below = np.maximum(table / 2 - np.max(table) / 2, -0.5) * 2  # halves: no difference can overflow
    falling = np.sort(below, axis=None)[::-1]
    surplus = np.cumsum(falling) - 1
    level = surplus / np.arange(1, falling.size + 1)
    # the cells that stay above 0 are the largest, as many as lie above the level that they would have
    cut = level[np.count_nonzero(falling > level) - 1]
    shares: FloatArray = np.maximum(below - cut, 0.0)
    shares /= shares.sum()  # what rounding has left
    return shares


def simplex(counts: Counts, channels: Sequence[Channel]) -> FloatArray:
    """The table of shares nearest to the unbiased one.

    It is biased: noise makes some cells negative, so that the others are all moved down by one amount; rare
    cells are lost, and where the noise is large all but the luckiest cells are.
    """
    return nearest_shares(unbiased(counts, channels))
