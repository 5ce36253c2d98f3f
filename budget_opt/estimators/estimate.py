"""One estimated number with its error: frozen, printable, and a row of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

from budget_opt.errors import InputError

Target = Literal["population", "data"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number estimated from a release, corrected for the randomization.

    `raw` is the same number of the released table as it is, None where there is none. `standard_error` is
    measured from the `target`: the population, or the original data. `effective_n` is how many unrandomized
    rows would give the same error from the population, None where that is not known; `n` how many there are.
    """

    label: str
    value: float
    standard_error: float
    n: int
    target: Target
    raw: float | None = None
    effective_n: float | None = None
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases."""
        half = normal_quantile(level) * self.standard_error
        return self.value - half, self.value + half

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its 95 % interval."""
        low, high = self.interval()
        return {**asdict(self), "notes": list(self.notes), "interval": [low, high], "level": 0.95}


def normal_quantile(level: float) -> float:
    """The reach of a two-sided normal interval in standard errors; `InputError` for a level not in (0, 1)."""
    if not 0 < level < 1:
        raise InputError(f"level: is {level!r}, must be above 0 and below 1, for instance 0.95.")
    return NormalDist().inv_cdf(0.5 + level / 2)


@dataclass(frozen=True)
class MomentEstimate:
    """An estimate of an original moment from a release.

    `value` is corrected for the randomization, `observed` is the same moment of the released table as it
    is, `retention` what one keeps of the other (DESIGN 2.2; for one attribute, of the deviation from
    the noise's mean). `standard_error` is measured from the `target`: the population, or the original data.
    """

    attributes: tuple[str, ...]
    value: float
    standard_error: float
    n: int
    target: Target
    retention: float
    observed: float
    kind: Literal["estimated"] = "estimated"

    @property
    def label(self) -> str:
        """The moment in words: smoker x income."""
        return " x ".join(self.attributes)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The normal interval that covers the target in a share `level`, in (0, 1), of releases."""
        half = normal_quantile(level) * self.standard_error
        return self.value - half, self.value + half

    def __str__(self) -> str:
        low, high = self.interval()
        return (
            f"{self.label}: {self.value:.6g}, standard error {self.standard_error:.3g}, "
            f"95 % interval {low:.6g} to {high:.6g} (estimated, target {self.target}, n = {self.n}, "
            f"retention {self.retention:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its 95 % interval."""
        low, high = self.interval()
        return {**asdict(self), "attributes": list(self.attributes), "interval": [low, high], "level": 0.95}


def estimates_table(estimates: Iterable[MomentEstimate]) -> list[dict[str, Any]]:
    """Estimates as rows of a table (95 % intervals), for a CSV file or a data frame."""
    return [_row(estimate) for estimate in estimates]


def _row(estimate: MomentEstimate) -> dict[str, Any]:
    low, high = estimate.interval()
    return {
        "moment": estimate.label,
        "value": estimate.value,
        "standard_error": estimate.standard_error,
        "low": low,
        "high": high,
        "target": estimate.target,
        "n": estimate.n,
        "retention": estimate.retention,
        "kind": estimate.kind,
    }
