"""A plan as curators read it: what is assumed, and a table with a moment a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from budget_opt.allocation.merging import OF_MERGED, RETENTION, is_merged, retention_heading
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from budget_opt.estimators.planning.plan import Plan, PlannedMoment

Column = tuple[str, Callable[["PlannedMoment"], str]]


def renderable(plan: Plan) -> RenderableType:
    """Headline, tables and notes for a rich console."""
    lines = [_legend(plan), *(f"{moment.label}: {moment.note}" for moment in plan.moments if moment.note)]
    asked = _asked(plan)
    tables = [_table(plan, _ERRORS), *([_table(plan, asked)] if asked else [])]
    return Group(Text(headline(plan)), *tables, *(Text(line) for line in lines))


def headline(plan: Plan) -> str:
    """Of what, at which n, and on which assumptions."""
    name = plan.allocation.name or "allocation"
    spent = plan.allocation.spent_epsilon
    return (
        f"{name}: expected at n = {plan.n:,} and epsilon {spent:g} a record, before any release\n"
        f"assumed: {', '.join(plan.assumptions)}"
    )


def assumptions(plan: Plan) -> tuple[str, ...]:
    """What the numbers rest on, in words."""
    basis = basis_in_words(moment.basis for moment in plan.moments)
    guessed = any(moment.guess is not None for moment in plan.moments)
    link = "no link between the attributes beyond the guess" if guessed else "no link between the attributes"
    merged = {name for one in plan.allocation.moments if one.detail < 1 for name in one.attributes}
    lost = [one.name for one in plan.allocation.attributes if one.name in merged and is_merged(one.declared)]
    told = (
        f"errors and guesses {OF_MERGED} of {' and '.join(lost)}, while retentions count what merging leaves "
        "of their scores"
    )
    return (basis, link, "large samples", *([told] if lost else []))


def basis_in_words(bases: Iterable[str]) -> str:
    """Which marginals several moments rest on."""
    different = set(bases)
    return different.pop() if len(different) == 1 else "stated marginals where there are some, else uniform"


def _table(plan: Plan, columns: Sequence[Column]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("moment", overflow="fold")
    for heading, _ in columns:
        shown = retention_heading(plan.allocation.moments) if heading == RETENTION else heading
        table.add_column(shown, justify="right")
    for moment in plan.moments:
        table.add_row(Text(moment.label), *(cell(moment) for _, cell in columns))
    return table


_ERRORS: tuple[Column, ...] = (
    (RETENTION, lambda moment: percent(moment.retention)),
    ("effective n", lambda moment: _count(moment.effective_n)),
    ("error", lambda moment: _number(moment.relative_error)),
    ("from the data", lambda moment: _number(moment.relative_error_data)),
    ("error in scores", lambda moment: _number(moment.standard_error)),
)


def _asked(plan: Plan) -> list[Column]:
    """What is shown of guesses and wanted errors, where there are some."""
    columns: list[Column] = []
    if any(moment.guess is not None for moment in plan.moments):
        columns += [
            ("guess", lambda moment: _number(moment.guess)),
            ("power", lambda moment: "-" if moment.power is None else percent(moment.power)),
            (f"n for {100 * plan.wanted_power:g} % power", lambda moment: _count(moment.n_for_power)),
        ]
    if any(moment.wanted_error is not None for moment in plan.moments):
        columns += [
            ("wanted error", lambda moment: _number(moment.wanted_error)),
            ("n for it", lambda moment: _count(moment.n_for_error)),
        ]
    return columns


def _legend(plan: Plan) -> str:
    legend = (
        "error: the standard error in standard deviations of the scores, multiplied over the attributes "
        "(of a pair: of a correlation), from the population; from the data: from the original table's value"
    )
    together = [moment.label for moment in plan.allocation.moments if moment.touches_twice]
    if together:
        legend += f"; the retention of {', '.join(together)} is that of functions of a cluster"
    if any(moment.power is not None for moment in plan.moments):
        legend += f"; power: of the two-sided test at {100 * (1 - plan.level):.4g} % that there is none"
    if any(moment.wanted_error is not None for moment in plan.moments):
        legend += f"; the wanted error is from the {plan.target}"
    return legend


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _count(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
