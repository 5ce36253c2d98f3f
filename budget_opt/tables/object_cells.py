"""Columns of pandas whose cells are Python objects: cells of one kind only, told by their exact type (R10).

True is no integer and "1" is no number here, whatever Python says of their equality. Integers and
floating-point numbers may stand together, as they do in pandas' own float64; everything else that
differs is refused. None, NaN, NaT and pandas.NA are missing.
"""

from __future__ import annotations

import datetime
import decimal
from collections import Counter
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.tables.findings import SHOWN_ROWS

_KINDS: dict[str, tuple[type, ...]] = {
    "booleans": (bool, np.bool_),
    "integers": (int, np.integer),
    "floating-point numbers": (float, np.floating),
    "text": (str,),
    "bytes": (bytes,),
    "decimals": (decimal.Decimal,),
    "dates or times": (datetime.date, datetime.time, np.datetime64),
}
"""In the order in which a type is looked for: a boolean is an integer to Python."""

_OTHER = "other objects"
_NUMBERS = {"integers", "floating-point numbers"}


def column_as_arrow(column: Any) -> Any:
    """A column of pandas as Arrow; `DataError` for object cells of several kinds, with counts and rows."""
    categories = getattr(column.dtype, "categories", None)
    if column.dtype == object:
        return _one_kind(column)
    if categories is not None and len(_kinds(categories)) > 1:
        # cell by cell, because a category that no cell has says nothing
        return _one_kind(column.astype(object))
    return nw.from_native(column, series_only=True).to_arrow()


def _one_kind(column: Any) -> pa.Array:
    values, missing = column.to_numpy(dtype=object), column.isna().to_numpy()
    kinds = _kinds(values[~missing])
    found = set(kinds.values())
    if found == _NUMBERS:
        numbers = np.full(values.size, np.nan)
        numbers[~missing] = values[~missing].astype(np.float64)
        return pa.array(numbers)
    if len(found) > 1:
        raise _mixed(
            column.name,
            [None if gap else kinds[type(cell)] for cell, gap in zip(values, missing, strict=True)],
        )
    return pa.array(values, mask=missing, from_pandas=True)


def _kinds(cells: Iterable[Any]) -> dict[type, str]:
    """The kind of every type among the cells."""
    return {
        given: next((kind for kind, types in _KINDS.items() if issubclass(given, types)), _OTHER)
        for given in set(map(type, cells))
    }


def _mixed(name: str, kinds: list[str | None]) -> DataError:
    counts = Counter(kind for kind in kinds if kind is not None).most_common()
    commonest, most = counts[0]
    others = ", ".join(f"{kind} in {count}" for kind, count in counts[1:])
    rows = [row for row, kind in enumerate(kinds) if kind not in {None, commonest}]
    shown = ", ".join(map(str, rows[:SHOWN_ROWS])) + (", ..." if len(rows) > SHOWN_ROWS else "")
    return DataError(
        f"column {name!r}: mixes types: {commonest} in {most} cells, {others} "
        f"({'row' if len(rows) == 1 else 'rows'} {shown}). Cast the whole column to one type.",
        column=name,
        count=len(rows),
        rows=tuple(rows[:SHOWN_ROWS]),
    )
