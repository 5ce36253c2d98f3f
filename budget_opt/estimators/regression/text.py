"""A regression as text that people read."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.estimators.regression.result import Coefficient, Regression
from budget_opt.tables.printing import NOTHING
from budget_opt.tables.wide import Column, WideTable


def renderable(regression: Regression) -> RenderableType:
    """What was fitted, a row a coefficient, and below what holds for all of them."""
    top = (
        f"{regression.formula}: {regression.family} regression estimated from n = {regression.n:,} released "
        f"rows; target {regression.target}"
    )
    rows = [_cells(one) for one in regression]
    headings = ("value", "standard\nerror", "95 % interval", "raw", "effective n")
    columns = [Column(heading, [row[place] for row in rows]) for place, heading in enumerate(headings)]
    table = WideTable(Column("coefficient", [one.label for one in regression]), columns)
    return Group(Text(top), table, *map(Text, _closing(regression)))


def _cells(one: Coefficient) -> list[str]:
    low, high = one.interval()
    return [
        f"{one.value:.4g}",
        f"{one.standard_error:.3g}",
        f"{low:.4g} to {high:.4g}",
        NOTHING if one.raw is None else f"{one.raw:.4g}",
        NOTHING if one.effective_n is None else f"{one.effective_n:,.0f}",
    ]


def _closing(regression: Regression) -> list[str]:
    said = [f"Method: {regression.method}."]
    if regression.residual_variance is not None:
        shown = NOTHING if regression.r_squared is None else f"{regression.r_squared:.4g}"
        said.append(f"R^2 {shown}, residual variance {regression.residual_variance:.4g}, both corrected.")
    if regression.log_likelihood is not None:
        given = "of the outcome's reports given those of the covariates"
        said.append(f"Log-likelihood {regression.log_likelihood:.8g}, {given}.")
    notes = (*regression.references, *regression.notes)
    return said + [f"{note[0].upper()}{note[1:]}." for note in notes]
