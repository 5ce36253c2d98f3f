"""Rows of estimates as the columns of a printed table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from budget_opt.tables.printing import NOTHING, level_told, percent

if TYPE_CHECKING:
    from budget_opt.tables.wide import Column

_MOST_DECIMALS = 8
_LARGE = 1e9


def estimates_columns(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    level: float,
    *,
    share: bool = False,
    retention: str | None = None,
) -> list[Column]:
    """The numbers of `rows` of estimates, the corrected ones under `title`; a dash where there is none.

    `share` adds the column of shares, `retention` that of retentions with this heading, both in percent.
    """
    from budget_opt.tables.wide import Column

    told = [_by_error(row, "value", "low", "high") for row in rows]
    columns = [
        Column(title, [value or NOTHING for value, _, _ in told]),
        Column("standard\nerror", [number_text(row["standard_error"], 3) for row in rows]),
        Column(f"{level_told(level)} interval", [_interval(*one) for one in told]),
        Column("raw", [number_text(row["raw"]) for row in rows]),
    ]
    if share:
        columns.append(Column("share", [_percent(row["share"]) for row in rows]))
    columns.append(Column("effective\nn", [rows_text(row["effective_n"]) for row in rows]))
    if any(row.get("useful") is not None for row in rows):
        columns.append(Column("useful", [_yes(row["useful"]) for row in rows]))
    if retention is not None:
        columns.append(Column(retention, [_percent(row["retention"]) for row in rows]))
    return columns


def _by_error(row: Mapping[str, Any], *names: str) -> list[str | None]:
    """These numbers of a row, to the second digit of its standard error; None where there is none."""
    error = row["standard_error"]
    decimals = 1 - math.floor(math.log10(error)) if error else _MOST_DECIMALS + 1
    numbers = [row[name] for name in names]
    large = any(number is not None and abs(number) >= _LARGE for number in numbers)
    if decimals > _MOST_DECIMALS or large:
        return [None if number is None else f"{number:.6g}" for number in numbers]
    return [None if number is None else f"{number:z.{max(decimals, 0)}f}" for number in numbers]


def number_text(number: float | None, digits: int = 4) -> str:
    """A number to some significant digits; a dash for none."""
    return NOTHING if number is None else f"{number:.{digits}g}"


def _interval(value: str | None, low: str | None, high: str | None) -> str:
    """An interval; an end that is None is infinite, if there is an estimate at all."""
    return NOTHING if value is None else f"{low or '-inf'} to {high or 'inf'}"


def rows_text(rows: float | None) -> str:
    """A number of rows: whole, but for few of them."""
    if rows is None:
        return NOTHING
    return f"{rows:,.0f}" if rows >= 10 else f"{rows:.2g}"


def _percent(share: float | None) -> str:
    return NOTHING if share is None else percent(share)


def _yes(useful: bool | None) -> str:
    return NOTHING if useful is None else "yes" if useful else "no"
