"""A comparison as people read it: tables like Ruiz's Table 1, and a sentence a split."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.allocation import AllocatedMoment
from budget_opt.allocation.merging import retention_heading
from budget_opt.api.comparing.backgrounds import background_table
from budget_opt.api.comparing.comparison import EVEN, SAME, Change, ComparedMoment, ComparedSplit, Comparison
from budget_opt.api.wording import counted, sentence
from budget_opt.tables.printing import percent
from budget_opt.tables.wide import Column, WideTable

_SHOWN = 2
"""Broken constraints that a sentence names."""
_SAME = {"min_epsilon": ("spends as much epsilon as", ""), "min_variance": ("has the variance of", "")}
"""What is said before and after the reference where the objective is one that it is not good to have."""
_TIMES = 3.0
"""A ratio from which it is said as a multiple and not in percent."""


def renderable(comparison: Comparison) -> RenderableType:
    """Cautions first, then epsilons, retentions, the objective, and the sentences."""
    parts: list[RenderableType] = [Text(f"CAUTION: {caution}") for caution in comparison.cautions]
    parts.append(_epsilons(comparison))
    if comparison.moments:
        parts.append(_retentions(comparison))
    if comparison.backgrounds:
        parts.append(background_table(comparison.backgrounds, comparison.names))
    parts += [Text(sentence) for sentence in sentences(comparison)]
    return Group(*parts)


def _epsilons(comparison: Comparison) -> WideTable:
    """Epsilon of every attribute or cluster, what is spent, and the objective under every split.

    Where splits differ in their clusters there is a row an attribute: what a change of it costs.
    """
    clusterings = {split.allocation.question.block_names for split in comparison.splits}
    alike = len(clusterings) == 1
    names = clusterings.pop() if alike else comparison.problem.names
    better = "smaller is better" if comparison.minimized else "larger is better"
    labels = [
        *names,
        "spent",
        f"{comparison.problem.objective} ({better})",
        f"ratio to {comparison.reference}",
    ]
    columns = [
        Column(
            split.name,
            [
                *(f"{epsilon:.4g}" for epsilon in _by_name(split, alike=alike)),
                f"{split.spent_epsilon:.6g}",
                _number(split.value),
                "-" if split.ratio is None else f"{split.ratio:.4g}",
            ],
        )
        for split in comparison.splits
    ]
    return WideTable(Column("epsilon of", labels), columns, breaks=(len(names),))


def _by_name(split: ComparedSplit, *, alike: bool) -> list[float]:
    """The epsilons of its blocks, or of all attributes."""
    return [one.epsilon for one in (split.allocation.blocks if alike else split.allocation.attributes)]


def _retentions(comparison: Comparison) -> WideTable:
    """Retention of every moment under every split, with what misses a floor or passes a ceiling."""
    columns = [
        Column(split.name, [_retention(moment) for moment in split.allocation.moments])
        for split in comparison.splits
    ]
    if any(moment.floor or moment.ceiling for moment in comparison.moments):
        columns.append(Column("asked", [_asked(moment) for moment in comparison.moments]))
    moments = [moment for split in comparison.splits for moment in split.allocation.moments]
    heading = f"{retention_heading(moments)} of"
    return WideTable(Column(heading, [moment.label for moment in comparison.moments]), columns)


def _retention(moment: AllocatedMoment) -> str:
    mark = "" if moment.keeps_floor else " missed"
    return f"{percent(moment.retention)}{mark if moment.keeps_ceiling else ' exceeded'}"


def _asked(moment: ComparedMoment) -> str:
    floor = [] if moment.floor is None else [f">= {percent(moment.floor)}"]
    ceiling = [] if moment.ceiling is None else [f"<= {percent(moment.ceiling)}"]
    return ", ".join(floor + ceiling) or "-"


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """One about every split but the reference; about that only what it breaks."""
    reference, found = comparison[comparison.reference], []
    for split in comparison.splits:
        if split.name == comparison.reference:
            if split.broken:
                found.append(f"{_subject(split)} {_breaks(split)}.")
            continue
        said = f"{_subject(split)} {_verdict(comparison, split)}; {_losers(split)}"
        if split.broken:
            said += f"; it {_breaks(split)}"
        elif reference.broken:
            said += f"; it keeps every constraint, {_as_object(reference.name)} does not"
        found.append(f"{said}.")
    return tuple(found)


def _subject(split: ComparedSplit) -> str:
    return sentence(_as_object(EVEN)) if split.name == EVEN else split.name


def _as_object(name: str) -> str:
    return f"the {EVEN}" if name == EVEN else name


def _breaks(split: ComparedSplit) -> str:
    count = len(split.broken)
    named = ", ".join(broken.constraint for broken in split.broken[:_SHOWN])
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    return f"breaks {counted(count, 'constraint')} ({named}{more})"


def _verdict(comparison: Comparison, split: ComparedSplit) -> str:
    other = _as_object(comparison.reference)
    kind = comparison.problem.objective
    if split.better is None or split.ratio is None:
        base = comparison[comparison.reference].value
        return f"has {kind} {_number(split.value)} where {other} has {_number(base)}"
    if abs(split.better) <= SAME:
        same = _SAME.get(kind, ("is as good as", f" ({kind})"))
        return f"{same[0]} {other}{same[1]}"
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
