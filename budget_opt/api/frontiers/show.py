"""A frontier for people: a short table, and its marks in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from budget_opt.api.needs import demanding
from budget_opt.errors import InfeasibleError
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from budget_opt.api.frontiers.frontier import Frontier, FrontierPoint, SupportChange

MOST_NAMES = 6
"""Attributes of one change that are named."""


def renderable(frontier: Frontier) -> RenderableType:
    """The table and the words under it."""
    return Group(_table(frontier), *(Text(line) for line in sentences(frontier)))


def sentences(frontier: Frontier) -> list[str]:
    """The marks in words: what is possible, where attributes enter and leave the split, what is missing."""
    lines = [*_feasibility(frontier), *(_change(frontier, change) for change in frontier.support_changes)]
    lines += [
        f"not solved at {frontier.kind} {point.at:g}: {point.why}"
        for point in frontier.points
        if point.status == "not solved"
    ]
    if not frontier.complete:
        lines.append("ended early: these are the points so far, each with the gap that is proved of it")
    return lines


def _feasibility(frontier: Frontier) -> list[str]:
    impossible = [point for point in frontier.points if isinstance(point.why, InfeasibleError)]
    if frontier.feasible_from is None:
        return [f"no split is possible: {impossible[0].why}"] if impossible else []
    from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up

    if frontier.kind == "floor":
        return [
            f"with all other constraints this floor can be at most {rounded_down(frontier.feasible_from):g}"
        ]
    end = rounded_up(frontier.feasible_from)
    return [f"{demanding(frontier.problem)} can be met from a total of {end:g}"]


def _change(frontier: Frontier, change: SupportChange) -> str:
    words = []
    for names, one, many in ((change.gained, "enters", "enter"), (change.lost, "leaves", "leave")):
        if names:
            words.append(f"{_listed(names)} {one if len(names) == 1 else many} the split")
    between = f"{change.after:g} to {change.before:g}"
    return f"{frontier.kind.replace('_', ' ')} {between}: {', '.join(words)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _table(frontier: Frontier) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(Text(frontier.varied.replace("_", " ")), justify="right", overflow="fold")
    errors = frontier.kind == "n" or frontier.n is not None
    headings = [frontier.problem.objective, "gap", "spent", "attributes", "retention, least to most"]
    for heading in [*headings, *(["relative error, least to most"] if errors else []), ""]:
        table.add_column(heading, justify="right")
    for point in frontier.points:
        cells = _cells(point)
        if errors:
            cells.append(_range([f"{error:.3g}" for error in _known_errors(frontier, point)]))
        table.add_row(f"{point.at:,.0f}" if frontier.kind == "n" else f"{point.at:g}", *cells, point.status)
    return table


def _cells(point: FrontierPoint) -> list[str]:
    split = point.allocation
    if split is None:
        return ["-"] * 5
    outcome, released = split.objective, sum(attribute.epsilon > 0 for attribute in split.attributes)
    kept = sorted(moment.retention for moment in split.moments)
    return [
        "undefined" if outcome.value is None else f"{outcome.value:.6g}",
        "-" if outcome.relative_gap is None else f"{outcome.relative_gap:.1e}",
        f"{split.spent_epsilon:.4g}",
        f"{released} of {len(split.attributes)}",
        _range([percent(share) for share in kept]),
    ]


def _known_errors(frontier: Frontier, point: FrontierPoint) -> list[float]:
    return sorted(error for error in frontier.errors_at(point) if error is not None)


def _range(increasing: Sequence[str]) -> str:
    return f"{increasing[0]} to {increasing[-1]}" if increasing else "-"
