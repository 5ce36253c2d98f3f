"""Tables of results for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from budget_opt.estimators.estimate import MomentEstimate


def estimates_table(estimates: Sequence[MomentEstimate], level: float) -> Table:
    """Estimates with their standard errors and intervals, a moment a row."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("moment", overflow="fold")
    for heading in ("estimate", "standard error", f"{100 * level:g} % low", "high", "retention"):
        table.add_column(heading, justify="right")
    for estimate in estimates:
        low, high = estimate.interval(level)
        table.add_row(
            Text(estimate.label),
            f"{estimate.value:.4g}",
            f"{estimate.standard_error:.2g}",
            f"{low:.4g}",
            f"{high:.4g}",
            f"{100 * estimate.retention:.3g} %",
        )
    if estimates:
        first = estimates[0]
        table.caption = f"n = {first.n:,}; standard errors from the {first.target}, estimated"
    return table
