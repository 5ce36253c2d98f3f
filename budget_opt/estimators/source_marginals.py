"""The marginal of an attribute whose matrix was chosen for a known source, through that matrix's inverse.

With Q, rows by the truth, the reports have the law pi Q, so that the shares of the reports times the inverse
are unbiased for pi: share x is the mean over the rows of h_x(y) = Qinv[y, x]. Its variance is that of a mean
of numbers a report, from the population: sampling and drawing are both random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.intervals.errors_of_means import require_rows, sampling_factor
from budget_opt.estimators.intervals.levels import reach_of_normal
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.unchanging import hold_arrays
from budget_opt.mechanisms.hamming import MatrixSampler, StochasticMatrix
from budget_opt.model.domain import Label
from budget_opt.model.labels import label_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from budget_opt.allocation import AllocatedAttribute


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceMarginal(Rows):
    """The unbiased shares of the truths by code, with `standard_errors` from the population; (r,) each.

    Shares may be negative. `raw` are those of the reports, `n` the rows.
    """

    name: str
    labels: tuple[Label | None, ...]
    shares: FloatArray
    standard_errors: FloatArray
    raw: FloatArray
    n: int
    kind: Literal["estimated"] = "estimated"

    def __post_init__(self) -> None:
        hold_arrays(self)

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The ends of the intervals of all shares, each by the normal law; `level` in (0, 1)."""
        half = reach_of_normal(level) * self.standard_errors
        return self.shares - half, self.shares + half

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One row a category, with its interval."""
        low, high = self.interval(level)
        columns = (self.labels, self.shares, self.standard_errors, low, high, self.raw)
        names = ("category", "share", "standard_error", "low", "high", "raw")
        return [
            {"attribute": self.name, "category": label}
            | dict(zip(names[1:], map(float, numbers), strict=True))
            for label, *numbers in zip(*columns, strict=True)
        ]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The marginal as plain values for JSON, with its intervals."""
        return {
            "kind": self.kind,
            "attribute": self.name,
            "target": "population",
            "n": self.n,
            "level": level,
            "cells": self.rows(level),
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """The shares for a rich console, with intervals at `level`."""
        from rich.console import Group
        from rich.text import Text

        from budget_opt.estimators.joint.table_text import share_told
        from budget_opt.tables.printing import level_told
        from budget_opt.tables.wide import Column, WideTable

        cells = self.rows(level)
        told = {name: [share_told(row[name]) for row in cells] for name in cells[0] if name not in _LEADING}
        interval = [" to ".join(ends) for ends in zip(told["low"], told["high"], strict=True)]
        columns = [
            Column("share", told["share"]),
            Column("standard\nerror", told["standard_error"]),
            Column(f"{level_told(level)} interval", interval),
            Column("released\nshare", told["raw"]),
        ]
        top = (
            f"Marginal of {self.name}, whose matrix a known source chose, estimated from n = {self.n:,} "
            "released rows; target population"
        )
        labels = [f"{self.name} = {label_text(label)}" for label in self.labels]
        return Group(
            Text(top),
            WideTable(Column("category", labels), columns),
            Text("share: unbiased by the inverse of the matrix; may be negative."),
        )

    def __str__(self) -> str:
        from budget_opt.tables.printing import plain_text

        return plain_text(self.renderable())


_LEADING = ("attribute", "category")


def source_marginal_of(attribute: AllocatedAttribute, counts: Counts) -> SourceMarginal:
    """The marginal of an attribute with a known source from the counts of its reports.

    Raises `InputError` for an attribute without one, for fewer than two rows, and where the matrix has no
    inverse: a censored category cannot be brought back.
    """
    sampler = attribute.part.sampler
    if not isinstance(sampler, MatrixSampler):
        raise InputError(
            f"attribute {attribute.name!r}: has no matrix that a known source chose. Take "
            f"estimate.marginals(released, allocation, {attribute.name!r})."
        )
    require_rows(counts, f"the marginal of {attribute.name}", 2)
    shares, errors = corrected_by_inverse(sampler.matrix, counts.first, counts.second)
    return SourceMarginal(
        name=attribute.name,
        labels=attribute.domain.labels,
        shares=shares,
        standard_errors=errors * sampling_factor(counts.effective) ** 0.5,
        raw=counts.shares,
        n=counts.n,
    )


def corrected_by_inverse(
    matrix: StochasticMatrix, first: FloatArray, second: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Unbiased shares (r,) from sums of weights and of their squares by report, and their standard errors.

    Without weights both are the counts. The variance is about the estimated mean, whose own loss of 1 in the
    number of rows is not counted. Raises `InputError` where the matrix has no inverse.
    """
    inverse, total = matrix.inverse(), float(first.sum())
    shares: FloatArray = first @ inverse / total
    variances = second @ (inverse - shares) ** 2 / total**2
    return shares, np.sqrt(variances)
