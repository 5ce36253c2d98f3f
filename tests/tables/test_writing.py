"""A written file is whole or not there, and holds the table only: R15, R28."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from budget_opt.errors import DataError, InputError
from budget_opt.tables import parquet_writing, whole_files
from budget_opt.tables.csv_files import CsvSource
from budget_opt.tables.reading import open_file
from budget_opt.tables.writing import open_writer

SCHEMA = pa.schema([("a", pa.dictionary(pa.int8(), pa.string())), ("b", pa.int64())])
ENDINGS = ("t.csv", "t.csv.gz", "t.parquet")
NAMES = (*ENDINGS, "t")


@pytest.fixture(params=["unnamed", "hidden"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a file is until it is whole: without a name, or where the system has no such files hidden."""
    if request.param == "hidden":
        hide_files(monkeypatch)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    return request.param


def hide_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "_unnamed", lambda folder, mode: None)


def batch(codes: list[int | None]) -> pa.RecordBatch:
    labels = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(["x", 'y"', "z,\r\n"]))
    return pa.RecordBatch.from_arrays([labels, pa.array(range(len(codes)), pa.int64())], schema=SCHEMA)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_read(tmp_path: Path, way: str, name: str) -> None:
    with open_writer(tmp_path / name, SCHEMA) as writer:
        writer.write(batch([0, 1, None]))
        writer.write(batch([2]))
    source = open_file(tmp_path / name)
    rows = [row for part in source.batches(source.names) for row in part.to_pylist()]
    assert [row["a"] for row in rows] == ["x", 'y"', None, "z,\r\n"]
    assert [int(row["b"]) for row in rows] == [0, 1, 2, 0]


@settings(max_examples=40)
@given(
    st.lists(st.none() | st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")), max_size=20)
)
def test_any_text_and_null_come_back_from_a_csv_file(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str | None]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    schema = pa.schema([("a", pa.string())])
    with open_writer(path, schema) as writer:
        writer.write(pa.RecordBatch.from_arrays([pa.array(cells, pa.string())], schema=schema))
    assert [row["a"] for part in CsvSource(path).batches(["a"]) for row in part.to_pylist()] == cells


@pytest.mark.parametrize("name", NAMES)
def test_a_table_without_rows_is_a_file_with_columns(tmp_path: Path, name: str) -> None:
    with open_writer(tmp_path / name, SCHEMA):
        pass
    source = open_file(tmp_path / name)
    assert source.names == ("a", "b")
    assert sum(part.num_rows for part in source.batches(source.names)) == 0


def contents(path: Path) -> dict[str, bytes]:
    """The bytes of a file, or of all files in a folder."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name if path.is_dir() else "": file.read_bytes() for file in files}


@pytest.mark.parametrize("name", NAMES)
def test_r15_the_bytes_do_not_depend_on_the_batches_the_time_or_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(parquet_writing, "PART_ROWS", 70_000)
    whole = batch([0, 1, None, 2] * 40_000)
    (tmp_path / "other").mkdir()
    for path, step in ((tmp_path / name, 160_000), (tmp_path / "other" / f"other{name}", 997)):
        with open_writer(path, SCHEMA) as writer:
            for start in range(0, whole.num_rows, step):
                writer.write(whole.slice(start, step))
    assert contents(tmp_path / name) == contents(tmp_path / "other" / f"other{name}")


def test_a_name_without_an_ending_is_a_folder_of_parts_that_are_full_but_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_writing, "PART_ROWS", 10)
    with open_writer(tmp_path / "t", SCHEMA) as writer:
        for rows in (3, 7, 25, 0):
            writer.write(batch([0] * rows))
    names = [f"part-0000{i}.parquet" for i in range(4)]
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == names
    assert [parquet.read_metadata(tmp_path / "t" / name).num_rows for name in names] == [10, 10, 10, 5]
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_is_never_overwritten(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "kept").write_bytes(b"old")
    with (
        pytest.raises(InputError, match="not overwritten"),
        open_writer(tmp_path / "t", SCHEMA, overwrite=overwrite),
    ):
        pass
    (tmp_path / "f").write_bytes(b"old")
    with (
        pytest.raises(InputError, match="exists already"),
        open_writer(tmp_path / "f", SCHEMA, overwrite=overwrite),
    ):
        pass
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["f", "kept", "t"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no files without a name")
@pytest.mark.parametrize("name", NAMES)
def test_r28_a_file_in_the_making_has_no_name_that_a_kill_could_leave(tmp_path: Path, name: str) -> None:
    with open_writer(tmp_path / name, SCHEMA) as writer:
        writer.write(batch([0] * 1000))
        assert list(tmp_path.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.string_view(), pa.binary_view()]
)
def test_r26_row_groups_of_wide_text_end_at_a_size_whatever_the_batches_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    try:
        parquet.write_table(pa.table({"b": pa.nulls(1, kind)}), pa.BufferOutputStream())
    except pa.ArrowNotImplementedError:
        pytest.skip(f"this pyarrow writes no {kind} into a Parquet file")
    monkeypatch.setattr(parquet_writing, "ROW_GROUP_BYTES", 1000)
    text = pa.array(["x" * (7 * i % 301) if i % 5 else None for i in range(500)]).cast(kind)
    rows = pa.record_batch({"a": pa.array(range(500), pa.int64()), "b": text})
    made = set()
    for step in (500, 77, 1):
        path = tmp_path / f"{step}.parquet"
        with open_writer(path, rows.schema) as writer:
            for start in range(0, 500, step):
                writer.write(rows.slice(start, step))
        made.add(path.read_bytes())
    assert len(made) == 1
    file = parquet.ParquetFile(path)
    assert file.read().equals(pa.Table.from_batches([rows]))
    groups = [file.read_row_group(i).column("a").to_pylist() for i in range(file.num_row_groups)]
    sizes = [[7 * i % 301 if i % 5 else 0 for i in group] for group in groups]
    assert all(sum(size[:-1]) < 1000 <= sum(size) for size in sizes[:-1])


def test_r26_row_groups_of_many_columns_have_few_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_writing, "ROW_GROUP_CELLS", 100)
    with open_writer(tmp_path / "t.parquet", SCHEMA) as writer:
        writer.write(batch([0] * 120))
    described = parquet.ParquetFile(tmp_path / "t.parquet").metadata
    assert [described.row_group(i).num_rows for i in range(described.num_row_groups)] == [50, 50, 20]


def test_r15_a_parquet_file_has_no_statistics_and_no_metadata_but_the_types(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with open_writer(path, SCHEMA) as writer:
        writer.write(batch([0] * (parquet_writing.ROW_GROUP_ROWS + 1)))
    file = parquet.ParquetFile(path)
    assert set(file.metadata.metadata) == {b"ARROW:schema"}
    assert file.schema_arrow.metadata is None
    assert [file.metadata.row_group(i).num_rows for i in range(2)] == [parquet_writing.ROW_GROUP_ROWS, 1]
    for i in range(2):
        for column in range(2):
            described = file.metadata.row_group(i).column(column)
            assert not described.is_stats_set
            assert not described.has_column_index
            assert not described.has_offset_index
    for part in file.iter_batches(columns=["a"]):
        assert part.column(0).dictionary.to_pylist() == ["x", 'y"', "z,\r\n"]


def test_r12_a_row_group_carries_the_whole_dictionary_however_long_it_is(tmp_path: Path) -> None:
    labels = [f"a long label for category {i:0100d}" for i in range(40_000)]
    column = pa.DictionaryArray.from_arrays(pa.array([7, 7], pa.int32()), labels)
    schema = pa.schema([("a", column.type)])
    with open_writer(tmp_path / "t.parquet", schema) as writer:
        writer.write(pa.RecordBatch.from_arrays([column], schema=schema))
    assert parquet.read_table(tmp_path / "t.parquet").column("a").chunk(0).dictionary.to_pylist() == labels


def test_r15_a_gzip_header_carries_neither_name_nor_time(tmp_path: Path) -> None:
    with open_writer(tmp_path / "t.csv.gz", SCHEMA) as writer:
        writer.write(batch([0]))
    content = (tmp_path / "t.csv.gz").read_bytes()
    assert content[3] == 0  # no flags: no name, no comment
    assert content[4:8] == bytes(4)
    assert gzip.decompress(content) == b'"a","b"\n"x",0\n'


@pytest.mark.parametrize("name", NAMES)
def test_r28_after_an_error_nothing_is_left(tmp_path: Path, way: str, name: str) -> None:
    def interrupted() -> None:
        with open_writer(tmp_path / name, SCHEMA) as writer:
            writer.write(batch([0]))
            there = list(tmp_path.iterdir())
            assert len(there) == (way == "hidden")
            assert all(path.name.startswith(".") for path in there)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


class _FullDisk(io.BufferedWriter):
    def __init__(self, raw: Any, room: int) -> None:
        super().__init__(raw)
        self._room = room

    def write(self, data: Any) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("room", [0, 3, 100])
@pytest.mark.parametrize("name", NAMES)
def test_r28_a_full_disk_is_an_error_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, room: int
) -> None:
    hide_files(monkeypatch)
    opened = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda path, mode: _FullDisk(io.FileIO(path, "w"), room) if mode == "wb" else opened(path, mode),
    )

    def write() -> None:
        with open_writer(tmp_path / name, SCHEMA) as writer:
            writer.write(batch([0, 1, 2] * 10_000))

    with pytest.raises(InputError, match="No space left"):
        write()
    assert list(tmp_path.iterdir()) == []


FULL = """
import resource, sys
from pathlib import Path
import pyarrow as pa
from budget_opt.errors import InputError
from budget_opt.tables.writing import open_writer
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
schema = pa.schema([("a", pa.int64())])
try:
    with open_writer(Path(sys.argv[1]), schema) as writer:
        for start in range(0, 500_000, 50_000):
            column = pa.array([i * i % 7919 for i in range(start, start + 50_000)])
            writer.write(pa.RecordBatch.from_arrays([column], schema=schema))
except InputError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits are of POSIX systems")
@pytest.mark.parametrize(
    ("name", "room"), [*((name, 5000) for name in NAMES), (NAMES[0], 0), (NAMES[-1], 0), (NAMES[0], 100_000)]
)
def test_r28_a_file_that_the_system_does_not_let_grow_is_an_error_and_nothing_is_left(
    tmp_path: Path, run_module: Callable[..., subprocess.CompletedProcess[str]], name: str, room: int
) -> None:
    (tmp_path / "out").mkdir()
    # -B: a compiled module that may not grow would be kept cut short, and break the next process
    done = run_module("-B", "-W", "error", "-c", FULL, str(tmp_path / "out" / name), str(room))
    assert "cannot be written (File too large)" in done.stdout
    assert done.stderr == ""
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ENDINGS)
def test_r28_a_target_that_cannot_be_written_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no folder"), open_writer(tmp_path / "no" / name, SCHEMA):
        pass
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="is a folder"), open_writer(tmp_path / name, SCHEMA, overwrite=True):
        pass


@pytest.mark.parametrize("name", ENDINGS)
def test_an_existing_file_is_kept_unless_it_may_be_overwritten(tmp_path: Path, way: str, name: str) -> None:
    target = tmp_path / name
    target.write_bytes(b"old")
    with pytest.raises(InputError, match="second release"), open_writer(target, SCHEMA):
        pass
    assert target.read_bytes() == b"old"
    with open_writer(target, SCHEMA, overwrite=True) as writer:
        writer.write(batch([0]))
        assert target.read_bytes() == b"old"
    assert open_file(target).names == ("a", "b")
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_to_nowhere_is_a_name_that_is_taken(tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="exists already"), open_writer(target, SCHEMA):
        pass
    assert list(tmp_path.iterdir()) == [target]


def no_links(*arguments: Any, **named: Any) -> None:
    raise OSError(errno.EPERM, "no links here")


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.parametrize("name", ["t.csv", "t"])
def test_a_file_that_appears_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, name: str, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    target = tmp_path / name

    def write() -> None:
        with open_writer(target, SCHEMA):
            target.write_bytes(b"of another process")

    with pytest.raises(InputError, match="exists already"):
        write()
    assert target.read_bytes() == b"of another process"
    assert list(tmp_path.iterdir()) == [target]
    target.unlink()
    with open_writer(target, SCHEMA):
        pass
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX systems")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_mode_of_a_file_is_what_the_umask_says(tmp_path: Path, way: str, mask: int) -> None:
    before = os.umask(mask)
    try:
        for name in ("t.csv", "t"):
            with open_writer(tmp_path / name, SCHEMA):
                pass
    finally:
        os.umask(before)

    def mode(name: str) -> int:
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    assert mode("t.csv") == mode("t/part-00000.parquet") == 0o666 & ~mask
    assert mode("t") == 0o777 & ~mask


def test_a_type_that_a_csv_file_cannot_hold_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    schema = pa.schema([("ok", pa.int8()), ("nested", pa.list_(pa.int8()))])
    with pytest.raises(DataError, match="'nested' of type list"), open_writer(tmp_path / "t.csv", schema):
        pass
    assert list(tmp_path.iterdir()) == []
    with open_writer(tmp_path / "t.parquet", schema) as writer:
        writer.write(pa.RecordBatch.from_pylist([{"ok": 1, "nested": [1]}], schema=schema))


def test_another_ending_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="must end in"), open_writer(tmp_path / "t.txt", SCHEMA):
        pass


def test_numbers_in_a_csv_file_come_back_as_they_were(tmp_path: Path) -> None:
    numbers = np.random.default_rng(1).normal(size=1000) * 10.0 ** np.arange(-500, 500).clip(-300, 300)
    schema = pa.schema({"x": pa.float64()})
    with open_writer(tmp_path / "t.csv", schema) as writer:
        writer.write(pa.RecordBatch.from_arrays([pa.array(numbers)], schema=schema))
    parts = CsvSource(tmp_path / "t.csv").batches(["x"])
    assert [float(row["x"]) for part in parts for row in part.to_pylist()] == numbers.tolist()
