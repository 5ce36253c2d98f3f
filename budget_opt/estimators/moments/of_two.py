"""The mean and the variance of a score of two categories: both are functions of one share.

The share's interval (`joint.cell_errors`) covers where it is rare as well. A mean is linear in it. The
variance is (f - lo)(hi - f) of the mean f: its influence function vanishes where f is in the middle, and
there no interval value +- z errors covers. The variances of all shares that the share's interval holds
cover at least as often as it does: 95 % in the middle and far from it, and up to 98 % (measured) where
the middle is some two errors away, since there two shares give the same variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from budget_opt.estimators.estimate import Estimate, Target
from budget_opt.estimators.joint.cell_errors import CellErrors, cell_errors
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.releases.counting import Counts


@dataclass(frozen=True)
class OfTwo:
    """The share of the second category, and the scores of both, counted from an `origin`."""

    cell: CellErrors
    scores: tuple[float, float]
    origin: float

    def mean_interval(self, level: float) -> tuple[float, float]:
        """The interval of the mean score."""
        first, second = self.scores
        low, high = sorted(first + (second - first) * share for share in self._shares(level))
        return self.origin + low, self.origin + high

    def variance_interval(self, level: float) -> tuple[float, float]:
        """The interval of the variance of the score, divisor n."""
        first, second = self.scores
        ends = [min(max(share, 0.0), 1.0) for share in self._shares(level)]
        variances = [(second - first) ** 2 * share * (1 - share) for share in ends]
        largest = (second - first) ** 2 / 4 if ends[0] <= 0.5 <= ends[1] else max(variances)
        return min(variances), largest

    def _shares(self, level: float) -> tuple[float, float]:
        low, high = self.cell.interval(level)
        return float(low[1]), float(high[1])


@dataclass(frozen=True, kw_only=True)
class VarianceEstimate(Estimate):
    """A corrected variance; of two categories (`of_two`) its interval is that of their share."""

    of_two: OfTwo

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases, with the value."""
        low, high = self.of_two.variance_interval(level)
        return min(low, self.value), max(high, self.value)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its interval at `level`."""
        return {name: value for name, value in super().to_dict(level).items() if name != "of_two"}


def of_two(counts: Counts, design: Design, target: Target) -> OfTwo:
    """Of an attribute of two categories, from its marginal counts."""
    first, second = (float(score) for score in design.scores)
    return OfTwo(cell_errors(counts, [design], target), (first, second), design.origin)
