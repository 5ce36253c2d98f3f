"""Matrices of pairs as results: by name, as rows, as JSON, and as people read them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.replicates import Replicates
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import (
    Estimate,
    Target,
    circumstances,
    finite_or_none,
    reach,
    sentence,
)
from budget_opt.estimators.intervals.chance_events import few_note
from budget_opt.estimators.intervals.levels import reach_of_student
from budget_opt.estimators.intervals.ratio import ratio_interval
from budget_opt.estimators.matrices.nearest import nearest_correlation
from budget_opt.estimators.matrices.pair_sums import PairErrors
from budget_opt.estimators.moments.of_two import OfTwo, VarianceEstimate
from budget_opt.estimators.moments.usefulness import Usefulness
from budget_opt.estimators.number_texts import estimates_columns
from budget_opt.estimators.unchanging import hold_arrays
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

_PRINTED = 60
"""Rows that are printed; rows() has all of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PairMatrix(Rows):
    """A corrected symmetric matrix of the pairs of `attributes`, every array of shape (d, d).

    `values` with their `standard_errors` from the `target`, `raw` of the released table, `effective_n` by
    the closed form of DESIGN 2.3 from the estimated marginals (n over the product of two variance
    inflations), and the estimated mean squared errors of the corrected and of the raw entry. NaN where an
    entry is withheld or not defined, which `notes` explain. Where few rows or chance events stand
    `behind` an error, the interval is of Student's t with so many `degrees`, infinite elsewhere (see
    `chance_events`). `merged` has the note of each attribute that is released in merged categories: all
    numbers are of these. `bootstrap` holds the errors of the replicates that were asked for, shape (B, d, d).
    """

    attributes: tuple[str, ...]
    values: FloatArray
    standard_errors: FloatArray
    raw: FloatArray
    effective_n: FloatArray
    mse_corrected: FloatArray
    mse_raw: FloatArray
    n: int
    target: Target
    notes: tuple[str, ...] = ()
    behind: FloatArray | None = None
    degrees: FloatArray | None = None
    bootstrap: FloatArray | None = None
    bootstrap_how: str = ""
    merged: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["estimated"] = "estimated"

    title: ClassVar[str] = "matrix"
    has_diagonal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        hold_arrays(self)

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Low and high ends that cover each entry of the target in a share `level`, in (0, 1)."""
        half = self._reach(level) * self.standard_errors
        return self.values - half, self.values + half

    def _reach(self, level: float) -> FloatArray:
        return reach_of_student(level, math.inf if self.degrees is None else self.degrees)

    def __getitem__(self, pair: tuple[str, str]) -> Estimate:
        """The entry of two attributes; raises `InputError` for others, and for an entry that is withheld."""
        a, b = (self._place(name) for name in pair)
        if not math.isfinite(self.values[a, b]):
            raise InputError(f"{' x '.join(pair)}: is withheld. {' '.join(self.notes)}")
        return self._entry(a, b)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """The places of the entries, each once."""
        d = len(self.attributes)
        return ((a, b) for a in range(d) for b in range(a if self.has_diagonal else a + 1, d))

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """A row a pair; None where an entry is withheld or not defined."""
        low, high = self.interval(level)
        useful = self.mse_corrected < self.mse_raw
        known = np.isfinite(self.mse_raw) & np.isfinite(self.values)
        return [
            {
                "first": self.attributes[a],
                "second": self.attributes[b],
                "value": finite_or_none(self.values[a, b]),
                "standard_error": finite_or_none(self.standard_errors[a, b]),
                "low": finite_or_none(low[a, b]),
                "high": finite_or_none(high[a, b]),
                "raw": finite_or_none(self.raw[a, b]),
                "effective_n": finite_or_none(self.effective_n[a, b]),
                "useful": bool(useful[a, b]) if known[a, b] else None,
                "mse_corrected": finite_or_none(self.mse_corrected[a, b]),
                "mse_raw": finite_or_none(self.mse_raw[a, b]),
                "target": self.target,
                "n": self.n,
                "kind": self.kind,
            }
            for a, b in self.pairs()
        ]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The matrix as plain values for JSON, with intervals at `level`; null where an entry is withheld."""
        return {
            "what": self.title,
            "attributes": list(self.attributes),
            "values": [[finite_or_none(value) for value in line] for line in self.values.tolist()],
            "pairs": self.rows(level),
            "level": level,
            "n": self.n,
            "target": self.target,
            "notes": list(self.notes),
            "kind": self.kind,
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """A line a pair and the notes, for a rich console."""
        from rich.console import Group
        from rich.text import Text

        from budget_opt.tables.wide import Column, WideTable

        rows = self.rows(level)
        first = Column("pair", [_pair_of(row) for row in rows[:_PRINTED]])
        table = WideTable(first, estimates_columns(self.title, rows[:_PRINTED], level))
        told = [circumstances(self.n, self.target)]
        if len(rows) > _PRINTED:
            told.append(f"{len(rows) - _PRINTED:,} more pairs are in rows().")
        return Group(table, *(Text(line) for line in (*told, *map(sentence, self.notes))))

    def __str__(self) -> str:
        return plain_text(self.renderable())

    def _place(self, name: str) -> int:
        if name in self.attributes:
            return self.attributes.index(name)
        near = difflib.get_close_matches(str(name), self.attributes, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"They are {', '.join(map(repr, self.attributes))}."
        raise InputError(f"{name!r} is not an attribute of this {self.title} matrix. {hint}")

    def _entry(self, a: int, b: int) -> Estimate:
        names = (self.attributes[a], self.attributes[b])
        return Estimate(
            label=f"variance of {names[0]}" if a == b else f"{self.title} of {' x '.join(names)}",
            **self._numbers(a, b),
        )

    def _numbers(self, a: int, b: int) -> dict[str, Any]:
        corrected, raw = float(self.mse_corrected[a, b]), float(self.mse_raw[a, b])
        replicates = None
        if self.bootstrap is not None:
            replicates = Replicates(float(self.values[a, b]), self.bootstrap[:, a, b], self.bootstrap_how)
        return {
            "value": float(self.values[a, b]),
            "standard_error": float(self.standard_errors[a, b]),
            "n": self.n,
            "target": self.target,
            "raw": finite_or_none(self.raw[a, b]),
            "effective_n": finite_or_none(self.effective_n[a, b]),
            "usefulness": Usefulness(corrected, raw, corrected < raw) if math.isfinite(raw) else None,
            "bootstrap": replicates,
            "degrees": None if self.degrees is None else finite_or_none(self.degrees[a, b]),
            "notes": self._notes_of(a, b),
        }

    def _notes_of(self, a: int, b: int) -> tuple[str, ...]:
        few = () if self.behind is None else few_note(float(self.behind[a, b]))
        names = dict.fromkeys((self.attributes[a], self.attributes[b]))
        return (*few, *(self.merged[name] for name in names if name in self.merged))


@dataclass(frozen=True, kw_only=True, eq=False)
class CovarianceMatrix(PairMatrix):
    """Corrected covariances off the diagonal and corrected variances on it (DESIGN 2.2).

    A variance is that of the target without bias: the variance of the estimated mean is added back, so that
    without randomization it has the divisor n - 1 for the population and n for the data (`raw`: n). `of_two`
    has for every attribute of two categories the share that its variance is made of.
    """

    of_two: tuple[OfTwo | None, ...] = ()

    title: ClassVar[str] = "covariance"

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Low and high ends that cover each entry of the target in a share `level`, in (0, 1)."""
        low, high = super().interval(level)
        for m, share in enumerate(self.of_two):
            if share is not None and math.isfinite(self.values[m, m]):
                low[m, m], high[m, m] = self._variance(m, share).interval(level)
        return low, high

    def _entry(self, a: int, b: int) -> Estimate:
        share = self.of_two[a] if a == b and self.of_two else None
        return super()._entry(a, b) if share is None else self._variance(a, share)

    def _variance(self, m: int, share: OfTwo) -> VarianceEstimate:
        return VarianceEstimate(
            label=f"variance of {self.attributes[m]}", of_two=share, **self._numbers(m, m)
        )


@dataclass(frozen=True, kw_only=True)
class CorrelationEstimate(Estimate):
    """A corrected correlation; its interval is Fieller's (see `ratio`), cut to [-1, 1].

    `errors` are the variance of the covariance, the covariance of both and the variance of the product of
    the standard deviations, each in units of the latter.
    """

    errors: tuple[float, float, float]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases."""
        v, c, d = (np.array(number) for number in self.errors)
        low, high = ratio_interval(np.array(self.value), v, c, d, reach(level, self.degrees))
        return float(np.clip(low, -1, 1)), float(np.clip(high, -1, 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrelationMatrix(PairMatrix):
    """Corrected correlations, from corrected covariances and corrected variances.

    Estimates may lie outside [-1, 1], and the matrix need not be positive semidefinite: both are flagged in
    `notes`, and `repaired` is the nearest correlation matrix. `errors` as in `CorrelationEstimate`.
    """

    errors: PairErrors

    title: ClassVar[str] = "correlation"
    has_diagonal: ClassVar[bool] = False

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Fieller's intervals (see `ratio`), cut to [-1, 1]; the diagonal is 1."""
        errors = self.errors
        z = self._reach(level)
        ends = ratio_interval(self.values, errors.product, errors.crossed, errors.scale, z)
        low, high = (np.where(np.isfinite(self.values), np.clip(end, -1, 1), math.nan) for end in ends)
        for end in (low, high):
            np.fill_diagonal(end, np.diag(self.values))
        return low, high

    def repaired(self) -> FloatArray:
        """The correlation matrix nearest to `values` in the sum of squares (Higham 2002), shape (d, d).

        It is biased, and has no standard errors. Raises `InputError` where an entry is withheld.
        """
        if not np.all(np.isfinite(self.values)):
            raise InputError(
                "repaired: some correlations are withheld, and a nearest matrix needs them all. "
                f"Name other attributes. {' '.join(self.notes)}"
            )
        return nearest_correlation(self.values)

    def _entry(self, a: int, b: int) -> CorrelationEstimate:
        errors = self.errors
        return CorrelationEstimate(
            label=f"correlation of {self.attributes[a]} x {self.attributes[b]}",
            errors=(float(errors.product[a, b]), float(errors.crossed[a, b]), float(errors.scale[a, b])),
            **self._numbers(a, b),
        )

    def _notes_of(self, a: int, b: int) -> tuple[str, ...]:
        outside = ("outside [-1, 1]",) if abs(self.values[a, b]) > 1 else ()
        return (*outside, *super()._notes_of(a, b))


def _pair_of(row: dict[str, Any]) -> str:
    return row["first"] if row["first"] == row["second"] else f"{row['first']} x {row['second']}"
