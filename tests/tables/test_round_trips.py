"""Tables of every kind through a release: the same types back, estimated and verified (R12, R14, R15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import budget_opt as bo
from tests.error_chain import everything_said

N = 60
CODES = [1, 2, 4]
CITIES = ["york", "leeds", "hull"]


def allocation_of(missing: str) -> bo.Allocation:
    return bo.uniform(
        bo.Problem(
            attributes=[
                bo.Attribute("city", categories=CITIES, missing=missing),
                bo.Attribute("code", categories=CODES, missing=missing, **scores(missing)),
                bo.Attribute("flag", categories=[True, False], missing=missing),
            ],
            moments=[bo.CrossMoment("city", "code")],
            total_epsilon=3.0,
            public=[{"name": "id", "why": "drawn by lot"}],
        )
    )


def scores(missing: str) -> dict[str, Any]:
    return {"scores": CODES} | ({"missing_score": 0} if missing == "category" else {})


def rows(missing: str) -> dict[str, list[Any]]:
    gap = [None] if missing == "category" else []
    return {
        "id": list(range(N)),
        "city": ([*CITIES, *gap] * N)[:N],
        "code": ([*gap, *CODES, 4] * N)[:N],
        "flag": ([True, *gap, False, True] * N)[:N],
    }


def pandas(**dtypes: Any) -> Callable[[dict[str, list[Any]]], pd.DataFrame]:
    return lambda columns: pd.DataFrame(
        {
            name: pd.Series(cells, dtype=dtypes.get(name), index=range(5, 5 + N))
            for name, cells in columns.items()
        }
    )


KINDS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pandas(),
    "pandas objects": pandas(city=object, code=object, flag=object),
    "pandas string and float codes": pandas(city="string", code="float64"),
    "pandas nullable": pandas(city="string", code="Int8", flag="boolean"),
    "pandas categories": pandas(
        city=pd.CategoricalDtype(["hull", "york", "CANARY", "leeds"], ordered=True), code="category"
    ),
    "pandas in Arrow": pandas(
        city=pd.ArrowDtype(pa.string()), code=pd.ArrowDtype(pa.int16()), flag=pd.ArrowDtype(pa.bool_())
    ),
    "polars": pl.DataFrame,
    "polars categories": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("city").cast(pl.Categorical), pl.col("code").cast(pl.UInt8)
    ),
    "polars enum": lambda columns: pl.DataFrame(columns).with_columns(pl.col("city").cast(pl.Enum(CITIES))),
    "Arrow": pa.table,
    "Arrow dictionaries": lambda columns: pa.table(
        {
            "id": columns["id"],
            "city": pa.array(columns["city"]).cast(pa.large_string()).dictionary_encode(),
            "code": pa.array(columns["code"], pa.int8()).dictionary_encode(),
            "flag": columns["flag"],
        }
    ),
    "Arrow views": lambda columns: pa.table(columns).set_column(
        1, "city", pa.array(columns["city"]).cast(pa.string_view())
    ),
    "Arrow batch": pa.record_batch,
}


def schema_of(table: Any) -> list[tuple[str, str]]:
    if isinstance(table, pd.DataFrame):
        return [
            (name, repr(dtype) if isinstance(dtype, pd.StringDtype) else str(dtype))
            for name, dtype in table.dtypes.items()
        ]
    types = table.schema.types if isinstance(table, pa.Table | pa.RecordBatch) else table.dtypes
    names = table.schema.names if isinstance(table, pa.Table | pa.RecordBatch) else table.columns
    return [(name, str(kind)) for name, kind in zip(names, types, strict=True)]


def column_of(table: Any, name: str) -> list[Any]:
    column = table[name]
    return column.to_pylist() if isinstance(table, pa.Table | pa.RecordBatch) else column.to_list()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["error", "category"])
def test_r15_a_release_has_the_types_and_the_columns_of_the_original(kind: str, missing: str) -> None:
    allocation = allocation_of(missing)
    original = KINDS[kind](rows(missing))
    released = bo.randomize(original, allocation)
    assert type(released) is type(original)
    schema = dict(schema_of(original))
    if missing == "category" and isinstance(original, pd.DataFrame):
        # objects, whose type the cells may have chosen, become what pandas chooses: see `pandas_frames`
        chosen = schema_of(pd.DataFrame({"city": ["york", None], "code": [1, None]}))
        schema |= {name: dtype for name, dtype in chosen if schema[name] == "object"}
    if kind == "polars enum":
        schema["city"] = str(pl.Enum(CITIES))
    assert schema_of(released) == list(schema.items())
    if isinstance(released, pd.DataFrame):
        assert released.index.equals(pd.RangeIndex(N))
    ids = column_of(released, "id")
    assert sorted(ids) == list(range(N))
    assert ids != list(range(N))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["error", "category"])
def test_what_is_released_is_estimated_and_verified(kind: str, missing: str) -> None:
    allocation = allocation_of(missing)
    original = KINDS[kind](rows(missing))
    released = bo.randomize(original, allocation, row_order="public")
    estimate = bo.estimate.moment(released, allocation, "code")
    assert estimate.n == N
    cells = [None if pd.isna(cell) else int(cell) for cell in column_of(released, "code")]
    counts = [cells.count(label) for label in allocation["code"].domain.labels]
    counted = bo.estimate.moment(bo.Counts(("code",), counts), allocation, "code")
    assert estimate.value == pytest.approx(counted.value, rel=1e-12)
    bo.verify_release(allocation, original=original, released=released).require()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1])
def test_r14_a_table_of_one_row_or_none_keeps_its_types(kind: str, count: int) -> None:
    original = KINDS[kind](rows("error"))
    few = original.slice(0, count) if isinstance(original, pa.Table | pa.RecordBatch) else original[:count]
    allocation = allocation_of("error")
    released = bo.randomize(few, allocation)
    assert len(released) == count
    assert schema_of(released) == schema_of(bo.randomize(original, allocation))


@pytest.mark.parametrize("kind", KINDS)
def test_r10_r35_unseen_cells_of_every_kind_are_told_by_column_count_and_rows(kind: str) -> None:
    columns = rows("error")
    columns["city"] = ["CANARY", *columns["city"][1:]]
    if kind == "polars enum":
        original = pl.DataFrame(columns).with_columns(pl.col("city").cast(pl.Enum([*CITIES, "CANARY"])))
    else:
        original = KINDS[kind](columns)
    with pytest.raises(bo.DataError, match=r"column 'city': none of the 3 .*: 1 cell \(row 0\)") as caught:
        bo.randomize(original, allocation_of("error"))
    assert "CANARY" not in everything_said(caught.value)


def test_codes_1_2_4_are_three_categories() -> None:
    allocation = allocation_of("error")
    assert allocation["code"].cardinality == 3
    released = bo.randomize(pa.table(rows("error")), allocation)
    assert set(released["code"].to_pylist()) <= set(CODES)
    assert np.isin(released["code"].to_numpy(), CODES).all()
