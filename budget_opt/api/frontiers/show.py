"""A frontier for people: a short table, and its marks in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.api.checking.needs import demanding, possible_end
from budget_opt.api.wording import listed
from budget_opt.errors import InfeasibleError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.tables.printing import percent
from budget_opt.tables.wide import Column, WideTable

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation
    from budget_opt.api.frontiers.frontier import Frontier, FrontierPoint, SupportChange

MOST_NAMES = 6
"""Attributes of one change that are named."""
_RANGE = "least to most"
_UNSPENT = 1e-6
"""Share of a total that a solver may leave unspent."""


def renderable(frontier: Frontier) -> RenderableType:
    """The table and the words under it."""
    return Group(*_title(frontier), _table(frontier), *(Text(line) for line in sentences(frontier)))


def _title(frontier: Frontier) -> list[Text]:
    """What is varied, and what the objective is."""
    objective = frontier.problem.objective
    better = "smaller" if objective in MINIMIZED else "larger"
    varied = frontier.varied.replace("_", " ") if frontier.kind == "total_epsilon" else frontier.varied
    lines = [f"varied: {varied}; objective: {objective} ({better} is better)"]
    if frontier.kind == "weight":
        lines.append(
            "note: each point has another weight in its objective, so that their values cannot be compared; "
            "retentions can"
        )
    return [Text(line) for line in lines]


def sentences(frontier: Frontier) -> list[str]:
    """The marks in words: what is possible, where attributes enter and leave the split, what is missing."""
    lines = [*_feasibility(frontier), *(_change(frontier, change) for change in frontier.support_changes)]
    lines += [
        f"not solved at {frontier.kind} {point.at:g}: {point.why}"
        for point in frontier.points
        if point.status == "not solved"
    ]
    if clusters := [block.name for block in frontier.problem.blocks if block.is_cluster]:
        lines.append(
            f"all of this is with these clusters: {listed(clusters)}. Where another number is chosen, other "
            "clusters may be better: give design the problem with that number"
        )
    if not frontier.complete:
        lines.append("ended early: these are the points so far, each with the gap that is proved of it")
    return lines


def _feasibility(frontier: Frontier) -> list[str]:
    impossible = [point for point in frontier.points if isinstance(point.why, InfeasibleError)]
    if frontier.feasible_from is None:
        return [f"no split is possible: {impossible[0].why}"] if impossible else []
    end = f"{possible_end(frontier.feasible_from, largest=frontier.kind == 'floor'):g}"
    if frontier.kind == "floor":
        return [f"with all other constraints this floor can be at most {end}"]
    return [f"{demanding(frontier.problem)} can be met from a total of {end}"]


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


def _table(frontier: Frontier) -> WideTable:
    points = frontier.points
    number = "{:,.0f}" if frontier.kind == "n" else "{:.12g}"
    labels = Column(frontier.kind.replace("_", "\n"), [number.format(point.at) for point in points])
    columns = [
        Column("", [point.status for point in points]),
        Column("objective", _of_splits(points, lambda split: _number(split.objective.value))),
        Column("gap", _of_splits(points, lambda split: _gap(split.objective.relative_gap))),
        *_spending(points),
        *_retentions(frontier),
    ]
    if frontier.kind == "n" or frontier.n is not None:
        errors = [_known_errors(frontier, point) for point in points]
        columns.append(Column(f"relative error\n{_RANGE}", [_range(_numbers(one)) for one in errors]))
    return WideTable(labels, columns, labels="right")


def _of_splits(points: Sequence[FrontierPoint], said: Callable[[Allocation], str]) -> list[str]:
    return ["-" if point.allocation is None else said(point.allocation) for point in points]


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"


def _gap(gap: float | None) -> str:
    return "-" if gap is None else f"{gap:.1e}"


def _spending(points: Sequence[FrontierPoint]) -> list[Column]:
    """What is spent and how many attributes are released, where that is not everything at every point."""
    splits = [point.allocation for point in points if point.allocation is not None]
    columns = []
    if any(_leaves_some(split) for split in splits):
        columns.append(Column("spent", _of_splits(points, lambda split: f"{split.spent_epsilon:.4g}")))
    if any(attribute.epsilon == 0 for split in splits for attribute in split.attributes):
        columns.append(Column("released", _of_splits(points, _released)))
    return columns


def _leaves_some(split: Allocation) -> bool:
    """True where less than the total is spent, for more reasons than the solver's rounding."""
    total = split.total_epsilon
    return total is not None and split.spent_epsilon < (1 - _UNSPENT) * total


def _released(split: Allocation) -> str:
    released = sum(attribute.epsilon > 0 for attribute in split.attributes)
    return f"{released} of {len(split.attributes)}"


def _retentions(frontier: Frontier) -> list[Column]:
    """That of the moment whose weight or floor is varied, and the range of all."""

    def of_all(split: Allocation) -> str:
        return _range([percent(share) for share in sorted(moment.retention for moment in split.moments)])

    columns = [Column(f"retention\n{_RANGE}", _of_splits(frontier.points, of_all))]
    k = frontier.moment
    if k is not None:
        its = _of_splits(frontier.points, lambda split: percent(split.moments[k].retention))
        columns.insert(0, Column("its\nretention", its))
    return columns


def _known_errors(frontier: Frontier, point: FrontierPoint) -> list[float]:
    return sorted(error for error in frontier.errors_at(point) if error is not None)


def _numbers(errors: Sequence[float]) -> list[str]:
    return [f"{error:.3g}" for error in errors]


def _range(increasing: Sequence[str]) -> str:
    return f"{increasing[0]} to {increasing[-1]}" if increasing else "-"
