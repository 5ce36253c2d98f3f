"""The least total as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from budget_opt.estimators.planning.plan_tables import basis_in_words
from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from budget_opt.api.least_total import LeastTotal


def renderable(answer: LeastTotal) -> RenderableType:
    """Total and proof, wishes and what is reached, and the split."""
    from budget_opt.allocation.show import attribute_table

    parts: list[RenderableType] = [
        Text(_headline(answer)),
        _table(answer),
        attribute_table(answer.allocation),
    ]
    return Group(*parts, *(Text(line) for line in _notes(answer)))


def _headline(answer: LeastTotal) -> str:
    name = answer.allocation.name or "problem"
    return (
        f"{name}: a total epsilon of {rounded_up(answer.total_epsilon, 6):.6g} a record does; no total below "
        f"{rounded_down(answer.bound, 6):.6g} does, proved (relative gap {answer.relative_gap:.1e})"
    )


def _table(answer: LeastTotal) -> Table:
    kept = any(moment.needed_retention is not None for moment in answer.moments)
    errors = any(moment.wanted_error is not None for moment in answer.moments)
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("moment", overflow="fold")
    headings = [*(["wanted"] if kept else []), "retention", *(["wanted", "error"] if errors else []), ""]
    for heading in headings:
        table.add_column(heading, justify="right")
    for moment in answer.moments:
        cells = [percent(moment.needed_retention) if moment.needed_retention else "-"] if kept else []
        cells.append(percent(moment.retention))
        if errors:
            cells += [_number(moment.wanted_error), _number(moment.relative_error)]
        table.add_row(Text(moment.label), *cells, "binds" if moment.binding else "")
    return table


def _notes(answer: LeastTotal) -> list[str]:
    wanted = [moment for moment in answer.moments if moment.wanted_error is not None]
    if not wanted or answer.n is None:
        return []
    error = (
        f"error: expected at n = {answer.n:,} from the {answer.target}, in standard deviations of the "
        "scores, multiplied over the attributes (of a pair: of a correlation)"
    )
    bases = basis_in_words(moment.basis for moment in wanted)
    return [error, f"assumed: {bases}, no link between the attributes beyond the guess, large samples"]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
