"""The search for the largest delta: in its logarithm, by what each trial used of the allowance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

ENOUGH = 0.9
"""Share of the allowance that, once used, ends the search."""
_AIM = 0.95
_STRIDE = 30.0
"""Factor while the best delta is bounded from one side only."""
_RANGE = 1e12
"""Between the first delta and the last."""
_NARROW = 1.02
"""Ratio of a delta that is too large to one that is not at which the search ends: the use jumps there."""


@dataclass(frozen=True)
class Search:
    """The next `delta` to try; (delta, use) of the largest that was `kept` and of the least that `passed`."""

    delta: float
    kept: tuple[float, float] | None = None
    passed: tuple[float, float] | None = None
    first: float | None = None
    done: bool = False

    def after(self, used: float) -> Search:
        """The search after a trial of `delta` that used this share of the allowance; above 1 it failed."""
        first = self.first or self.delta
        tried = self.delta, used
        following = replace(self, kept=tried) if used <= 1.0 else replace(self, passed=tried)
        if used <= 1.0 and used >= ENOUGH:
            return replace(following, done=True)
        delta = following.proposal
        ends = not first / _RANGE <= delta <= first * _RANGE
        return replace(following, delta=delta, first=first, done=ends or following.is_narrow)

    @property
    def is_narrow(self) -> bool:
        """True where nothing is left between what was kept and what was too large."""
        return self.kept is not None and self.passed is not None and self.passed[0] < _NARROW * self.kept[0]

    @property
    def proposal(self) -> float:
        """By interpolation of the use, a power of delta near its best value; else a stride."""
        if self.kept is None:
            return self.delta / _STRIDE
        if self.passed is None:
            return self.delta * _STRIDE
        (low, used_low), (high, used_high) = self.kept, self.passed
        share = 0.5
        if used_low > 0 and math.isfinite(used_high):
            share = math.log(_AIM / used_low) / math.log(used_high / used_low)
        return low * math.pow(high / low, min(max(share, 0.1), 0.9))
