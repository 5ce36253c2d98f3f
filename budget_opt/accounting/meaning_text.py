"""What an allocation means, as tables and sentences that people read, and as a document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.accounting.words import NAMED, joint_sentence, odds_text, prior_sentence
from budget_opt.tables.printing import WIDTH, percent_at_most, plain_text
from budget_opt.tables.wide import Column, WideTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from budget_opt.accounting.columns import ColumnAlone
    from budget_opt.accounting.joint import LearnedOfAttribute, LearnedUnderJoint
    from budget_opt.accounting.meaning import Meaning


def as_text(meaning: Meaning, width: int = WIDTH) -> str:
    """Tables and sentences as plain text."""
    return plain_text(renderable(meaning), width)


def renderable(meaning: Meaning) -> RenderableType:
    """The same for a rich console."""
    parts: list[RenderableType] = [
        Text("What it means: seeing one column alone"),
        columns_table(meaning.columns),
        Text(prior_sentence()),
    ]
    for joint in meaning.joints:
        parts += [
            Text(""),
            Text(joint_sentence(joint)),
            joint_table(joint),
            *map(Text, impossible_lines(joint)),
        ]
    lines = (*meaning.sentences, meaning.approximate)
    return Group(*parts, Text(""), *(Text(f"- {line}") for line in lines))


HEADINGS = ("odds x\nat most", "reported\nis true", "best guess\nwithout", "with", "prior")
"""Of the columns of `column_cells`."""


def column_cells(column: ColumnAlone) -> tuple[str, ...]:
    """The figures of one column in words, in the order of `HEADINGS`."""
    if not column.released:
        return "1", "not released", percent_at_most(column.guess_without), "-", column.prior
    return (
        odds_text(column.loss),
        believed_text(column.believed),
        percent_at_most(column.guess_without),
        percent_at_most(column.guess_with),
        column.prior,
    )


def believed_text(believed: tuple[float, float]) -> str:
    """One probability, or from the least to the largest."""
    least, most = (percent_at_most(one) for one in believed)
    return most if least == most else f"{least} to {most}"


def columns_table(columns: Sequence[ColumnAlone]) -> WideTable:
    """The figures of every column seen alone, a column a row."""
    cells = [column_cells(column) for column in columns]
    names = Column("column", [column.name for column in columns])
    return WideTable(names, [Column(title, [row[i] for row in cells]) for i, title in enumerate(HEADINGS)])


def joint_table(joint: LearnedUnderJoint) -> WideTable:
    """What all reports of a joint give away of each of its attributes."""

    def cells(of: Callable[[LearnedOfAttribute], str]) -> list[str]:
        return [of(one) for one in joint.learned]

    columns = [
        Column("odds x\nown column", cells(lambda one: odds_text(one.own_loss))),
        Column("these\ntogether", cells(lambda one: odds_text(one.log_odds))),
        Column("nats", cells(lambda one: f"{one.log_odds:.4g}")),
        Column("best guess\nwithout", cells(lambda one: percent_at_most(one.guess_without))),
        Column("own column", cells(lambda one: percent_at_most(one.guess_own))),
        Column("together", cells(lambda one: percent_at_most(one.guess_with))),
    ]
    if joint.others:
        columns.append(
            Column("whole record\nat most", cells(lambda one: odds_text(one.log_odds_with_others)))
        )
    return WideTable(Column("column", [one.name for one in joint.learned]), columns)


def impossible_lines(joint: LearnedUnderJoint) -> list[str]:
    """Which values have probability 0 in a joint, and are left out."""
    lines = []
    for one in joint.learned:
        if one.impossible:
            told = ", ".join("missing" if label is None else str(label) for label in one.impossible[:NAMED])
            more = f" and {len(one.impossible) - NAMED:,} more" if len(one.impossible) > NAMED else ""
            lines.append(f"{one.name}: left out, as the joint says that nobody has them: {told}{more}.")
    return lines


def as_document(value: Any) -> Any:
    """Plain JSON: lists for tuples, null for what is infinite."""
    if isinstance(value, dict):
        return {name: as_document(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_document(part) for part in value]
    return None if isinstance(value, float) and math.isinf(value) else value
