"""An estimated entropy, mutual information, chi-square, G^2, phi^2 or Cramer's V, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.estimators.estimate import Estimate, normal_quantile
from budget_opt.estimators.statistics.divergence import Divergence
from budget_opt.tables.printing import plain_text, text_table

if TYPE_CHECKING:
    from rich.console import RenderableType

Unit = Literal["nats", "bits"]


@dataclass(frozen=True)
class Scale:
    """What a statistic is of theta (`divergence`): `start + factor * theta`, or the root of that.

    `largest` is the largest value the statistic can have; the least is 0.
    """

    start: float
    factor: float
    largest: float
    root: bool = False

    def of(self, theta: float) -> float:
        """The statistic at theta, which may be negative where it is no root."""
        value = self.start + self.factor * theta
        return math.sqrt(max(value, 0.0)) if self.root else value

    def within(self, theta: float) -> float:
        """The statistic at theta, moved into its range."""
        return min(max(self.of(theta), 0.0), self.largest)


@dataclass(frozen=True, kw_only=True)
class StatisticEstimate(Estimate):
    """A statistic of the joint table of some attributes, corrected for the randomization.

    `value` has no first-order bias, so that it may pass the end of its range by chance, which a note says; of
    Cramer's V, a root, it is cut off at 0 and biased upward within two standard errors of 0. `raw` is the
    same statistic of the released table. `largest` is the largest value that there can be, `unit` nats or
    bits of an entropy. The standard error is that of the model of `divergence`; within two of it from
    independence (of an entropy: from its largest value) it is up to a third too large.
    """

    statistic: str
    attributes: tuple[str, ...]
    unit: Unit | None = None
    divergence: Divergence = field(repr=False, compare=False)
    scale: Scale = field(repr=False)

    @property
    def largest(self) -> float:
        """The largest value that the statistic can have."""
        return self.scale.largest

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases; in 0 .. `largest`.

        A noncentral chi-square is inverted (`divergence`), which holds where the first derivative vanishes
        too. Measured coverage at 95 %: 94 to 96 %, and up to 98 % at independence (of an entropy: at the
        uniform table) and so near it that noise hides the difference. Less is possible where a note says that
        cells or categories are within 4 standard errors of 0: down to 92 %, for mutual information and G^2 to
        84 %, and for chi-square, phi^2 and V, where whole categories may not occur, to 77 %.
        """
        normal_quantile(level)
        low, high = (self.scale.within(float(end)) for end in self.divergence.interval(level))
        return min(low, high), max(low, high)

    def rows(self) -> list[dict[str, Any]]:
        """The estimate as one row of a table, with its 95 % interval."""
        low, high = self.interval()
        return [
            {
                "statistic": self.statistic,
                "attributes": " x ".join(self.attributes),
                "unit": self.unit,
                "value": self.value,
                "standard_error": self.standard_error,
                "low": low,
                "high": high,
                "raw": self.raw,
                "largest": self.largest,
                "target": self.target,
                "n": self.n,
                "effective_n": self.effective_n,
                "kind": self.kind,
                "notes": "; ".join(self.notes),
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its 95 % interval."""
        row = self.rows()[0]
        interval = [row.pop("low"), row.pop("high")]
        changed = {"attributes": list(self.attributes), "notes": list(self.notes)}
        return {**row, **changed, "label": self.label, "interval": interval, "level": 0.95}

    def renderable(self) -> RenderableType:
        """The estimate as a small table for a rich console, with its notes."""
        return renderable_estimates(self.label, [self])

    def __str__(self) -> str:
        return plain_text(self.renderable())


def renderable_estimates(title: str, estimates: list[StatisticEstimate]) -> RenderableType:
    """Estimates as a table, one a line, and what is to be said of them."""
    from rich.console import Group

    first = estimates[0]
    lines = []
    for estimate in estimates:
        low, high = estimate.interval()
        raw = "" if estimate.raw is None else f"{estimate.raw:.4g}"
        unit = f" {estimate.unit}" if estimate.unit else ""
        lines.append(
            (
                f"{estimate.statistic}: {' x '.join(estimate.attributes)}",
                f"{estimate.value:.4g}{unit}",
                f"{estimate.standard_error:.2g}",
                f"{low:.4g} to {high:.4g}",
                raw,
            )
        )
    table = text_table(("statistic", "corrected", "standard error", "95 % interval", "released table"), lines)
    notes = dict.fromkeys(note for estimate in estimates for note in estimate.notes)
    circumstances = f"{title} (estimated, target {first.target}, n = {first.n:,})"
    return Group(circumstances, table, *(f"- {note}" for note in notes))
