"""Tables of one column `x` in every kind of table, their type and their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from budget_opt.model.domain import Domain
from budget_opt.tables.encoding import code_type
from budget_opt.tables.frames import FrameSource
from budget_opt.tables.label_types import Labels

LABELS: dict[str, tuple[Any, ...]] = {
    "text": ("york", "leeds", "hull"),
    "integer": (4, 1, 2),
    "boolean": (True, False),
}


def domain_of(kind: str, *, missing: bool, other: int | None = None) -> Domain:
    labels = (*LABELS[kind], None) if missing else LABELS[kind]
    return Domain(kind, labels, None, other)


def released(frame: Any, domain: Domain, codes: Sequence[int]) -> Any:
    """The table with one column `x`, whose reports are `codes`."""
    reports = np.array(codes, dtype=code_type(domain.cardinality))
    order = np.zeros(len(codes), dtype=np.int64)
    return FrameSource(frame).rebuilt(("x",), {"x": Labels(reports, domain)}, order)


def type_of(frame: Any) -> str:
    """The type of column `x`, with the categories of one that has them."""
    if isinstance(frame, pd.DataFrame):
        dtype = frame["x"].dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return f"category {dtype.categories.tolist()} {dtype.ordered}"
        return repr(dtype) if isinstance(dtype, pd.StringDtype) else str(dtype)
    if isinstance(frame, pl.DataFrame):
        return str(frame.schema["x"])
    return str(frame.schema.field("x").type)


def cells_of(frame: Any) -> list[Any]:
    """The cells of column `x`, None for missing, in the Python types of their labels."""
    if isinstance(frame, pd.DataFrame):
        return [None if pd.isna(cell) else cell for cell in frame["x"].tolist()]
    return frame["x"].to_list() if isinstance(frame, pl.DataFrame) else frame["x"].to_pylist()


def arrow(kind: pa.DataType) -> Callable[[list[Any]], pa.Table]:
    return lambda cells: pa.table({"x": pa.array(cells).cast(kind)})


def coded(index: pa.DataType, values: pa.DataType, *, ordered: bool = False) -> Callable[[list[Any]], Any]:
    def make(cells: list[Any]) -> pa.Table:
        # entries that no cell has, and another order than the declared one
        entries = [*sorted(set(cells)), *sorted(set(cells))[:1]]
        places = pa.array([entries.index(cell) for cell in cells], index)
        return pa.table(
            {"x": pa.DictionaryArray.from_arrays(places, pa.array(entries).cast(values), ordered=ordered)}
        )

    return make


def pandas(dtype: Any) -> Callable[[list[Any]], pd.DataFrame]:
    return lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype=dtype)})


def polars(dtype: Any) -> Callable[[list[Any]], pl.DataFrame]:
    return lambda cells: pl.DataFrame({"x": pl.Series(cells, dtype=dtype)})
