"""A regression as text that people read."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.estimators.estimate import sentence
from budget_opt.estimators.number_texts import estimates_columns
from budget_opt.estimators.regression.result import Regression
from budget_opt.tables.printing import NOTHING
from budget_opt.tables.wide import Column, WideTable


def renderable(regression: Regression, level: float) -> RenderableType:
    """What was fitted, a row a coefficient, and below what holds for all of them."""
    top = (
        f"{regression.formula}: {regression.family} regression estimated from n = {regression.n:,} released "
        f"rows; target {regression.target}"
    )
    names = Column("coefficient", [one.label for one in regression])
    table = WideTable(names, estimates_columns("value", regression.rows(level), level))
    return Group(Text(top), table, *map(Text, _closing(regression)))


def _closing(regression: Regression) -> list[str]:
    said = [f"Method: {regression.method}."]
    if regression.residual_variance is not None:
        shown = NOTHING if regression.r_squared is None else f"{regression.r_squared:.4g}"
        said.append(f"R^2 {shown}, residual variance {regression.residual_variance:.4g}, both corrected.")
    if regression.log_likelihood is not None:
        given = "of the outcome's reports given those of the covariates"
        said.append(f"Log-likelihood {regression.log_likelihood:.8g}, {given}.")
    notes = (*regression.references, *regression.notes)
    return [*said, *map(sentence, notes)]
