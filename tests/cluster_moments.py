"""The released centred moment that a joint table of truths leads to, for any clusters (DESIGN 2.9).

Letters: f the scores of an attribute, mu their mean over the truths, u over its background; L the lambda of
a block (an attribute alone, or a cluster) and T the attributes of the moment in it; W = f(y) the released
score, m = E W = L mu + (1 - L) u, delta = mu - u. Since the members of a cluster share one draw,

    E[prod_T (W_t - m_t) | x] = L prod_T (f_t - mu_t + (1 - L) delta_t) + (1 - L) prod_T (-L delta_t),

the second term being E_q prod_T (f_t - m_t) for a background that is the product of the members'. Blocks are
independent given the record, so the released moment is the mean over the truths of the product over blocks.
For one member a block this is L (f - mu) + (1 - L) L delta - (1 - L) L delta: the product rule of DESIGN 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Together:
    """Axes of a table of truths that were randomized together, at least one.

    `axes` are distinct places, `retention` L in [0, 1] is that of the whole block (of the cluster, also
    where only some of its members are axes), `backgrounds` is the law q of a replaced cell of each of
    these axes, positive numbers that add up to 1. Numbers may be doubles or `Fraction`.
    """

    axes: tuple[int, ...]
    retention: Any
    backgrounds: tuple[Any, ...]


def released_moment(truths: Any, scores: Sequence[Any], blocks: Sequence[Together]) -> Any:
    """E prod_m (W_m - E W_m) over all axes m of a joint table of truths: what a release should show.

    `truths` are counts or shares >= 0, an axis an attribute of the moment; `scores` one array f an axis.
    Every axis stands in one of the `blocks`. Exact in fractions where the numbers are `Fraction` (arrays of
    type object), else a double. It is the moment of a population, and of the sample-centred release given its
    originals, whose expectation it is: exactly where each block has one axis (any n), else up to a term in
    1/n. Of one axis the centred moment is 0; see `released_means`. Source: DESIGN 2.9.
    """
    shares = truths / truths.sum()
    means = _means(shares, scores)
    product: Any = shares
    for block in blocks:
        product = product * _factor(block, scores, means, shares.ndim)
    return product.sum()


def released_means(truths: Any, scores: Sequence[Any], blocks: Sequence[Together]) -> list[Any]:
    """E W_m = L mu + (1 - L) u of every axis m; arguments as in `released_moment`."""
    means = _means(truths / truths.sum(), scores)
    found = list(means)
    for block in blocks:
        for axis, background in zip(block.axes, block.backgrounds, strict=True):
            noise = (background * scores[axis]).sum()
            found[axis] = block.retention * means[axis] + (1 - block.retention) * noise
    return found


def _factor(block: Together, scores: Sequence[Any], means: Sequence[Any], axes: int) -> Any:
    """E[prod_T (W - m) | x] of one block, along its axes."""
    kept = block.retention
    stays: Any = 1
    shifts = []
    for axis, background in zip(block.axes, block.backgrounds, strict=True):
        delta = means[axis] - (background * scores[axis]).sum()
        moved = scores[axis] - means[axis] + (1 - kept) * delta
        stays = stays * moved.reshape([-1 if other == axis else 1 for other in range(axes)])
        shifts.append(-kept * delta)
    return kept * stays + (1 - kept) * math.prod(shifts)


def _means(shares: Any, scores: Sequence[Any]) -> list[Any]:
    every = range(shares.ndim)
    marginals = [shares.sum(axis=tuple(other for other in every if other != axis)) for axis in every]
    return [(marginal * np.asarray(f)).sum() for marginal, f in zip(marginals, scores, strict=True)]
