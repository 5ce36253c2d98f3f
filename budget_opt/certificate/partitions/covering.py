"""What the best partition is worth at most where there are too many to list: a cover by prices.

For any numbers pi of the attributes with sum_{j in C} pi_j >= worth of C for every admissible block C, no
partition's worths sum to more than sum_j pi_j: linear duality of set partitioning. What given numbers leave
open is added to them, so that any will do.

Where even the blocks are too many, pi_j may be what a block of s attributes is worth to its member j at most,
the largest over s: a moment k is shared alike by its |k| members, which leaves each block no less than its
members' shares, as log lambda <= 0; the price of the total is shared alike by the members of the block, and
the others have the least categories that s - 1 others can have.
"""

from __future__ import annotations

import math

import numpy as np

from budget_opt.certificate.lagrangian import maxima
from budget_opt.certificate.partitions.choice import Blocks, Choice
from budget_opt.certificate.partitions.prices import LinearPrices, summed
from budget_opt.model.arrays import TOTAL, FloatArray


def covered(blocks: Blocks, worth: FloatArray, pi: FloatArray) -> float:
    """The largest sum of worths (n,) over any partition, from above, by prices (M,); inf if one is."""
    if not np.all(np.isfinite(worth)):
        return math.inf
    counts = blocks.member.sum(axis=1)
    missing = np.max((worth - blocks.member.astype(np.float64) @ pi) / counts)
    scale = float(np.sum(np.abs(pi))) + float(np.max(np.abs(worth)))
    return summed(pi + max(float(missing), 0.0) + 1e-13 * scale)


def attribute_bound(choice: Choice, prices: LinearPrices) -> float:
    """The largest sum of worths over any partition, from above, without looking at any block."""
    alone = Blocks.of(choice, choice.alone)
    gain = prices.gain + (2.0 * prices.shares if choice.plain else 0.0)
    orders = np.maximum(np.array([len(members) for members in choice.members]), 1)
    # a hair less, for the sums that a block's worth takes over its moments
    share = (alone.counted @ (gain / orders)) * (1 - 1e-12)
    totals = [
        mu for mu, budget in zip(prices.budgets, choice.problem.budgets(), strict=True) if budget[0] == TOTAL
    ]
    price = (prices.cost + math.fsum(totals)) * (1 - 1e-12)
    best = np.full(choice.size, -np.inf)
    for size in range(1, choice.size + 1):
        cells = _least_cells(choice, size)
        if size > 1 and not np.any(cells <= choice.max_cells):
            break
        possible = np.ones(choice.size, dtype=bool) if size == 1 else cells <= choice.max_cells
        r = alone.cardinality if size == 1 else np.maximum(alone.cardinality, cells * (1 - 1e-12))
        nothing = np.zeros(choice.size)
        found = maxima(share, nothing, nothing + price / size, r, alone.lower, alone.upper)
        best = np.where(possible, np.maximum(best, found.value + found.allowance), best)
    return summed(best)


def _least_cells(choice: Choice, size: int) -> FloatArray:
    """The fewest joint categories of a block of so many attributes with each attribute in it."""
    cells = np.array([attribute.cardinality for attribute in choice.problem.attributes], dtype=np.float64)
    order = np.argsort(cells, kind="stable")
    least = np.array([math.prod(cells[[i for i in order if i != j][: size - 1]]) for j in range(choice.size)])
    found: FloatArray = cells * least
    return found
