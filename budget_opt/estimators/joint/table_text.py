"""Estimated tables as text that people read: small ones whole, of large ones the largest cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.estimators.estimate import normal_quantile, sentence
from budget_opt.estimators.joint.methods import method_named
from budget_opt.estimators.joint.table_rows import cell_effective, cell_oddities
from budget_opt.tables.printing import NOTHING, level_told, percent
from budget_opt.tables.wide import Column, WideTable

if TYPE_CHECKING:
    from budget_opt.estimators.joint.marginals import MarginalEstimates
    from budget_opt.estimators.joint.table import TableEstimate
    from budget_opt.model.domain import Label

LISTED = 30
"""Cells of a table, or categories of a marginal, that are listed."""
CROSSED = (20, 12)
"""Rows and columns up to which a table of two attributes is printed as a cross table."""


def renderable(table: TableEstimate, level: float) -> RenderableType:
    """The table for a rich console; a list of cells has their intervals at `level`, where there are some."""
    normal_quantile(level)
    crossed = len(table.attributes) == 2 and all(np.less_equal(table.shares.shape, CROSSED))
    body = _cross_table(table) if crossed else _list(table, level)
    return Group(Text(headline(table)), body, *map(Text, (*_cut(table, crossed), *closing(table))))


def marginals_renderable(marginals: MarginalEstimates, level: float) -> RenderableType:
    """All marginals in one table, with what holds for all of them below."""
    labels: list[str] = []
    rows: list[list[str]] = []
    starts: list[int] = []
    notes: list[str] = []
    for table, nearest in zip(marginals.tables, marginals.nearest, strict=True):
        starts.append(len(rows))
        names = [f"{table.title} = {_label(label)}" for label in table.labels[0]]
        texts = zip(_cells(table, level), nearest, strict=True)
        rows += [[cells[0], share_told(float(share)), *cells[1:]] for cells, share in islice(texts, LISTED)]
        labels += names[:LISTED]
        if len(names) > LISTED:
            notes.append(f"{table.title}: {LISTED} of {len(names)} categories are shown; rows() has all.")
        notes += [f"{table.title}: {sentence(note)}" for note in table.notes]
    first = marginals.tables[0]
    count = len(marginals.tables)
    what = "1 attribute" if count == 1 else f"{count} attributes"
    top = f"Marginals of {what}, estimated from n = {first.n:,} released rows; target {first.target}"
    named = _headings(level)
    headings = (named[0], "nearest\ndistribution", *named[1:])
    body = WideTable(Column("category", labels), _columns(headings, rows), breaks=starts[1:])
    bias = f"share: {method_named('unbiased').bias} nearest distribution: {method_named('simplex').bias}"
    return Group(Text(top), body, *map(Text, (bias, *notes, *map(sentence, marginals.notes))))


def headline(table: TableEstimate) -> str:
    """What was estimated, from what, and what it had cost."""
    effective = ""
    if table.errors is not None and table.effective_n is not None:
        effective = f" (worth {table.effective_n:,.0f} unrandomized ones)"
    return (
        f"Shares of {table.title}: {table.shares.size:,} cells, estimated from n = {table.n:,} released rows"
        f"{effective}; target {table.target}; epsilon {table.epsilon:g} spent"
    )


def closing(table: TableEstimate) -> list[str]:
    """By which method, with which bias and expected error, and the notes."""
    own = table.own_error
    doubt = "" if own.standard_error is None else f" +- {own.standard_error:.1g}"
    if own.up_to is not None and own.up_to > own.expected_avd:
        doubt += f", up to {own.up_to:.2g} cannot be excluded"
    rough = () if own.rough is None else (sentence(own.rough),)
    return [
        f"Method {table.method!r}: {table.about}. {table.bias}",
        f"Expected AVD (1/2 sum |truth - share|): {own.expected_avd:.3g}{doubt} (estimated: {own.how}).",
        *rough,
        *map(sentence, table.notes),
    ]


def _headings(level: float) -> tuple[str, ...]:
    """Those of the texts of `_cells`."""
    interval = f"{level_told(level)} interval"
    return "share", "standard\nerror", interval, "released\nshare", "effective\nn", ""


def _list(table: TableEstimate, level: float) -> WideTable:
    """The cells in the order of the categories, or the largest ones, the largest first."""
    order = range(table.shares.size)
    if table.shares.size > LISTED:
        order = np.argsort(-table.shares, axis=None, kind="stable")[:LISTED].tolist()
    cells = list(_cells(table, level, order))
    names = [_cell_name(table, place) for place in order]
    return WideTable(Column(table.title, names), _columns(_headings(level), cells))


def _columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    """The columns in which there is something."""
    columns = [Column(heading, [row[place] for row in rows]) for place, heading in enumerate(headings)]
    return [column for column in columns if any(cell not in ("", NOTHING) for cell in column.cells)]


def _cut(table: TableEstimate, crossed: bool) -> list[str]:
    """A sentence where not all cells are shown."""
    if crossed or table.shares.size <= LISTED:
        return []
    shown = np.sort(table.shares, axis=None)[-LISTED:].sum()
    what = f"The {LISTED} largest of {table.shares.size:,} cells, {percent(float(shown))} together"
    return [f"{what}; rows() and write() have all."]


def _cells(table: TableEstimate, level: float, order: Sequence[int] | None = None) -> Iterator[list[str]]:
    """The texts of the cells under `_headings`."""
    shares, raw = table.shares.reshape(-1), table.raw.reshape(-1)
    errors = None if table.standard_errors is None else table.standard_errors.reshape(-1)
    ends = None if table.errors is None else [end.reshape(-1) for end in table.errors.interval(level)]
    effective, few = cell_effective(table), cell_oddities(table)["few events"]
    for place in range(shares.size) if order is None else order:
        rows = float(effective[place])
        yield [
            share_told(float(shares[place])),
            NOTHING if errors is None else share_told(float(errors[place])),
            NOTHING if ends is None else " to ".join(share_told(float(end[place])) for end in ends),
            share_told(float(raw[place])),
            NOTHING if math.isnan(rows) else f"{rows:,.0f}",
            # that a share is negative shows in its sign
            "few events" if few[place] else "",
        ]


def _cross_table(table: TableEstimate) -> WideTable:
    """The first attribute down, the second across; a share with its standard error where there is one."""
    columns = []
    for place, label in enumerate(table.labels[1]):
        cells = [share_told(float(share)) for share in table.shares[:, place]]
        if table.standard_errors is not None:
            errors = table.standard_errors[:, place]
            cells = [
                f"{cell} +- {share_told(float(error))}" for cell, error in zip(cells, errors, strict=True)
            ]
        columns.append(Column(_label(label), cells))
    first = Column(" \\ ".join(table.attributes), [_label(label) for label in table.labels[0]])
    return WideTable(first, columns)


def _cell_name(table: TableEstimate, place: int) -> str:
    codes = np.unravel_index(place, table.shares.shape)
    return ", ".join(_label(labels[code]) for labels, code in zip(table.labels, codes, strict=True))


def _label(label: Label | None) -> str:
    return "missing" if label is None else str(label)


def share_told(value: float) -> str:
    """A share in percent; negative ones too."""
    if not math.isfinite(value):
        return NOTHING
    return f"-{percent(-value)}" if value < 0 else percent(value)
