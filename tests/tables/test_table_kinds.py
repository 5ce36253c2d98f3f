"""Tables in memory and Parquet files: what is read, what is refused, what comes back (R14, R15, R28)."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from budget_opt.errors import DataError
from budget_opt.model.domain import Domain
from budget_opt.tables.frames import FrameSource
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.reading import open_batches, open_table, read_codes

CITY = Domain("text", ("york", "leeds", "hull", None))
SIZE = Domain("integer", (1, 2, 3, None))
OWNS = Domain("boolean", (True, False, None))
DOMAINS = {"city": CITY, "size": SIZE, "owns": OWNS}
TRUE_CODES = {"city": [1, 3, 0], "size": [2, 0, 3], "owns": [2, 1, 0]}
ROWS = {"city": ["leeds", None, "york"], "size": [3, 1, None], "owns": [None, False, True]}

KINDS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(
        {
            "city": ROWS["city"],
            "size": pd.array(ROWS["size"], dtype="Int64"),
            "owns": pd.array(ROWS["owns"], dtype="boolean"),
        },
        index=[7, 7, 9],
    ),
    "pandas objects": lambda: pd.DataFrame(
        {"city": ["leeds", np.nan, "york"], "size": [3, 1, None], "owns": [None, False, True]}, dtype=object
    ),
    "pandas categories": lambda: pd.DataFrame(
        {
            "city": pd.Categorical(ROWS["city"], categories=["hull", "york", "bath", "leeds"], ordered=True),
            "size": pd.Categorical(ROWS["size"]),
            "owns": pd.Categorical(ROWS["owns"]),
        }
    ),
    "polars": lambda: pl.DataFrame(ROWS),
    "polars categories": lambda: pl.DataFrame(ROWS).with_columns(pl.col("city").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(ROWS).with_columns(pl.col("city").cast(pl.Enum(["york", "leeds"]))),
    "table": lambda: pa.table(ROWS),
    "chunked table": lambda: pa.concat_tables([pa.table(ROWS).slice(0, 2), pa.table(ROWS).slice(2)]),
    "batch": lambda: pa.record_batch(ROWS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_codes(kind: str) -> None:
    codes = read_codes(KINDS[kind](), DOMAINS)
    assert {name: column.tolist() for name, column in codes.items()} == TRUE_CODES


def test_files_give_the_same_codes(tmp_path: Path) -> None:
    parquet.write_table(pa.table(ROWS), tmp_path / "t.parquet", row_group_size=2)
    pd.DataFrame(ROWS).astype({"size": "Int64"}).to_parquet(tmp_path / "p.parquet")
    (tmp_path / "t.CSV").write_text("owns,size,city\n,3,leeds\nfalse,1,\ntrue,,york\n")
    for name in ("t.parquet", "p.parquet", "t.CSV"):
        for path in (tmp_path / name, str(tmp_path / name)):
            codes = read_codes(path, DOMAINS)
            assert {name: column.tolist() for name, column in codes.items()} == TRUE_CODES


def test_batches_of_a_csv_file_are_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,true\n")
    (batch,) = open_batches(tmp_path / "t.csv")
    assert batch.schema.types == [pa.string(), pa.string()]


PUBLIC: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(
        {
            "text": ["a", None, "c"],
            "label": pd.Categorical(["x", "y", "x"], categories=["CANARY", "y", "x"], ordered=True),
            "time": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
            "nullable": pd.array([2**60 + 1, None, 3], dtype="Int64"),
            "thing": [1, "two", (3,)],
            "objects of text": pd.Series(["a", "b", None], dtype=object, index=["CANARY", "b", "c"]),
        },
        index=["CANARY", "b", "c"],
    ),
    "polars": lambda: pl.DataFrame(
        {
            "text": ["a", None, "c"],
            "label": pl.Series(["x", "y", "x"], dtype=pl.Enum(["x", "y"])),
            "number": [1, None, 3],
        }
    ),
    "arrow": lambda: pa.table(
        {
            "text": pa.array(["a", None, "c"]).cast(pa.string_view()),
            "label": pa.DictionaryArray.from_arrays(
                pa.array([2, 1, 2], pa.int8()), ["CANARY", "y", "x"], ordered=True
            ),
            "number": pa.array([1, None, 3], pa.uint8()),
        },
        metadata={"who": "CANARY"},
    ),
}


@pytest.mark.parametrize("kind", PUBLIC)
def test_r15_public_columns_keep_values_and_types_and_nothing_else(kind: str) -> None:
    original = PUBLIC[kind]()
    source = FrameSource(original)
    released = source.rebuilt(source.names, {}, np.array([2, 0, 1]))
    if kind == "pandas":
        expected = original.iloc[[2, 0, 1]].reset_index(drop=True)
        expected["label"] = expected["label"].cat.remove_unused_categories()
        pd.testing.assert_frame_equal(released, expected)
    elif kind == "polars":
        assert released.equals(original[[2, 0, 1]])
        assert released.schema == original.schema
    else:
        assert released.to_pylist() == [original.to_pylist()[row] for row in (2, 0, 1)]
        assert released.schema == original.schema.remove_metadata()
        assert released.schema.metadata is None
        assert released.column("label").chunk(0).dictionary.to_pylist() == ["x", "y"]
    assert "CANARY" not in repr(released)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "CANARY", "b"])], ids=str)
def test_r15_a_public_column_of_polars_lists_no_category_that_it_does_not_hold(kind: Any) -> None:
    original = pl.DataFrame({"w": pl.Series(["CANARY", "b", "a", None], dtype=kind)})[1:]
    source = FrameSource(original)
    for order in ([2, 0, 1], [2], []):
        released = source.rebuilt(("w",), {}, np.array(order, dtype=np.int64))
        assert released["w"].to_list() == [["b", "a", None][row] for row in order]
        assert isinstance(released.schema["w"], pl.Enum if isinstance(kind, pl.Enum) else pl.Categorical)
        assert b"CANARY" not in pickle.dumps(released)
        assert "CANARY" not in repr(released.schema)


@pytest.mark.parametrize("kind", [pl.String, pl.Binary], ids=str)
def test_r15_a_public_column_of_polars_keeps_no_text_of_rows_that_were_left_out(kind: Any) -> None:
    """Text of more than twelve bytes lies in buffers that a filtered frame shares with the whole one."""
    texts = pl.Series("w", ["CANARY" * 5, "b" * 30, "a" * 30, None]).cast(kind)
    original = texts.to_frame()[1:]
    released = FrameSource(original).rebuilt(("w",), {}, np.array([1, 0, 2]))
    assert released.equals(original[[1, 0, 2]])
    assert released.schema == original.schema
    file = io.BytesIO()
    released.write_ipc(file)
    assert b"CANARY" in pickle.dumps(original)
    assert b"CANARY" not in pickle.dumps(released) + file.getvalue()


@pytest.mark.parametrize("chunks", [1, 2])
def test_r15_a_public_column_of_arrow_in_pandas_lists_no_category_that_it_does_not_hold(chunks: int) -> None:
    cells = pa.DictionaryArray.from_arrays(pa.array([1, None, 2], pa.int8()), ["CANARY", "a", "b"])
    table = pa.table({"w": cells, "n": [1, None, 3]})
    if chunks == 2:
        table = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    original = table.to_pandas(types_mapper=pd.ArrowDtype)
    released = FrameSource(original).rebuilt(("w", "n"), {}, np.array([2, 0, 1]))
    pd.testing.assert_frame_equal(released, original.iloc[[2, 0, 1]].reset_index(drop=True))
    assert b"CANARY" in pickle.dumps(original)
    assert b"CANARY" not in pickle.dumps(released)


def test_r15_what_a_frame_carries_beside_its_cells_is_left_behind() -> None:
    original = pd.DataFrame({"a": ["x", "y"]}, index=pd.Index(["CANARY", "b"], name="CANARY"))
    original.attrs["CANARY"] = 1
    original.flags.allows_duplicate_labels = False
    source = FrameSource(original)
    released = source.rebuilt(source.names, {}, np.array([1, 0]))
    assert released.index.equals(pd.RangeIndex(2))
    assert released.index.name is None
    assert released.attrs == {}
    assert released.flags.allows_duplicate_labels


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({}), "no columns"),
        (pd.DataFrame(index=[1, 2]), "no columns"),
        (pl.DataFrame(), "no columns"),
        (pa.table([[1], [2]], names=["a", "a"]), "numbers 1, 2 have names that stand more than once"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "numbers 1, 2 have names that stand more than once"),
        (pa.table({" ": [1]}), "column number 1 has no name"),
        (pa.table({"a": [1], "": [1]}), "column number 2 has no name"),
        (pd.DataFrame([[1]]), "not text"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "not text"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        ({"a": [1]}, "is a dict"),
        ([1], "is a list"),
        (None, "is a NoneType"),
        (pd.Series([1]), "is a Series"),
        (Path("no.csv"), "no such file"),
        ("no.parquet", "no such file"),
        ("", "an empty path is no file"),
        ("https://example.com/t.csv", "https://example.com/t.csv: is an address, and files are read from"),
        ("no.xlsx", "must end in .csv, .csv.gz, .parquet"),
        ("no-folder/", "there is no such file or folder"),
    ],
    ids=lambda item: item if isinstance(item, str) else type(item).__name__,
)
def test_r14_what_is_no_table_is_refused(table: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_codes(table, DOMAINS)


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(DataError, match="Give a table to read"):
        open_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "cells", [["CANARY", 1], [1, True], [True, 1], [1, "CANARY"], [object()], [2**70]], ids=range(6)
)
def test_r10_a_column_of_mixed_cells_is_refused_without_showing_one(cells: list[object]) -> None:
    with pytest.raises(DataError, match="column 'city'") as caught:
        read_codes(pd.DataFrame({"city": pd.Series(cells, dtype=object)}), {"city": CITY})
    assert "CANARY" not in str(caught.value)
    assert str(2**70) not in str(caught.value)


def test_absent_columns_are_named() -> None:
    with pytest.raises(DataError, match="no column 'size', 'owns' among its 2"):
        read_codes(pa.table({"city": ["york"], "Size": [1]}), DOMAINS)


def test_all_faults_of_all_batches_are_told_at_once(tmp_path: Path) -> None:
    rows = 200_000
    size, city = np.full(rows, 1), np.array(["york"] * rows, dtype=object)
    size[[5, 150_000]] = 9
    city[[70_000, 199_999]] = "york "
    parquet.write_table(pa.table({"size": size, "city": city, "owns": [None] * rows}), tmp_path / "t.parquet")
    with pytest.raises(DataError) as caught:
        read_codes(tmp_path / "t.parquet", DOMAINS)
    assert "column 'size': none of the 3 declared" in str(caught.value)
    assert "2 cells (rows 5, 150000)" in str(caught.value)
    assert "2 cells (rows 70000, 199999)" in str(caught.value)


def test_r28_a_parquet_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": ["CANARY"] * 100}), path, compression="none")
    whole = path.read_bytes()
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="not a whole Parquet file") as caught:
            list(ParquetSource(path).batches(["a"]))
        assert "CANARY" not in str(caught.value)


def test_r28_a_changed_page_with_a_checksum_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(
        pa.table({"a": ["CANARY"] * 100}),
        path,
        compression="none",
        write_page_checksum=True,
        use_dictionary=False,
        write_statistics=False,
    )
    path.write_bytes(path.read_bytes().replace(b"CANARY", b"CANERY", 1))
    with pytest.raises(DataError, match="corrupt"):
        list(ParquetSource(path).batches(["a"]))


def test_a_dot_in_a_name_is_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a.b": [1], "a": [2], "b": [{"c": 3}]}), path)
    (batch,) = ParquetSource(path).batches(["a", "a.b"])
    assert batch.to_pydict() == {"a": [2], "a.b": [1]}
