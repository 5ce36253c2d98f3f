"""The mean and the variance of one scored attribute, released and corrected, from its marginal (DESIGN 2.2).

The variance does not follow the retention rule. With h = unbiased((f - mu)^2) of `channels`,

    Var f(x) = E h(y),   mu = E unbiased(f)(y)

whose influence function is h - Var f: the derivative in mu vanishes. The variance inflation of a mean,
1 + tau a + tau (1 + tau) b with a = E f^2 / Var f and b = s / Var f (DESIGN 2.3; f centred at the
background's mean), is the same number as Var W / (lambda^2 Var f): f(y) / lambda is unbiased for f(x).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.releases.counting import Cells


@dataclass(frozen=True)
class Spread:
    """What the released marginal of a scored attribute says of its mean and variance.

    `shares` are the weighted shares of the released categories, shape (r,), and add up to 1.
    """

    design: Design
    shares: FloatArray

    @cached_property
    def raw_mean(self) -> float:
        """mean f(y)."""
        return float(self.shares @ self.design.scores)

    @cached_property
    def centred(self) -> FloatArray:
        """W~ = f(y) - mean f(y), a number a category."""
        return self.design.scores - self.raw_mean

    @cached_property
    def raw_variance(self) -> float:
        """Var f(y), divisor n."""
        return float(self.shares @ self.centred**2)

    @cached_property
    def mean(self) -> float:
        """The corrected mean."""
        lost = (1 - self.design.retention) * self.design.background_mean
        return (self.raw_mean - lost) / self.design.retention

    @cached_property
    def variance(self) -> float:
        """The corrected variance, divisor n, without bias given the data up to 1 / n; may come out <= 0."""
        return float(self.shares @ self._squares)

    @cached_property
    def influence(self) -> FloatArray:
        """The influence function of the corrected variance, a number a category, of mean 0."""
        return self._squares - self.variance

    @cached_property
    def raw_influence(self) -> FloatArray:
        """That of the released variance."""
        return self.centred**2 - self.raw_variance

    @property
    def kurtosis(self) -> float:
        """E W~^4 / (E W~^2)^2 of the reports; 0 where all are the same."""
        relative = self.centred / (float(np.abs(self.centred).max()) or 1.0)
        square, fourth = (float(self.shares @ relative**power) for power in (2, 4))
        return fourth / square**2 if square > 0 else 0.0

    @property
    def unseen(self) -> bool:
        """Whether the scores differ and all reports have the same: chance has not shown itself yet."""
        return self.raw_variance == 0 and bool(np.ptp(self.design.scores))

    @property
    def inflation(self) -> float | None:
        """The variance inflation of the mean; None where the corrected variance is not positive."""
        if self.variance <= 0:
            return None
        return max(self.raw_variance / self.variance / self.design.retention**2, 1.0)

    @cached_property
    def _squares(self) -> FloatArray:
        return self.design.unbiased((self.design.scores - self.mean) ** 2)


def effective_rows(effective: float, spreads: Iterable[Spread]) -> float | None:
    """Rows (`effective`: Kish's) over the product of variance inflations; None where one is not known."""
    inflations = [one.inflation for one in spreads]
    known = [inflation for inflation in inflations if inflation is not None]
    return effective / math.prod(known) if len(known) == len(inflations) else None


def spreads_of(cells: Cells, designs: Sequence[Design]) -> tuple[Spread, ...]:
    """One an attribute, from cells in the order of `designs`."""
    sums = [np.zeros(one.cardinality) for one in designs]
    for codes, first, _ in cells.blocks():
        for m, code in enumerate(codes):
            sums[m] += np.bincount(code, first, minlength=sums[m].size)
    return tuple(Spread(one, added / added.sum()) for one, added in zip(designs, sums, strict=True))
