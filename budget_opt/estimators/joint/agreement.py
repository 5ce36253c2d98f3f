"""Moments of the unbiased score of a cell, for all cells at once.

The share of a cell x is estimated by the mean of h_x(y) = prod_m (A_m if y_m = x_m, else B_m), an entry
of the inverse matrix: A = (1 - u) / lambda, B = -u / lambda, u = (1 - lambda) q_x. Given the truth x' the
report agrees with x on an axis with probability lambda + u where x' does, and u where it does not. So
E[h_x^j | x'] is a product of two-valued factors, `same` where x'_m = x_m and `other` where not, and its
mean over a table of truths is one pass along each axis. The axes of one cluster are one here (`layout`):
a report agrees with x on all of them or differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.layout import Layout, layout_of


@dataclass(frozen=True)
class Factors:
    """A factor for each category of every block, shape (r,): where the truth agrees with it, and where not.

    Tables have an axis for each of the channels of `layout`.
    """

    layout: Layout
    same: tuple[FloatArray, ...]
    other: tuple[FloatArray, ...]

    @property
    def whole(self) -> FloatArray:
        """The product where the truth is the cell itself, of the table's shape."""
        return self.layout.apart(_outer(self.same))

    @property
    def least(self) -> FloatArray:
        """The least product over all truths but the cell itself, or less."""
        least = [np.minimum(s, o) for s, o in zip(self.same, self.other, strict=True)]
        return self.layout.apart(_outer(least))

    @property
    def squared(self) -> Factors:
        """The factors of the squares of the products."""
        return Factors(self.layout, tuple(s**2 for s in self.same), tuple(o**2 for o in self.other))

    def mean(self, table: FloatArray) -> FloatArray:
        """sum over x' of table(x') times the product, for every cell."""
        table = self.layout.joined(table)
        for axis, (same, other) in enumerate(zip(self.same, self.other, strict=True)):
            shape = [1] * table.ndim
            shape[axis] = -1
            s, o = same.reshape(shape), other.reshape(shape)
            table = o * table.sum(axis=axis, keepdims=True) + (s - o) * table
        return self.layout.apart(table)


def power_factors(channels: Sequence[Channel], power: int) -> Factors:
    """The factors of E[h_x^power | x']."""
    layout = layout_of(channels)
    both = [_powers(channel, power) for channel in layout.blocks]
    return Factors(layout, tuple(same for same, _ in both), tuple(other for _, other in both))


def largest_scores(channels: Sequence[Channel]) -> FloatArray:
    """h_x of a report that is x itself, for every cell."""
    layout = layout_of(channels)
    return layout.apart(_outer([(1 - _lost(channel)) / channel.retention for channel in layout.blocks]))


def _powers(channel: Channel, power: int) -> tuple[FloatArray, FloatArray]:
    lost = _lost(channel)
    agrees = ((1 - lost) / channel.retention) ** power
    differs = (-lost / channel.retention) ** power
    same = channel.retention + lost
    return same * agrees + (1 - same) * differs, lost * agrees + (1 - lost) * differs


def _lost(channel: Channel) -> FloatArray:
    lost: FloatArray = (1 - channel.retention) * channel.background
    return lost


def _outer(factors: Sequence[FloatArray]) -> FloatArray:
    table: FloatArray = reduce(np.multiply.outer, factors)
    return table
