"""A release of a file is whole or not there, and leaks nothing: R7, R10, R15, R28, R35."""

from __future__ import annotations

import functools
import gzip
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from budget_opt.allocation import Allocation
from budget_opt.errors import BudgetOptError, DataError, InputError, RandomSourceError
from budget_opt.randomizer import drawing
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.table import randomize_table
from budget_opt.randomizer.words import SecureWords
from budget_opt.tables import reading
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.reading import open_file
from budget_opt.tables.types import nested_kind
from tests.error_chain import everything_said

Survey = Callable[[int], pa.Table]
WriteTable = Callable[..., Path]
SOURCES = ("t.csv", "t.csv.gz", "t.parquet")
TARGETS = ("r.csv", "r.csv.gz", "r.parquet")


def assert_refused(
    folder: Path, error: type[BudgetOptError], message: str, release: Callable[[], Any]
) -> str:
    """The release raises, and the folder is as it was."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(error, match=message) as caught:
        release()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    return str(caught.value)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("row_order", ["public", "shuffle"])
def test_r10_a_fault_in_the_last_row_leaves_nothing_and_shows_no_cell(
    tmp_path: Path,
    allocation: Allocation,
    survey: Survey,
    caplog: pytest.LogCaptureFixture,
    source: str,
    target: str,
    row_order: str,
    write_table: WriteTable,
) -> None:
    table = survey(500)
    table = pa.concat_tables([table, table.slice(0, 1).set_column(5, "size", pa.array([27182818]))])
    path = write_table(table, tmp_path / source)
    with caplog.at_level(logging.DEBUG):
        message = assert_refused(
            tmp_path,
            DataError,
            r"column 'size': none of the 3 declared categories .*: 1 cell \(row 500\)",
            lambda: randomize_file(path, allocation, tmp_path / target, FileOptions(row_order=row_order)),
        )
    assert "27182818" not in message + caplog.text


def test_r10_faults_of_all_columns_and_batches_are_told_at_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    write_table: WriteTable,
) -> None:
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=10))
    table = survey(100)
    size, age = table["size"].to_pylist(), table["age"].to_pylist()
    size[3] = size[95] = 9
    for row in range(20, 90, 10):
        age[row] = -1.0
    table = table.set_column(5, "size", pa.array(size)).set_column(1, "age", pa.array(age))
    path = write_table(table, tmp_path / "t.parquet")
    handed: list[Any] = []
    message = assert_refused(
        tmp_path,
        DataError,
        "do not|does not fit",
        lambda: randomize_file(
            path, allocation, tmp_path / "r.csv", FileOptions(on_batch=lambda *pair: handed.append(pair))
        ),
    )
    assert "2 cells (rows 3, 95)" in message
    assert "7 cells (rows 20, 30, 40, 50, 60, ...)" in message
    assert handed == []


def test_r28_broken_files_leave_nothing(
    tmp_path: Path, allocation: Allocation, survey: Survey, write_table: WriteTable
) -> None:
    table = survey(3000)
    for name in SOURCES:
        path = write_table(table, tmp_path / name)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) - 30])
        if name == "t.csv":
            path.write_bytes(whole + b"CANARY,1\n")
        message = assert_refused(
            tmp_path,
            DataError,
            name,
            functools.partial(randomize_file, path, allocation, tmp_path / "r.parquet"),
        )
        assert "CANARY" not in message


def test_r28_a_target_that_cannot_be_written_is_an_error_before_anything_is_read(
    tmp_path: Path, allocation: Allocation, survey: Survey, write_table: WriteTable
) -> None:
    path = write_table(survey(10), tmp_path / "t.csv")
    release = functools.partial(randomize_file, path, allocation)
    assert_refused(tmp_path, InputError, "no folder", lambda: release(tmp_path / "none" / "r.csv"))
    assert_refused(tmp_path, DataError, "must end in", lambda: release(tmp_path / "r.txt"))
    assert_refused(
        tmp_path, InputError, "original itself", lambda: release(path, FileOptions(overwrite=True))
    )
    (tmp_path / "r.csv").write_text("old")
    assert_refused(tmp_path, InputError, "second release", lambda: release(tmp_path / "r.csv"))
    release(tmp_path / "r.csv", FileOptions(overwrite=True))
    assert open_file(tmp_path / "r.csv").names == ("age", "owns", "wave", "city", "size")


class FailsLater(SecureWords):
    """A source whose streams fail at their second take."""

    def stream(self, context: bytes, bits: int) -> Any:
        stream = super().stream(context, bits)
        taken = []

        class Failing:
            def take(self, count: int) -> Any:
                self.spend(count)
                return stream.take(count)

            def fill(self, words: Any) -> None:
                self.spend(len(words))
                stream.fill(words)

            def spend(self, count: int) -> None:
                taken.append(count)
                if len(taken) > 1:
                    raise RandomSourceError("the key stream failed")

        return Failing()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("row_order", ["public", "shuffle"])
def test_r7_a_random_source_that_fails_half_way_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    target: str,
    row_order: str,
    write_table: WriteTable,
) -> None:
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=100))
    monkeypatch.setattr(drawing, "SecureWords", FailsLater)
    path = write_table(survey(150), tmp_path / "t.parquet")
    options = FileOptions(row_order=row_order)
    assert_refused(
        tmp_path,
        RandomSourceError,
        "failed",
        lambda: randomize_file(path, allocation, tmp_path / target, options),
    )


def test_an_error_of_the_caller_leaves_nothing(
    tmp_path: Path, allocation: Allocation, survey: Survey, write_table: WriteTable
) -> None:
    path = write_table(survey(150), tmp_path / "t.parquet")

    def stop(rows: int, share: float) -> None:
        raise OSError("the caller's own")

    with pytest.raises(OSError, match="the caller's own"):
        randomize_file(path, allocation, tmp_path / "r.csv", FileOptions(progress=stop))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("row_order", ["public", "shuffle"])
def test_a_check_before_the_file_is_there_can_stop_it(
    tmp_path: Path,
    allocation: Allocation,
    survey: Survey,
    target: str,
    row_order: str,
    write_table: WriteTable,
) -> None:
    path = write_table(survey(150), tmp_path / "t.parquet")
    handed: list[int] = []

    def refuse() -> None:
        assert handed == [150]
        assert not (tmp_path / target).exists()
        raise InputError("not good enough")

    options = FileOptions(
        row_order=row_order,
        on_batch=lambda original, released: handed.append(len(released["city"])),
        before_commit=refuse,
    )
    assert_refused(
        tmp_path, InputError, "not good", lambda: randomize_file(path, allocation, tmp_path / target, options)
    )


@pytest.mark.parametrize("target", TARGETS)
def test_r15_r35_no_canary_and_nothing_of_the_original_file_is_released(
    tmp_path: Path, allocation: Allocation, survey: Survey, target: str, write_table: WriteTable
) -> None:
    table = survey(400)
    city = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 200), ["york", "leeds", "CANARY 1"])
    wave = pa.DictionaryArray.from_arrays(pa.array([1, 1] * 200), ["CANARY 2", "w"])
    fields = [field.with_metadata({"CANARY": "CANARY"}) for field in table.schema]
    table = table.set_column(4, "city", city).set_column(3, "wave", wave)
    fields[3], fields[4] = pa.field("wave", wave.type), pa.field("city", city.type)
    table = table.cast(pa.schema(fields, metadata={"CANARY": "CANARY"}))
    path = write_table(table, tmp_path / "t.parquet", row_group_size=50)
    assert path.read_bytes().count(b"CANARY") > 5
    assert set(pd.read_parquet(path)["wave"].cat.categories) == {"CANARY 2", "w"}
    out = tmp_path / target
    randomize_file(path, allocation, out)
    content = gzip.decompress(out.read_bytes()) if out.suffix == ".gz" else out.read_bytes()
    assert b"CANARY" not in content
    if out.suffix == ".parquet":
        file = parquet.ParquetFile(out)
        assert b"CANARY" not in repr(file.read().to_pydict()).encode()
        assert "CANARY" not in repr(file.schema_arrow) + repr(file.metadata)
        assert file.metadata.num_row_groups == 1
        assert file.schema_arrow.metadata is None
        for batch in file.iter_batches(columns=["city"]):
            assert batch.column(0).dictionary.to_pylist() == ["york", "leeds", 'hull, "the" port']


def test_r15_the_index_of_a_pandas_file_is_refused_like_any_column_without_a_budget(
    tmp_path: Path, allocation: Allocation, survey: Survey
) -> None:
    survey(10).to_pandas().set_index(pd.Index(list("abcdefghij"))).to_parquet(tmp_path / "t.parquet")
    assert_refused(
        tmp_path,
        DataError,
        "no budget: '__index_level_0__'",
        lambda: randomize_file(tmp_path / "t.parquet", allocation, tmp_path / "r.csv"),
    )


def _inside(labels: pa.Array) -> dict[str, pa.Array]:
    """One row, without the canary, of every type that has columns inside."""
    cells = {
        "list": pa.ListArray.from_arrays([0, 1, 2], labels),
        "large_list": pa.LargeListArray.from_arrays([0, 1, 2], labels),
        "fixed_size_list": pa.FixedSizeListArray.from_arrays(labels, 1),
        "struct": pa.StructArray.from_arrays([labels], ["CANARY"]),
        "map": pa.MapArray.from_arrays([0, 1, 2], pa.array(["k", "k"]), labels),
        "sparse_union": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [labels]),
        "run_end_encoded": pa.RunEndEncodedArray.from_arrays([1, 2], labels),
    }
    return {kind: array.slice(1) for kind, array in cells.items()}


LABELS = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["CANARY", "w"])
NESTED = _inside(LABELS)


@pytest.mark.parametrize("kind", NESTED)
def test_r15_a_nested_public_column_in_memory_is_refused(
    allocation: Allocation, survey: Survey, kind: str
) -> None:
    table = survey(1).set_column(3, "wave", pa.chunked_array([NESTED[kind]]))
    frames = [table, table.to_batches()[0]]
    if kind != "sparse_union":
        frames.append(table.to_pandas(types_mapper=pd.ArrowDtype))
    for frame in frames:
        with pytest.raises(DataError, match=rf"'wave' \({kind}\).*Flatten.*dropped") as caught:
            randomize_table(frame, allocation)
        assert caught.value.column == "wave"
        assert "CANARY" not in everything_said(caught.value)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [([["a"]], "list"), ([{"CANARY": 1}], "struct"), (pl.Series([[1]], dtype=pl.Array(pl.Int8, 1)), "array")],
)
def test_r15_a_nested_public_column_of_polars_is_refused(
    allocation: Allocation, survey: Survey, cells: Any, kind: str
) -> None:
    table = pl.DataFrame(survey(1)).with_columns(pl.Series("wave", cells))
    with pytest.raises(DataError, match=rf"'wave' \({kind}\)") as caught:
        randomize_table(table, allocation)
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["list", "struct", "map", "large_list"])
def test_r15_a_nested_public_column_of_a_file_is_refused(
    tmp_path: Path, allocation: Allocation, survey: Survey, write_table: WriteTable, kind: str, target: str
) -> None:
    cells = _inside(LABELS.cast(pa.string()))[kind]
    table = survey(1).set_column(3, "wave", pa.chunked_array([cells]))
    path = write_table(table, tmp_path / "t.parquet")
    message = assert_refused(
        tmp_path,
        DataError,
        rf"'wave' \({kind}\)",
        lambda: randomize_file(path, allocation, tmp_path / target),
    )
    assert "CANARY" not in message


def test_r15_dictionaries_inside_other_types_are_nested_and_plain_ones_are_not() -> None:
    assert nested_kind(LABELS.type) is None
    assert nested_kind(pa.uuid()) is None
    assert nested_kind(pa.dictionary(pa.int8(), LABELS.type)) == "dictionary of dictionary"
    assert nested_kind(pa.dictionary(pa.int8(), pa.list_(pa.int8()))) == "dictionary of list"
    assert nested_kind(pa.opaque(LABELS.type, "a", "b")) == "extension of dictionary"


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize(
    ("header", "message"),
    [
        (["7", "1", "0", "w1", "CANARY"], "no column 'city', 'size', 'owns', 'age', 'wave' among its 5"),
        (["city", "size", "owns", "CANARY", "wave", "CANARY 2"], "no column 'age' among its 6"),
        (["CANARY", "1", "CANARY"], "column numbers 1, 3 have names that stand more than once"),
        (["CANARY", " "], "column number 2 has no name"),
    ],
)
def test_r10_r35_the_first_record_of_a_file_without_header_is_not_printed(
    tmp_path: Path, allocation: Allocation, name: str, header: list[str], message: str
) -> None:
    path = tmp_path / name
    if name == "t.csv":
        path.write_text("\n".join([",".join(header)] * 3))
    else:
        parquet.write_table(pa.table([["x"]] * len(header), names=header), path)
    said = assert_refused(
        tmp_path, DataError, message, lambda: randomize_file(path, allocation, tmp_path / "r.csv")
    )
    assert "CANARY" not in said
    assert "Has the file a header line?" in said


def test_columns_of_wrong_types_are_told_at_once_for_a_table_and_for_a_file(
    tmp_path: Path, allocation: Allocation, survey: Survey, write_table: WriteTable
) -> None:
    table = survey(4).set_column(5, "size", pa.array(["1", "2", "4", None]))
    table = table.set_column(4, "city", pa.array([1, 2, 3, 4])).set_column(2, "owns", pa.array(["true"] * 4))
    path = write_table(table, tmp_path / "t.parquet")
    for release in (
        lambda: randomize_table(table, allocation),
        lambda: randomize_file(path, allocation, tmp_path / "r.csv"),
    ):
        said = assert_refused(tmp_path, DataError, "does not fit", release)
        assert all(f"column '{name}': the column holds" in said for name in ("size", "city", "owns"))
