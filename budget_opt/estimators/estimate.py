"""One estimated number with its error: frozen, printable, and a row of a table."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from budget_opt.allocation.merging import OF_MERGED
from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.replicates import Replicates
from budget_opt.estimators.intervals.levels import reach_of_normal, reach_of_student
from budget_opt.estimators.moments.usefulness import Usefulness
from budget_opt.estimators.number_texts import rows_text
from budget_opt.tables.printing import level_told
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from budget_opt.estimators.moments.of_two import OfTwo

Target = Literal["population", "data"]


@dataclass(frozen=True, kw_only=True)
class Estimate(Rows):
    """A number estimated from a release, corrected for the randomization.

    `raw` is the same number of the released table as it is, None where there is none. `standard_error` is
    measured from the `target`: the population, or the original data. `effective_n` is how many unrandomized
    rows would give the same error from the population, None where that is not known; `n` how many there are.
    `usefulness` says whether correcting beats leaving it raw, None where that is not known; `bootstrap` holds
    the replicates that were asked for, beside the error and interval, which do not use them. `degrees` are
    those of Student's t in the interval where few chance events stand behind the error (see `chance_events`;
    a note tells), None for the normal law.
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
    degrees: float | None = None
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases."""
        half = reach(level, self.degrees) * self.standard_error
        return self.value - half, self.value + half

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """The estimate as one row of a table, with its interval; None for an end that is infinite."""
        low, high = map(finite_or_none, self.interval(level))
        useful = self.usefulness
        return [
            {
                "estimate": self.label,
                "value": self.value,
                "standard_error": self.standard_error,
                "low": low,
                "high": high,
                "raw": self.raw,
                "effective_n": self.effective_n,
                "useful": None if useful is None else useful.useful,
                "mse_corrected": None if useful is None else useful.mse_corrected,
                "mse_raw": None if useful is None else useful.mse_raw,
                "target": self.target,
                "n": self.n,
                "kind": self.kind,
                "notes": "; ".join(self.notes),
            }
        ]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its interval; null for an end that is infinite."""
        return {
            **asdict(self),
            "bootstrap": None if self.bootstrap is None else self.bootstrap.to_dict(level),
            "notes": list(self.notes),
            "interval": [finite_or_none(end) for end in self.interval(level)],
            "level": level,
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """The estimate on a line, and a line a note, for a rich console."""
        from rich.text import Text

        low, high = self.interval(level)
        line = (
            f"{self.label}: {self.value:.6g}, standard error {self.standard_error:.3g}, "
            f"{level_told(level)} interval {low:.6g} to {high:.6g} ({', '.join(self._circumstances())})"
        )
        return Text("\n".join((line, *map(sentence, self.notes))))

    def __str__(self) -> str:
        return str(self.renderable())

    def _circumstances(self) -> list[str]:
        said = ["estimated", f"target {self.target}", f"n = {self.n:,}"]
        if self.effective_n is not None:
            said.append(f"effective n {rows_text(self.effective_n)}")
        return said


def finite_or_none(number: float) -> float | None:
    """The number for JSON, which has no infinity and no NaN."""
    return float(number) if math.isfinite(number) else None


def sentence(note: str) -> str:
    """A note as a sentence of its own."""
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


def normal_quantile(level: float) -> float:
    """The reach of a two-sided normal interval in standard errors; `InputError` for a level not in (0, 1)."""
    return reach_of_normal(level)


def reach(level: float, degrees: float | None) -> float:
    """The reach of a two-sided interval in standard errors: of Student's t, or normal without `degrees`."""
    return normal_quantile(level) if degrees is None else float(reach_of_student(level, degrees))


def circumstances(n: int, target: Target) -> str:
    """What stands under a printed table of estimates."""
    return (
        f"n = {n:,}, target {target}; standard errors are estimated; effective n: rows of the whole table, "
        "by the closed form from the estimated marginals; useful: correcting has the smaller estimated mean "
        "squared error"
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
    the noise's mean; where two members of one cluster take part, what functions of the cluster keep, which
    `notes` say). `standard_error` is measured from the `target`: the population, or the original data.
    `effective_n` is n over the variance inflation prod (1 + tau a + tau (1 + tau) b) of DESIGN 2.3, an
    estimate from the estimated marginals: of one attribute, and of more if they are independent; members of
    one cluster count as one, from their own joint table. `of_two` is the
    share that a mean of two categories is made of, None for other moments. `merged` names the attributes
    that are released in merged categories: value, error and retention are then of the moment of these, whose
    scores are the means of those that were merged, and say nothing about what merging lost.
    """

    attributes: tuple[str, ...]
    retention: float
    of_two: OfTwo | None = None
    merged: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases.

        For a mean of two categories it is that of a share (`joint.cell_errors`), which covers rare ones too.
        """
        return super().interval(level) if self.of_two is None else self.of_two.mean_interval(level)

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """The moment as one row of a table, with its interval at `level`."""
        (row,) = super().rows(level)
        label = row.pop("estimate")
        return [{"moment": label, **row, "retention": self.retention}]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its interval at `level`."""
        told = {name: value for name, value in super().to_dict(level).items() if name != "of_two"}
        merged = told.pop("merged")
        return {**told, "attributes": list(self.attributes), **({"merged": list(merged)} if merged else {})}

    def _circumstances(self) -> list[str]:
        return [
            *super()._circumstances(),
            f"retention {self.retention:.4g}{f' {OF_MERGED}' if self.merged else ''}",
        ]
