"""What is said of a mean that, or whose interval, leaves the range of the scores: neither is cut off."""

from __future__ import annotations

from budget_opt.estimators.estimate import Estimate

_ROUNDING = 1e-9
"""Of the range: so far beyond an end is still on it."""


def range_notes(estimate: Estimate, low: float, high: float) -> tuple[str, ...]:
    """A note where the mean of scores in low..high is estimated outside, or its 95 % interval ends there."""
    spare = _ROUNDING * (high - low)
    least, most = low - spare, high + spare
    within = f"the range of the scores, {low:.6g} to {high:.6g}"
    if not least <= estimate.value <= most:
        return (f"the estimate is outside {within}, as it may be by chance where noise is large",)
    below, above = estimate.interval(0.95)
    if below < least or above > most:
        return (f"the 95 % interval leaves {within}, which the mean cannot; it is not cut off",)
    return ()
