"""Truncated joint tables: no combination is more frequent than any part of it (Castell 2022, Algorithm 4).

For attributes S, x a cell of S and x_T its part on T: 0 <= P_S(x) <= P_T(x_T) for every T in S. The estimate
T_S is built from one attribute upward: the unbiased table of S, cut to the interval from 0 to the least of
the estimates T_(S without m)(x), m in S; of one attribute, to 0 .. 1. The unbiased table of a part is the
margin of the unbiased table of the whole, so that one inversion serves all 2^w - 1 parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts


def truncated(counts: Counts, channels: Sequence[Channel], *, normalised: bool = False) -> FloatArray:
    """The truncated table, an axis an attribute; cells in 0 .. 1 that need not add up to 1, as in the paper.

    `normalised` divides by the sum; the bounds by the parts then no longer hold. Where every cell was cut
    to 0 it gives equal shares.

    It is biased: of a noisy table most cells are cut to 0 and the others to bounds that were cut
    themselves, so that with much noise the shares add up to nearly nothing, and with little to nearly 1.
    """
    table = truncated_table(unbiased(counts, channels))
    if not normalised:
        return table
    total = table.sum()
    return table / total if total > 0 else np.full(table.shape, 1 / table.size)


def truncated_table(table: FloatArray) -> FloatArray:
    """The recursion alone, of an unbiased table of shares with at least one axis."""
    axes = range(table.ndim)
    lower: dict[tuple[int, ...], FloatArray] = {(): np.ones((1,) * table.ndim)}
    for size in range(1, table.ndim + 1):
        lower = {
            kept: _cut(
                table.sum(axis=tuple(axis for axis in axes if axis not in kept), keepdims=True),
                [lower[tuple(other for other in kept if other != axis)] for axis in kept],
            )
            for kept in combinations(axes, size)
        }
    return lower[tuple(axes)]


def _cut(table: FloatArray, bounds: Sequence[FloatArray]) -> FloatArray:
    """The table cut to 0 .. the least of bounds that broadcast to its shape."""
    cut: FloatArray = reduce(np.minimum, bounds, np.maximum(table, 0.0))
    return cut
