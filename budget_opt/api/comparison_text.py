"""A comparison as people read it: tables like Ruiz's Table 1, and a sentence a split."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from budget_opt.api.comparison import EVEN, SAME, Change, ComparedSplit, Comparison
from budget_opt.api.wording import counted
from budget_opt.tables.printing import percent

_SHOWN = 2
"""Broken constraints that a sentence names."""
_TIMES = 3.0
"""A ratio from which it is said as a multiple and not in percent."""


def renderable(comparison: Comparison) -> RenderableType:
    """Cautions first, then epsilons, retentions, the objective, and the sentences."""
    parts: list[RenderableType] = [Text(f"CAUTION: {caution}") for caution in comparison.cautions]
    parts.append(_epsilons(comparison))
    if comparison.moments:
        parts.append(_retentions(comparison))
    parts += [Text(sentence) for sentence in sentences(comparison)]
    return Group(*parts)


def _table(comparison: Comparison, heading: str) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(heading, overflow="fold")
    for name in comparison.names:
        table.add_column(Text(name), justify="right", overflow="fold")
    return table


def _epsilons(comparison: Comparison) -> Table:
    """Epsilon of every attribute, what is spent, and the objective under every split."""
    table = _table(comparison, "epsilon of")
    for name in comparison.problem.names:
        table.add_row(Text(name), *(f"{one[name].epsilon:.4g}" for one in comparison.allocations))
    table.add_section()
    table.add_row("spent", *(f"{split.spent_epsilon:.6g}" for split in comparison.splits))
    better = "smaller is better" if comparison.minimized else "larger is better"
    values = ["undefined" if split.value is None else f"{split.value:.4g}" for split in comparison.splits]
    table.add_row(f"{comparison.problem.objective} ({better})", *values)
    ratios = ["-" if ratio is None else f"{ratio:.4g}" for ratio in comparison.ratios]
    table.add_row(Text(f"ratio to {comparison.reference}"), *ratios)
    return table


def _retentions(comparison: Comparison) -> Table:
    """Retention of every moment under every split, with what misses a floor or passes a ceiling."""
    table = _table(comparison, "retention of")
    bounded = any(moment.floor or moment.ceiling for moment in comparison.moments)
    if bounded:
        table.add_column("asked", justify="right")
    columns = [allocation.moments for allocation in comparison.allocations]
    for k, moment in enumerate(comparison.moments):
        cells = []
        for column in columns:
            mark = "" if column[k].keeps_floor else " missed"
            mark = mark if column[k].keeps_ceiling else " exceeded"
            cells.append(f"{percent(column[k].retention)}{mark}")
        floor = [] if moment.floor is None else [f">= {percent(moment.floor)}"]
        ceiling = [] if moment.ceiling is None else [f"<= {percent(moment.ceiling)}"]
        table.add_row(Text(moment.label), *cells, *([", ".join(floor + ceiling) or "-"] if bounded else []))
    return table


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """One about every split but the reference; about that only what it breaks."""
    found = []
    for split in comparison.splits:
        if split.name == comparison.reference:
            if split.broken:
                found.append(f"{_subject(split)} {_breaks(split)}.")
            continue
        breaks = f"; it {_breaks(split)}" if split.broken else ""
        found.append(f"{_subject(split)} {_verdict(comparison, split)}; {_losers(split)}{breaks}.")
    return tuple(found)


def _subject(split: ComparedSplit) -> str:
    return f"The {EVEN}" if split.name == EVEN else split.name


def _breaks(split: ComparedSplit) -> str:
    count = len(split.broken)
    named = ", ".join(broken.constraint for broken in split.broken[:_SHOWN])
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    return f"breaks {counted(count, 'constraint')} ({named}{more})"


def _verdict(comparison: Comparison, split: ComparedSplit) -> str:
    other = f"the {EVEN}" if comparison.reference == EVEN else comparison.reference
    kind = comparison.problem.objective
    if split.better is None or split.ratio is None:
        base = comparison[comparison.reference].value
        return f"has {kind} {_number(split.value)} where {other} has {_number(base)}"
    if abs(split.better) <= SAME:
        return f"is as good as {other} ({kind})"
    share = percent(abs(split.better))
    if kind == "min_epsilon":
        return f"spends {share} {'less' if split.better > 0 else 'more'} epsilon than {other}"
    if kind == "min_variance":
        return f"has {share} {'less' if split.better > 0 else 'more'} variance than {other} ({kind})"
    if split.ratio >= _TIMES:
        return f"reaches {split.ratio:.3g} times what {other} does ({kind})"
    verb = "beats" if split.better > 0 else "falls behind"
    return f"{verb} {other} by {share} ({kind})"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"


def _losers(split: ComparedSplit) -> str:
    if split.losses:
        return _loses(split.losses)
    if split.gains:
        return f"no moment loses, and {split.gains[0].label} gains most: {_change(split.gains[0])}"
    return "no moment gains or loses"


def _loses(losses: tuple[Change, ...]) -> str:
    most = "loses most" if len(losses) > 1 else "alone loses"
    return f"{losses[0].label} {most}: {_change(losses[0])}"


def _change(change: Change) -> str:
    return f"{percent(change.after)} instead of {percent(change.before)}"
