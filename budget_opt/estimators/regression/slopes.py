"""From one coefficient's variances to what is printed of it, and when it is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from budget_opt.errors import NoiseError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.regression.result import Coefficient

LEAST_SIGNAL = 4.0
"""Errors that what the other columns leave of a column must be from 0, at noise_limit 1."""
_ROUNDING = 1e-9
WAY_OUT = (
    "Use fewer terms, coarser categories or more rows, or give these attributes a larger epsilon in the next "
    "release."
)


@dataclass(frozen=True)
class Slope:
    """One coefficient by the letters of `least_squares`; variances are of the mean over the rows.

    `sampling` and `noise` add up to the variance of (r e)^ from the population; `noise` is that given the
    data. `left` is B; `left_noise` is the variance of (r^2)^ given the data, `crossed` its covariance with
    (r e)^. `bias` is that of the value.
    """

    value: float
    left: float
    sampling: float
    noise: float
    crossed: float
    left_noise: float
    bias: float = 0.0


def require_left(label: str, slope: Slope, limit: float) -> None:
    """`NoiseError` unless what the other columns leave of a column, a denominator, is told from nothing."""
    error = math.sqrt(max(slope.left_noise, 0.0))
    allowed = slope.left * limit / LEAST_SIGNAL
    if error <= allowed:
        return
    raise NoiseError(
        f"coefficient of {label}: the mean square that the other columns leave of its column is "
        f"{slope.left:.3g} (1: its largest), with standard error {error:.3g}, the limit {allowed:.3g}: it "
        f"cannot be divided by. {WAY_OUT} noise_limit= above {error / allowed * limit:.3g} lets it pass.",
        what=f"coefficient of {label}",
        standard_error=error,
        limit=allowed,
    )


def coefficient_of(label: str, slope: Slope, n: float, target: Target) -> Coefficient:
    """The coefficient from `n` rows, or as many as weighted ones are worth.

    Variances that come out negative by chance step to the larger error.
    """
    sampling, noise = max(slope.sampling, 0.0), max(slope.noise, 0.0)
    whole = sampling + noise
    given_data = noise if slope.noise >= -_ROUNDING * sampling else whole
    variance = whole if target == "population" else given_data
    return Coefficient(
        label=label,
        value=slope.value,
        standard_error=math.sqrt(variance) / slope.left,
        raw=None,
        effective_n=n * sampling / whole if sampling > 0 else None,
        crossed=slope.crossed / slope.left**2,
        left_variance=max(slope.left_noise, 0.0) / slope.left**2,
    )
