"""How strong a link between attributes is, in one unit for all kinds of categories and every order.

Letters: S the attributes, p_m the shares of the categories, psi orthonormal functions of one attribute with
mean 0 under p_m (of a scored attribute its standardized score alone, of a nominal one all r - 1 of
them), T = E prod_S psi_m(x_m) a tensor with d_m = 1 or r - 1 coordinates an axis. The strength is

    |T| / sqrt(product of all d_m but the largest)

whatever basis psi is taken. For two scored attributes it is |correlation|; for two nominal ones Cramer's V
(1946: |T|^2 is chi-square / n, and at most min(d)); for a scored and a nominal one the correlation ratio; all
of these lie in [0, 1]. For more scored attributes it is the size of the standardized cross-moment; with
nominal ones among them the scale is a convention, and such strengths may exceed 1. For one attribute it is
the distance of its marginal from the background q that replaced cells are drawn from, as of a goodness-of-fit
test: sqrt(sum (p - q)^2 / q / (1 / min q - 1)), with the uniform one sqrt(sum (p - 1/r)^2 r / (r - 1)).

Every one of these is multiplied by the retention R_S when the data are randomized and the scale (the
standard deviations, the shares) is kept, at most one attribute of a cluster taking part (DESIGN 2.2, 2.9).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.estimators.releases.counting import FloatArray

_ROUNDING = 1e-12
"""Strengths of doubles below are rounding: a table of exact independence has none."""


@dataclass(frozen=True)
class Axis:
    """One attribute of a table: `share` of its categories (>= 0, sum 1), and `scores`, None for nominal ones.

    A category with share 0 is taken as one that does not occur. `background` q has shares above 0, and is
    None for the uniform one.
    """

    share: FloatArray
    scores: tuple[float, ...] | None
    background: FloatArray | None = None

    @cached_property
    def standardized(self) -> FloatArray | None:
        """psi of a scored attribute, of mean 0 and variance 1 under the shares; None without variance."""
        if self.scores is None:
            return None
        f = np.array(self.scores)
        f = f / np.abs(f).max()  # squares of scores may leave the doubles
        centred = f - self.share @ f
        deviation = math.sqrt(self.share @ centred**2)
        return centred / deviation if deviation > _ROUNDING else None

    @property
    def freedom(self) -> int:
        """d_m, the coordinates that can differ from 0."""
        if self.scores is None:
            return max(0, int(np.count_nonzero(self.share)) - 1)
        return 0 if self.standardized is None else 1

    def contracted(self, tensor: FloatArray, axis: int) -> FloatArray:
        """The tensor with this axis in coordinates of psi; `freedom` is above 0.

        A nominal axis keeps a coordinate a category, (x_i - p_i sum x) / sqrt(p_i), which has the same norm.
        """
        moved = np.moveaxis(tensor, axis, -1)
        if self.standardized is not None:
            return np.moveaxis((moved @ self.standardized)[..., None], -1, axis)
        centred = moved - moved.sum(axis=-1, keepdims=True) * self.share
        scale = np.zeros_like(self.share)
        scale[self.share > 0] = self.share[self.share > 0] ** -0.5
        return np.moveaxis(centred * scale, -1, axis)

    @property
    def energy(self) -> float:
        """The sum of squares of the map of `contracted`: what it makes of independent noise of variance 1."""
        if self.standardized is not None:
            return float(self.standardized @ self.standardized)
        present = self.share[self.share > 0]
        return float(np.sum(1 / present - 2 + self.share.size * present))


@dataclass(frozen=True)
class Link:
    """The strength of one link, and the root mean square that noise alone would give it (0 without noise)."""

    strength: float
    noise: float = 0.0


def link(shares: FloatArray, axes: Sequence[Axis], variance: float = 0.0, noise_levels: float = 0.0) -> Link:
    """The strength in a joint table of shares, one axis an attribute.

    `variance` is that of independent noise on each cell, whose mean square is taken off. A link within
    `noise_levels` of what noise alone would give, as root mean squares, is 0.
    """
    if len(axes) == 1:
        stated = axes[0].background
        q = np.full(shares.size, 1 / shares.size) if stated is None else stated
        tensor, energy = (shares - q) / np.sqrt(q), float(np.sum(1 / q))
        scale = math.sqrt(1 / float(q.min()) - 1)
    else:
        freedoms = sorted(axis.freedom for axis in axes)
        if freedoms[0] == 0:
            return Link(0.0)
        tensor = shares
        for m, axis in enumerate(axes):
            tensor = axis.contracted(tensor, m)
        energy, scale = math.prod(axis.energy for axis in axes), math.sqrt(math.prod(freedoms[:-1]))
    size, noise = float(np.linalg.norm(tensor)) / scale, math.sqrt(variance * energy) / scale
    if size <= max(_ROUNDING, noise_levels * noise):
        return Link(0.0, noise)
    strength = math.sqrt(max(0.0, size**2 - noise**2))
    return Link(min(strength, 1.0) if len(axes) <= 2 else strength, noise)
