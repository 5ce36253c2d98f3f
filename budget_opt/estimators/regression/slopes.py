"""From one coefficient's variances to what is printed of it, and when it is not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from budget_opt.errors import NoiseError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.regression.result import Coefficient
from budget_opt.tables.printing import at_most

LEAST_SIGNAL = 4.0
"""Errors that what the other columns leave of a column must be from 0, at noise_limit 1."""
NEAR = 4.0
"""Errors from that limit on which all but a few releases in 100,000 are shown."""
MEASURED = "91 to 98 %"
"""How often intervals of 95 % cover, where 3 to 30 in 100 releases are shown."""
FEW_ROWS = 40.0
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
    (r e)^. `bias` is that of the value. `rows` is how many rows tell it, (sum w r^2)^2 / sum w^2 r^4: for an
    indicator the rows of its category, or of all others, if those are fewer.
    """

    value: float
    left: float
    sampling: float
    noise: float
    crossed: float
    left_noise: float
    rows: float
    bias: float = 0.0

    @property
    def signal(self) -> float:
        """How many of its errors what the other columns leave of a column is from 0."""
        return self.left / math.sqrt(self.left_noise) if self.left_noise > 0 else math.inf


def require_left(label: str, slope: Slope, limit: float) -> None:
    """`NoiseError` unless what the other columns leave of a column, a denominator, is told from nothing."""
    error = math.sqrt(max(slope.left_noise, 0.0))
    allowed = slope.left * limit / LEAST_SIGNAL
    if error <= allowed:
        return
    raise NoiseError(
        f"coefficient of {label}: the mean square that the other columns leave of its column is "
        f"{slope.left:.3g} (1: its largest), with standard error {error:.3g}, the limit {allowed:.3g}: it "
        f"cannot be divided by. {WAY_OUT} noise_limit={at_most(error / allowed * limit, 3)} or more lets it "
        "pass.",
        what=f"coefficient of {label}",
        standard_error=error,
        limit=allowed,
    )


def coefficient_of(label: str, slope: Slope, n: float, target: Target, limit: float = 1.0) -> Coefficient:
    """The coefficient from `n` rows, or as many as weighted ones are worth; `limit` as in `require_left`.

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
        least_left=min(LEAST_SIGNAL / limit / slope.signal, 1.0),
        degrees=_degrees(slope, sampling, whole) if target == "population" else math.inf,
    )


def _degrees(slope: Slope, sampling: float, whole: float) -> float:
    """Degrees of freedom of the variance (Satterthwaite 1946).

    The noise comes from all rows where the column is randomized, else from those of the sampling.
    """
    degrees = max(slope.rows - 1, 1.0)
    if slope.left_noise <= _ROUNDING * slope.left**2:
        return degrees
    return degrees * (whole / sampling) ** 2 if sampling > 0 else math.inf


def rows_behind(left: float, fourths: float) -> float:
    """`Slope.rows` from its left and sum w^2 r^4 / (sum w)^2; infinite where noise leaves that unknown."""
    return left**2 / fourths if fourths > 0 else math.inf


def near_limit(slopes: Sequence[Slope], limit: float) -> Iterator[str]:
    """A note where releases like this one may often not be shown."""
    signal, least = min(slope.signal for slope in slopes), LEAST_SIGNAL / limit
    if signal < least + NEAR:
        yield (
            f"what the other columns leave of a column is {signal:.2g} of its errors from 0, and from "
            f"{least:.2g} on a regression is shown: the value leans to one side where few such releases are, "
            "as a rule towards 0; the intervals allow for that (those of 95 % were measured to cover in "
            f"{MEASURED} of those shown, where 3 or more in 100 are)"
        )


def unbounded(coefficients: Iterable[Coefficient]) -> Iterator[str]:
    """A note where an interval of 95 % has an infinite end."""
    ends = ((one.label, one.interval()) for one in coefficients)
    labels = [label for label, pair in ends if not all(map(math.isfinite, pair))]
    if labels:
        yield (
            f"the interval of {', '.join(labels)} is unbounded: what the other columns leave of its column "
            "is not told apart from noise"
        )


def few_rows(labels: Sequence[str], slopes: Sequence[Slope]) -> Iterator[str]:
    """A note where the normal law is not reached by the sampling, for a skewed outcome."""
    rows, label = min((slope.rows, label) for slope, label in zip(slopes, labels, strict=True))
    if rows < FEW_ROWS:
        yield (
            f"only about {rows:.2g} rows tell the coefficient of {label}, fewer than {FEW_ROWS:g}: for a "
            "skewed outcome intervals from the population may cover in less than their level"
        )
