"""One estimated number with its error: frozen, printable, and a row of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal, get_args

from budget_opt.errors import InputError
from budget_opt.estimators.replicates import Replicates
from budget_opt.estimators.usefulness import Usefulness

Target = Literal["population", "data"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number estimated from a release, corrected for the randomization.

    `raw` is the same number of the released table as it is, None where there is none. `standard_error` is
    measured from the `target`: the population, or the original data. `effective_n` is how many unrandomized
    rows would give the same error from the population, None where that is not known; `n` how many there are.
    `usefulness` says whether correcting beats leaving it raw, None where that is not known; `bootstrap` holds
    the replicates that were asked for, beside the error and interval, which do not use them.
    """

    label: str
    value: float
    standard_error: float
    n: int
    target: Target
    raw: float | None = None
    effective_n: float | None = None
    usefulness: Usefulness | None = None
    bootstrap: Replicates | None = None
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases."""
        half = normal_quantile(level) * self.standard_error
        return self.value - half, self.value + half

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its 95 % interval."""
        low, high = self.interval()
        return {
            **asdict(self),
            "bootstrap": None if self.bootstrap is None else self.bootstrap.to_dict(),
            "notes": list(self.notes),
            "interval": [low, high],
            "level": 0.95,
        }

    def __str__(self) -> str:
        low, high = self.interval()
        return (
            f"{self.label}: {self.value:.6g}, standard error {self.standard_error:.3g}, "
            f"95 % interval {low:.6g} to {high:.6g} ({', '.join(self._circumstances())})"
        )

    def _circumstances(self) -> list[str]:
        said = ["estimated", f"target {self.target}", f"n = {self.n}"]
        if self.effective_n is not None:
            said.append(f"effective n {self.effective_n:.3g}")
        return said


def normal_quantile(level: float) -> float:
    """The reach of a two-sided normal interval in standard errors; `InputError` for a level not in (0, 1)."""
    if not 0 < level < 1:
        raise InputError(f"level: is {level!r}, must be above 0 and below 1, for instance 0.95.")
    return NormalDist().inv_cdf(0.5 + level / 2)


def circumstances(n: int, target: Target) -> str:
    """What stands under a printed table of estimates."""
    return (
        f"n = {n:,}; standard errors from the {target}, estimated; effective n by the closed form from the "
        "estimated marginals; useful: correcting has the smaller estimated mean squared error"
    )


def require_target(target: object) -> None:
    """`InputError` unless it is one of both words."""
    if target not in get_args(Target):
        raise InputError(f'target: is {target!r}, must be "population" or "data".')


@dataclass(frozen=True, kw_only=True)
class MomentEstimate(Estimate):
    """An estimate of an original moment from a release.

    `value` is corrected for the randomization, `raw` is the same moment of the released table as it
    is, `retention` what one keeps of the other (DESIGN 2.2; for one attribute, of the deviation from
    the noise's mean). `standard_error` is measured from the `target`: the population, or the original data.
    `effective_n` is n over the variance inflation prod (1 + tau a + tau (1 + tau) b) of DESIGN 2.3, from
    the estimated marginals: exact for one attribute, and for more where they are independent.
    """

    attributes: tuple[str, ...]
    retention: float

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its 95 % interval."""
        return {**super().to_dict(), "attributes": list(self.attributes)}

    def _circumstances(self) -> list[str]:
        return [*super()._circumstances(), f"retention {self.retention:.4g}"]


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
        "raw": estimate.raw,
        "effective_n": estimate.effective_n,
        "useful": None if estimate.usefulness is None else estimate.usefulness.useful,
        "target": estimate.target,
        "n": estimate.n,
        "retention": estimate.retention,
        "kind": estimate.kind,
    }
