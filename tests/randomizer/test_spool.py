"""What waits on disk is only what is released, is read back as it was, and vanishes: R15, R28, R35."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from budget_opt.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.randomizer import files, sorting
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.spool import Spool, unnamed_spool

Survey = Callable[[int], pa.Table]
WriteTable = Callable[..., Path]
SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])


def rows(*numbers: int) -> pa.RecordBatch:
    return pa.record_batch({"a": list(numbers), "b": [str(i) for i in numbers]}, schema=SCHEMA)


def read(spool: Spool, bucket: int) -> list[int]:
    return [row["a"] for batch in spool.read(bucket) for row in batch.to_pylist()]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go to the disk a few at a time, and buckets are split."""
    monkeypatch.setattr(sorting, "WAITING_BYTES", 2000)
    monkeypatch.setattr(sorting, "BUCKET_BYTES", 100)


def test_batches_come_back_by_bucket_in_the_order_of_their_arrival(tmp_path: Path) -> None:
    with unnamed_spool(SCHEMA, tmp_path) as spool:
        for bucket, numbers in ((3, (1, 2)), (0, (3,)), (3, ()), (3, (4,))):
            spool.append(bucket, rows(*numbers))
        assert (read(spool, 3), read(spool, 0), read(spool, 1)) == ([1, 2, 4], [3], [])
        assert (spool.rows, spool.size(1)) == (4, 0)
        assert list(tmp_path.iterdir()) == []


def test_a_slice_takes_no_other_row_along(tmp_path: Path) -> None:
    text = pa.record_batch({"a": [1, 2], "b": ["CANARY", "w"]}, schema=SCHEMA)
    with (tmp_path / "spool").open("w+b", buffering=0) as file:
        Spool(file, SCHEMA, "here").append(0, text.slice(1))
    assert b"CANARY" not in (tmp_path / "spool").read_bytes()


def test_a_spool_is_taken_over_up_to_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    with path.open("w+b", buffering=0) as file:
        spool = Spool(file, SCHEMA, str(path))
        spool.append(0, rows(1, 2))
        spool.append(5, rows(3))
        length = spool.length
        spool.append(5, rows(4))
        file.write(b"half a block")
    with path.open("r+b", buffering=0) as file:
        spool = Spool(file, SCHEMA, str(path), length=length)
        assert (spool.rows, spool.length, path.stat().st_size) == (3, length, length)
        spool.append(5, rows(6))
        assert (read(spool, 0), read(spool, 5)) == ([1, 2], [3, 6])


@pytest.mark.parametrize("wrong", [-1, 1, 10_000])
def test_a_spool_that_is_not_as_its_checkpoint_says_is_refused(tmp_path: Path, wrong: int) -> None:
    path = tmp_path / "spool"
    with path.open("w+b", buffering=0) as file:
        spool = Spool(file, SCHEMA, str(path))
        spool.append(0, rows(1))
        spool.append(0, rows(2))
        length = spool.length
    with path.open("r+b", buffering=0) as file, pytest.raises(InputError, match="damaged"):
        Spool(file, SCHEMA, str(path), length=length + wrong)
    assert path.stat().st_size == length


def test_a_changed_byte_of_a_spool_is_noticed_and_never_read(tmp_path: Path) -> None:
    """Arrow would take it for another row, or end the process."""
    path = tmp_path / "spool"
    with path.open("w+b", buffering=0) as file:
        spool = Spool(file, SCHEMA, str(path))
        spool.append(3, rows(1, 2))
        spool.append(3, rows(4))
        length = spool.length
    whole = path.read_bytes()
    for at in range(length):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with path.open("r+b", buffering=0) as file, pytest.raises(InputError, match=r"damaged.*--resume"):
            read(Spool(file, SCHEMA, str(path), length=length), 3)


class FullDisk(io.FileIO):
    """Has room for some bytes, and takes few at a time."""

    def __init__(self, path: Path, room: int) -> None:
        super().__init__(path, "w+")
        self._room = room

    def write(self, content: Any) -> int:
        if not self._room:
            raise OSError(28, os.strerror(28))
        taken = super().write(memoryview(content)[: min(100, self._room)])
        self._room -= taken
        return taken


@pytest.mark.parametrize("room", [0, 10, 1000])
def test_r28_a_full_disk_is_an_error_that_says_so(tmp_path: Path, room: int) -> None:
    with FullDisk(tmp_path / "spool", room) as file:
        spool = Spool(file, SCHEMA, "the folder")
        batch = rows(*range(1000))
        with pytest.raises(InputError, match=r"the folder: .*No space left on device.* has space") as caught:
            spool.append(0, batch)
    assert caught.value.__context__ is None


def test_blocks_are_whole_where_the_system_takes_few_bytes_at_a_time(tmp_path: Path) -> None:
    with FullDisk(tmp_path / "spool", 10**9) as file:
        spool = Spool(file, SCHEMA, "the folder")
        spool.append(0, rows(*range(1000)))
        spool.append(0, rows(7))
        assert read(spool, 0) == [*range(1000), 7]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("target", ["r.csv", "r.parquet", "r"])
def test_r15_r35_no_value_of_an_original_touches_the_disk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    write_table: WriteTable,
    target: str,
) -> None:
    table = survey(600)
    wave = pa.DictionaryArray.from_arrays(pa.array([1, 1] * 300), ["CANARY wave", "public wave"])
    path = write_table(table.set_column(3, "wave", wave), tmp_path / "t.parquet")
    assert path.read_bytes().count(b"CANARY") > 3
    seen = bytearray()

    @contextmanager
    def watched(schema: pa.Schema, folder: Path) -> Iterator[Spool]:
        with unnamed_spool(schema, folder) as spool:
            yield spool
            spool._file.seek(0)
            seen.extend(spool._file.read())

    monkeypatch.setattr(files, "unnamed_spool", watched)
    original: list[Any] = []
    options = FileOptions(on_batch=lambda codes, reports: original.append(codes))
    randomize_file(path, allocation, tmp_path / target, options)
    assert seen.count(b"public wave") >= 600
    assert b"CANARY" not in seen
    for codes in original:
        assert all(column.tobytes() not in seen for column in codes.values())
    out = tmp_path / target
    for file in sorted(out.iterdir()) if out.is_dir() else [out]:
        assert b"CANARY" not in file.read_bytes()


@pytest.mark.usefixtures("small")
def test_r15_what_waits_is_codes_public_columns_and_keys(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    write_table: WriteTable,
) -> None:
    schemas: list[pa.Schema] = []

    def watched(schema: pa.Schema, folder: Path) -> Any:
        schemas.append(schema)
        return unnamed_spool(schema, folder)

    monkeypatch.setattr(files, "unnamed_spool", watched)
    path = write_table(survey(600), tmp_path / "t.parquet")
    randomize_file(path, allocation, tmp_path / "r.parquet")
    assert schemas[0].names == ["low", "high", "age", "owns", "wave", "city", "size"]
    types = [pa.uint64()] * 2 + [pa.uint8()] * 2 + [pa.string()] + [pa.uint8()] * 2
    assert schemas[0].types == types
    assert len(schemas) > 1
    assert len(set(schemas)) == 1


KILLED = """
import functools, os, signal, sys
from pathlib import Path
from budget_opt.allocation import Allocation
from budget_opt.randomizer import sorting
from budget_opt.randomizer.files import FileOptions, randomize_file

from budget_opt.tables import reading
from budget_opt.tables.parquet_files import ParquetSource

sorting.WAITING_BYTES = 20_000
reading.ParquetSource = functools.partial(ParquetSource, batch_rows=500)
source, allocation, *cases = sys.argv[1:]
allocation = Allocation.read(allocation)
calls = 0

def kill(*progress):
    os.kill(os.getpid(), signal.SIGKILL)

def release(target, moment, order):
    def progress(rows, share):
        global calls
        calls += 1
        if calls == (3 if moment == "reading" else 100):
            assert share < 1
            kill()

    randomize_file(source, allocation, target, FileOptions(
        row_order=order,
        progress=None if moment == "whole" else progress,
        before_commit=kill if moment == "whole" else None,
    ))

# the children of one process that has nothing but the modules loaded: loading takes longer than a release
for case in cases:
    if (child := os.fork()) == 0:
        release(*case.split(","))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no files without a name")
def test_r28_a_kill_leaves_nothing(
    run_module: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    allocation: Allocation,
    survey: Survey,
) -> None:
    path, stated = tmp_path / "t.parquet", tmp_path / "allocation.json"
    parquet.write_table(survey(3000), path)
    allocation.write(stated)
    cases = (
        "r.csv.gz,reading,shuffle",
        "r.parquet,writing,shuffle",
        "r,whole,shuffle",
        "r.parquet,reading,public",
    )
    done = run_module("-c", KILLED, str(path), str(stated), *cases)
    assert done.stdout.split() == ["-9"] * len(cases), done.stderr
    assert sorted(tmp_path.iterdir()) == [stated, path]
