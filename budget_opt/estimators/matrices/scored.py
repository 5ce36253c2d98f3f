"""What all pairs need of each single attribute: numbers a category, and how they vary given the truth.

Letters: X = W~ / (lambda u) the centred unbiased score in units u of its own size, V the corrected variance
of f(x) / u, Q the influence function of V over V (of log V), all functions of the reported category. For two
such functions a, b of one report, a b - unbiased(expected(a) expected(b)) estimates Cov(a, b | x) without
bias, whatever the truth is: D for X with itself, E for X with Q, and F for Q with itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.chance_events import chance_events
from budget_opt.estimators.intervals.errors_of_means import covariances_of_means
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.moments.of_two import OfTwo, of_two
from budget_opt.estimators.moments.spread import Spread
from budget_opt.estimators.moments.usefulness import Usefulness, usefulness
from budget_opt.estimators.releases.counting import Cells, Counts, counts_of


@dataclass(frozen=True)
class Scored:
    """One attribute: its `design`, and the marginal `counts` of its released categories."""

    design: Design
    counts: Counts

    @cached_property
    def spread(self) -> Spread:
        """Mean and variance, released and corrected."""
        return Spread(self.design, self.counts.shares)

    @cached_property
    def unit(self) -> float:
        """u, the largest centred score by size; 1 where all are the same."""
        return float(np.abs(self.spread.centred).max()) or 1.0

    @cached_property
    def score(self) -> FloatArray:
        """X."""
        return self.spread.centred / self.unit / self.design.retention

    @cached_property
    def relative(self) -> FloatArray:
        """Q; 0 where the corrected variance is not positive, and no correlation is defined."""
        if self.spread.variance <= 0:
            return np.zeros(self.design.cardinality)
        return self.spread.influence / self.spread.variance

    @property
    def noise(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """D, E and F."""
        return (
            varying(self.design, self.score, self.score),
            varying(self.design, self.score, self.relative),
            varying(self.design, self.relative, self.relative),
        )

    @cached_property
    def _variances(self) -> tuple[dict[Target, float], ...]:
        """Of V, of the released variance, of their difference, and of the corrected mean of f / u."""
        squares = np.stack([self.spread.influence, self.spread.raw_influence], axis=-1) / self.unit**2
        functions = np.concatenate([squares, self.score[:, None]], axis=-1)
        found = covariances_of_means(functions, self.counts, [self.design])
        ends = (np.array(ends, dtype=float) for ends in ((1, 0, 0), (0, 1, 0), (-1, 1, 0), (0, 0, 1)))
        return tuple({target: found.variance(end, target) for target in get_args(Target)} for end in ends)

    def variance(self, target: Target) -> float:
        """The corrected variance of f; that of the estimated mean, which it lacks, is added back."""
        return self.spread.variance + self._variances[3][target] * self.unit**2

    def variance_error(self, target: Target) -> float:
        """The variance of the corrected variance of f / u, to the second order.

        The square of the mean's deviation has twice the square of its variance: all that is left where the
        influence function vanishes.
        """
        return self._variances[0][target] + 2 * self._variances[3][target] ** 2

    def variance_usefulness(self, target: Target) -> Usefulness:
        """Whether correcting the variance is useful, in units of u^4."""
        raw, difference = (one[target] for one in self._variances[1:3])
        distance = (self.spread.raw_variance - self.variance(target)) / self.unit**2
        return usefulness(distance, difference, self.variance_error(target), raw)

    def variance_events(self) -> float:
        """The chance events behind the error of the corrected variance."""
        if self.spread.unseen:
            return 0.0
        # the variance of two categories is a function of their share, and its interval that of the share
        psi = self.score if self.design.cardinality == 2 else self.spread.influence / self.unit**2
        shares = self.counts.second / self.counts.second.sum()
        squares, fourths = (float(shares @ psi**power) for power in (2, 4))
        return float(chance_events(squares, fourths, self.counts.effective))

    def of_two(self, target: Target) -> OfTwo | None:
        """The share of two categories that the variance is made of; None for more."""
        return of_two(self.counts, self.design, target) if self.design.cardinality == 2 else None


def varying(channel: Channel, a: FloatArray, b: FloatArray) -> FloatArray:
    """A function of the report whose mean given x is Cov(a(y), b(y) | x)."""
    return a * b - channel.unbiased(channel.expected(a) * channel.expected(b))


def scored(cells: Cells, designs: tuple[Design, ...]) -> tuple[Scored, ...]:
    """One an attribute, from cells in the order of `designs`."""
    found = []
    for column, one in zip(cells.codes, designs, strict=True):
        alone = Cells((column,), cells.rows, cells.weights, cells.squares)
        found.append(Scored(one, counts_of(alone, (one.name,), (one.cardinality,))))
    return tuple(found)
