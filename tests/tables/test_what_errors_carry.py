"""No cell in an error, nor in what hangs on it, nor where a header should be: R10, R35."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from budget_opt.errors import DataError, InputError
from budget_opt.model.domain import Domain
from budget_opt.tables.encoding import encode
from budget_opt.tables.reading import open_batches, read_codes
from budget_opt.tables.translation import translated
from budget_opt.tables.writing import open_writer
from tests.error_chain import everything_said

CITY = Domain("text", ("york", "leeds"))
SIZE = Domain("integer", (1, 2))
AGE = Domain("bins", ("[0, 1)", "[1, 2]"), (0.0, 1.0, 2.0))


def refused(
    work: Callable[[], Any], message: str | None = None, error: type[InputError] = DataError
) -> InputError:
    """The error, which nothing hangs on."""
    with pytest.raises(error, match=message) as caught:
        work()
    assert "CANARY" not in everything_said(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value


def refused_if_at_all(work: Callable[[], Any]) -> bool:
    """Whether it was refused, and then without a cell."""
    try:
        work()
    except DataError as error:
        caught = error
    else:
        return False
    assert caught.__context__ is None
    assert "CANARY" not in everything_said(caught)
    return True


class Bursts:
    """A cell that raises what Arrow does not expect."""

    def __len__(self) -> int:
        raise RuntimeError("CANARY")

    def __iter__(self) -> Any:
        raise RuntimeError("CANARY")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("CANARY")


@pytest.mark.parametrize(
    "cells",
    [
        ["a", "\ud800CANARY"],
        ["CANARY", 1],
        [1, "CANARY"],
        [1.5, "CANARY"],
        [True, b"CANARY"],
        ["a", b"CANARY", 1],
        [{"CANARY": 1}, 2],
        [2**70, "CANARY"],
        [Bursts()],
    ],
    ids=lambda cells: ascii(cells)[:30],
)
def test_r10_r35_a_conversion_that_fails_carries_no_cell(cells: list[Any]) -> None:
    # one by one: older versions of pandas would ask the cells for their arrays
    values = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        values[i] = cell
    table = pd.DataFrame({"city": pd.Series(values, dtype=object)})
    error = refused(lambda: read_codes(table, {"city": CITY}), "column 'city': mixes types")
    assert isinstance(error, DataError)
    assert error.column == "city"


def test_r10_r35_the_type_of_a_nested_column_is_told_without_the_names_inside() -> None:
    for table in (
        pd.DataFrame({"city": [{"CANARY": 1}]}),
        pl.DataFrame({"city": [{"CANARY": 1}]}),
        pa.table({"city": [{"CANARY": 1}]}),
    ):
        refused(lambda table=table: read_codes(table, {"city": CITY}), "column 'city' is of type struct, and")


def test_r10_text_that_is_not_unicode_in_an_arrow_column_carries_no_cell() -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\7\0\0\0"), pa.py_buffer(b"CANARY\xff")]
    )
    for domain, text in ((CITY, False), (AGE, True)):
        refused(lambda domain=domain, text=text: encode(broken, domain, "x", text=text), "column 'x'")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize(
    "content",
    [
        b"city\n\xffCANARY\n",
        b"\xffCANARY,city\n1,york\n",
        b"city,b\nCANARY\n",
        b'city\n"CANARY',
        b'city\n"' + b"CANARY" * 400_000 + b'"\n',
        b"CANARY\nCANARY\n",
        b"CANARY,CANARY\n1,2\n",
        b"CANARY,\n1,2\n",
    ],
    ids=lambda content: repr(content[:20]),
)
def test_r10_r35_a_csv_file_that_cannot_be_read_carries_no_cell(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    refused(lambda: read_codes(path, {"city": CITY}))


def test_r10_r35_a_gzip_file_cut_anywhere_carries_no_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    whole = gzip.compress(b"city\n" + b"york\n" * 50, mtime=0)
    for cut in range(0, len(whole), 5):
        path.write_bytes(whole[:cut])
        refused(lambda: read_codes(path, {"city": CITY}))


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_r10_r28_a_parquet_file_with_any_byte_changed_is_read_or_refused_without_a_cell(
    tmp_path: Path, use_dictionary: bool
) -> None:
    path = tmp_path / "t.parquet"
    cells = {"CANARY": ["CANARY"] * 4, "city": ["york", "leeds"] * 2}
    parquet.write_table(pa.table(cells), path, compression="none", use_dictionary=use_dictionary)
    whole = path.read_bytes()
    refusals = 0
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= (0x80, 0xFF)[place % 2]
        path.write_bytes(changed)
        for read in (lambda: read_codes(path, {"city": CITY}), lambda: list(open_batches(path))):
            refusals += refused_if_at_all(read)
    assert refusals > len(whole) // 2


def test_r10_r35_a_file_that_may_not_be_read_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("city\nyork\n")

    def forbidden(path: Path, mode: str) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", forbidden)
    refused(lambda: read_codes(tmp_path / "t.csv", {"city": CITY}), "cannot be read .Permission denied")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_r10_r35_a_batch_that_cannot_be_written_carries_no_cell(tmp_path: Path, name: str) -> None:
    schema = pa.schema([("a", pa.int8())])

    def write() -> None:
        with open_writer(tmp_path / name, schema) as writer:
            writer.write(pa.record_batch({"a": ["CANARY"]}))

    refused(write, "cannot hold")
    assert list(tmp_path.iterdir()) == []


def test_r10_translation_lets_our_own_errors_and_a_full_memory_pass() -> None:
    def explain(failure: Exception) -> DataError:
        return DataError(type(failure).__name__)

    def fail(error: BaseException) -> Callable[[], None]:
        def work() -> None:
            raise error

        return work

    assert translated(lambda: 3, explain) == 3
    refused(lambda: translated(fail(ZeroDivisionError("CANARY")), explain), "ZeroDivisionError")
    refused(lambda: translated(fail(pa.ArrowMemoryError("CANARY")), explain), "ArrowMemoryError")
    refused(lambda: translated(fail(DataError("as it is")), explain), "as it is")
    for error in (MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught:
            translated(fail(error), explain)
        assert caught.value is error


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("7,1,CANARY", "no column 'city', 'size' among its 3.*Has the file a header line"),
        ("city,1,CANARY", "no column 'size' among its 3"),
        ("city ,Size,CANARY", "among its 3. Column number 1, 2 has such a name but for case or blanks."),
        ("CANARY,2,CANARY", "column numbers 1, 3 have names that stand more than once.*header line"),
        ("city,size,CANARY,CANARY", "column numbers 3, 4 have names"),
        ("CANARY,,CANARY, ", "column number 2, 4 has no name.*header line"),
    ],
)
def test_r10_r35_the_first_record_of_a_file_without_header_is_not_printed(
    tmp_path: Path, header: str, message: str
) -> None:
    (tmp_path / "t.csv").write_text(f"{header}\n{header}\n")
    names = header.split(",")
    domains = {"city": CITY, "size": SIZE}
    refused(lambda: read_codes(tmp_path / "t.csv", domains), message)
    frame = pd.DataFrame([[1] * len(names)], columns=names)
    error = refused(lambda: read_codes(frame, domains), message.partition(".*")[0])
    assert "header line" not in str(error)


def test_a_file_whose_columns_are_not_separated_by_commas_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("city;size;CANARY\nyork;1;CANARY\n")
    domains = {"city": CITY, "size": SIZE}
    error = refused(lambda: read_codes(tmp_path / "t.csv", domains), 'header has ";", and columns must be')
    assert "header line" not in str(error)


def test_all_columns_of_a_wrong_type_are_told_at_once_with_the_cells(tmp_path: Path) -> None:
    rows = {"size": ["1", None], "city": [1, 2], "age": [0.5, 9.0], "mixed": ["a", "b"]}
    domains = {"size": SIZE, "city": CITY, "age": AGE, "mixed": CITY}
    parquet.write_table(pa.table(rows), tmp_path / "t.parquet", row_group_size=1)
    for table in (pd.DataFrame(rows), pa.table(rows), tmp_path / "t.parquet"):
        error = refused(
            lambda table=table: read_codes(table, domains), "column 'size': the column holds text"
        )
        told = str(error).splitlines()[1:]
        assert [line.split("'")[1] for line in told] == ["size", "city", "age", "mixed"]
        assert "outside the bins" in told[2]
    mixed = pd.DataFrame(
        {"size": pd.Series([1, "a"], dtype=object), "city": pd.Series(["a", 1], dtype=object)}
    )
    assert len(str(refused(lambda: read_codes(mixed, {"size": SIZE, "city": CITY}))).splitlines()) == 3
