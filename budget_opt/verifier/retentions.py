"""The observed against the predicted retention of one cross-moment, with the originals at hand.

Letters: x the originals, y the reports, f scores, c the mean over the rows of E[f(y) | x], R = prod lambda.
Given x the rows are independent, so for g(y) = prod (f(y) - c)

    mean g(y) has expectation mean E[g | x] = R mean prod (f(x) - mean f)      (Theorem 1, given the data)
    and variance V / n, V = mean (E[g^2 | x] - E[g | x]^2), exactly.

The limit is Bernstein's: |mean g - its expectation| >= t has probability <= a for
t = (b L / 3 + sqrt((b L / 3)^2 + 2 n V L)) / n, L = log(2 / a), b the range of g; no normal approximation.
For one attribute c is the noise's mean instead (DESIGN 2.2), for the data as well.

Nominal attributes have no f. The argument holds for any function g of the cells, also for one chosen by
looking at x: then g is the direction of the data's own centred table M, sum over categories v of
M(v) prod (1{y = v} - c_v) / |M|, and the one number tested is how much of that table is left.

Where several attributes of the moment are randomized together the expectation is that of DESIGN 2.9, exact
given the data all the same, and no factor R is the same for all data: what is predicted is then the share
that is left of these data's moment.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

Basis = Literal["the scores", "the data's own table", "category numbers"]

_ROUNDING = 1e-12  # of the range of g, for sums in doubles


@dataclass(frozen=True)
class Projection:
    """One function g of the cells, over n >= 1 rows.

    `data` is its mean over the originals, centred at their own means, `observed` over the reports;
    `predicted` is the latter's expectation and `variance` V given the data, `width` the range b.
    """

    basis: Basis
    n: int
    data: float
    observed: float
    predicted: float
    variance: float
    width: float


@dataclass(frozen=True)
class RetentionEvidence:
    """A released moment against what the originals and the matrices predict.

    `factor` is R, None where a cluster has several of the attributes; a sound release breaks the `tolerance`
    with probability at most `alarm`.
    """

    attributes: tuple[str, ...]
    projection: Projection
    factor: float | None
    alarm: float

    @property
    def label(self) -> str:
        """The moment in words: smoker x income."""
        return " x ".join(self.attributes)

    @property
    def predicted_retention(self) -> float | None:
        """R, or the share of the data's own moment that is predicted to be left; None without either."""
        if self.factor is not None:
            return self.factor
        return self.projection.predicted / self.projection.data if self.is_measurable else None

    @property
    def standard_error(self) -> float:
        """The standard error of the released moment, exact given the data."""
        return math.sqrt(max(self.projection.variance, 0.0) / self.projection.n)

    @property
    def tolerance(self) -> float:
        """Bernstein's limit for the distance of the released moment from its expectation."""
        n, log_term = self.projection.n, math.log(2 / self.alarm)
        linear = self.projection.width * log_term / 3
        square = 2 * n**2 * self.standard_error**2 * log_term
        return (linear + math.sqrt(linear**2 + square)) / n + _ROUNDING * self.projection.width

    @property
    def holds(self) -> bool:
        """True where the released moment is within the tolerance of its expectation."""
        return abs(self.projection.observed - self.projection.predicted) <= self.tolerance

    @property
    def is_measurable(self) -> bool:
        """True where the error of the observed retention is below 1; above, it would say nothing."""
        return self.standard_error < abs(self.projection.data)

    @property
    def retention(self) -> float | None:
        """The observed retention, released moment over the data's own; None where not measurable."""
        return self.projection.observed / self.projection.data if self.is_measurable else None

    @property
    def retention_error(self) -> float | None:
        """The standard error of the observed retention, exact given the data."""
        return self.standard_error / abs(self.projection.data) if self.is_measurable else None

    @property
    def smallest_fault(self) -> float | None:
        """The error of the retention that is noticed in every second release of this size and data."""
        return self.tolerance / abs(self.projection.data) if self.is_measurable else None

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain values for JSON."""
        return {
            "attributes": list(self.attributes),
            "basis": self.projection.basis,
            **({} if self.factor is not None else {"retention_of": "these data, by joint randomization"}),
            "predicted_retention": self.predicted_retention,
            "observed_retention": self.retention,
            "retention_standard_error": self.retention_error,
            "smallest_fault": self.smallest_fault,
            "data_moment": self.projection.data,
            "released_moment": self.projection.observed,
            "predicted_moment": self.projection.predicted,
            "moment_standard_error": self.standard_error,
            "moment_tolerance": self.tolerance,
        }
