"""Is correcting useful? The mean squared error of an estimate corrected, and of the released number as it is.

The corrected estimate has its variance alone. The raw number has its own (smaller) variance and a bias, the
distance of both truths; (raw - value)^2 - Var(raw - value) estimates the square of the bias without bias. For
a moment raw = R value, so that correcting wins where Var < mu^2 (1 - R) / (1 + R) with mu^2 estimated by
value^2 - Var (DESIGN 2.3; Ruiz 2026, section 6, leaves the question open). It is an estimate: it chooses
neither the value nor its interval, since an interval that was chosen by the data does not cover.

The estimated square of the bias is cut at 0, so the raw number's error is estimated too large on the average
where the bias is small beside the noise (a correlation of 0.02, n = 300, retention 0.5: 0.00108 for 0.00021).
`useful` does not suffer from the cut: below it the raw number wins, having the smaller variance, as it would
with a negative square. But a noisy number decides: there it said "useful" in 10 % of releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Usefulness:
    """Estimated mean squared errors, in the squared unit of the estimate; `useful` where correcting wins."""

    mse_corrected: float
    mse_raw: float
    useful: bool
    kind: Literal["estimated"] = "estimated"


def usefulness(
    difference: float, variance_of_difference: float, variance: float, raw_variance: float
) -> Usefulness:
    """From raw - value and its variance, and the variances of the corrected and of the raw number."""
    squared_bias = max(difference * difference - variance_of_difference, 0.0)
    raw = raw_variance + squared_bias
    return Usefulness(variance, raw, variance < raw)


def usefulness_of_scaled(value: float, variance: float, retention: float) -> Usefulness:
    """The same where raw = retention x value, with the zero of both in the same place."""
    lost = (1 - retention) ** 2
    return usefulness((1 - retention) * value, lost * variance, variance, retention**2 * variance)
