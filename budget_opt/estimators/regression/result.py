"""A regression that was estimated from a release: a row a coefficient."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from scipy.special import stdtrit

from budget_opt.estimators.estimate import Target, finite_or_none, normal_quantile
from budget_opt.estimators.regression.shown import shown_interval
from budget_opt.estimators.releases.naming import require_known
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

Family = Literal["linear", "logistic"]
LogisticMethod = Literal["likelihood", "corrected score"]


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """One coefficient, corrected for the randomization, measured from the regression's target.

    `raw` is the coefficient of the same regression on the released table as it is, None where there is none.
    `effective_n` is how many unrandomized rows would give the same error from the population, None where
    that is not known. A coefficient of least squares is a ratio whose denominator is uncertain too:
    `crossed` is its covariance with that and `left_variance` the variance of that, both relative to the
    denominator (`least_squares`); they are 0 for other methods and without randomization. `least_left` is the
    least denominator with which the coefficient would have been shown, relative to the one that was found.
    `degrees` are those of freedom that `standard_error` was estimated with, infinite where that is the normal
    law's.
    """

    label: str
    value: float
    standard_error: float
    raw: float | None
    effective_n: float | None
    crossed: float = 0.0
    left_variance: float = 0.0
    least_left: float = 0.0
    degrees: float = math.inf

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of the releases that are shown.

        Near the limit from which on a coefficient is shown it allows for that choice (`shown`); otherwise it
        is Fieller's, and Student's one where `left_variance` is 0. An end is infinite where the denominator
        may be 0.
        """
        z = normal_quantile(level)
        wider = z if math.isinf(self.degrees) else -float(stdtrit(self.degrees, 0.5 - level / 2))
        crossed = self.crossed + self.value * self.left_variance
        variance = (self.standard_error * wider / z) ** 2 + self.value * (crossed + self.crossed)
        return shown_interval(self.value, variance, crossed, self.left_variance, self.least_left, level)


@dataclass(frozen=True, kw_only=True)
class Regression(Rows):
    """The coefficients of a formula, estimated from a release and measured from the `target`.

    `family` is "linear" (`r_squared` and `residual_variance` are corrected for the randomization too, the
    latter with divisor n - p) or "logistic" (`log_likelihood` is that of the
    outcome's reports given those of the covariates, where the method is one of likelihood). `method` says
    how, `n` is the number of rows. `references` names the reference categories. Iterating gives the
    coefficients, `regression["income"]` one of them.
    """

    formula: str
    family: Family
    method: str
    target: Target
    n: int
    coefficients: tuple[Coefficient, ...]
    r_squared: float | None = None
    residual_variance: float | None = None
    log_likelihood: float | None = None
    references: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def __iter__(self) -> Iterator[Coefficient]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    def __getitem__(self, label: str) -> Coefficient:
        """The coefficient of this label; `InputError` where there is none."""
        known = {one.label: one for one in self.coefficients}
        require_known([label], known, "a coefficient of the regression")
        return known[label]

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """A row a coefficient, with its interval at `level`; None for an end that is infinite."""
        return [self._row(one, level) for one in self.coefficients]

    def _row(self, one: Coefficient, level: float) -> dict[str, Any]:
        low, high = map(finite_or_none, one.interval(level))
        return {
            "coefficient": one.label,
            "value": one.value,
            "standard_error": one.standard_error,
            "low": low,
            "high": high,
            "raw": one.raw,
            "effective_n": one.effective_n,
            "target": self.target,
            "n": self.n,
            "kind": self.kind,
        }

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The regression as plain values for JSON, with intervals at `level`."""
        return {
            "formula": self.formula,
            "family": self.family,
            "method": self.method,
            "kind": self.kind,
            "target": self.target,
            "n": self.n,
            "level": level,
            "coefficients": self.rows(level),
            "r_squared": self.r_squared,
            "residual_variance": self.residual_variance,
            "log_likelihood": self.log_likelihood,
            "references": list(self.references),
            "notes": list(self.notes),
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """The table for a rich console."""
        from budget_opt.estimators.regression.text import renderable

        return renderable(self, level)

    def __str__(self) -> str:
        return plain_text(self.renderable())
