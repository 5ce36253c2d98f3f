"""A release with checkpoints ends with the same bytes wherever it was interrupted, and skips what is done."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from budget_opt.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.randomizer import sorting
from budget_opt.randomizer.files import FileOptions, SavedSpool, randomize_file
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.tables import reading
from budget_opt.tables.parquet_files import ParquetSource

Survey = Callable[[int], pa.Table]
WriteTable = Callable[..., Path]


class Kept:
    """Checkpoints in a file, and of every save what it said."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()
        self.saved = [(0, 0)]

    def open_spool(self) -> SavedSpool:
        rows, length = self.saved[-1]
        self.file = io.FileIO(str(self._path), "r+")
        return SavedSpool(self.file, length, rows)

    def save(self, rows: int, length: int) -> None:
        assert self._path.stat().st_size == length
        self.saved.append((rows, length))

    def all_randomized(self) -> None:
        """Nothing more is saved."""

    def close(self) -> None:
        self.file.close()


class StopError(Exception):
    """Interrupts a release."""


@pytest.mark.parametrize("row_order", ["shuffle", "public"])
@pytest.mark.parametrize("target", ["r.csv", "r.parquet"])
def test_an_interrupted_release_goes_on_to_the_same_bytes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    write_table: WriteTable,
    row_order: str,
    target: str,
) -> None:
    monkeypatch.setattr(sorting, "WAITING_BYTES", 3000)
    monkeypatch.setattr(sorting, "BUCKET_BYTES", 500)
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=70))
    path = write_table(survey(1000), tmp_path / "t.parquet", row_group_size=300)
    release = KeyedRelease("a survey")
    make = functools.partial(FileOptions, row_order=row_order, release=release, overwrite=True)
    randomize_file(path, allocation, tmp_path / target, make())
    undisturbed = (tmp_path / target).read_bytes()
    (tmp_path / target).unlink()

    kept = Kept(tmp_path / "spool")
    done: list[int] = []
    for stop in (0, 0, 3, 1, 0, 5, 8):
        steps = iter(range(stop + 1))

        def progress(rows: int, share: float, steps: Iterator[int] = steps, stop: int = stop) -> None:
            if next(steps) == stop:
                raise StopError

        with closing(kept), pytest.raises(StopError):
            randomize_file(path, allocation, tmp_path / target, make(checkpoints=kept, progress=progress))
        assert not (tmp_path / target).exists()
        done.append(kept.saved[-1][0])
    assert done == sorted(done)
    assert done[-1] > 800
    handed: list[int] = []
    options = make(checkpoints=kept, on_batch=lambda codes, reports: handed.append(codes["size"].size))
    with closing(kept):
        made = randomize_file(path, allocation, tmp_path / target, options)
    assert (tmp_path / target).read_bytes() == undisturbed
    assert (made.rows, made.private) == (1000, True)
    assert sum(handed) == 1000 - done[-1]


def test_checkpoints_that_do_not_fit_their_spool_are_refused(
    tmp_path: Path, allocation: Allocation, survey: Survey, write_table: WriteTable
) -> None:
    path = write_table(survey(10), tmp_path / "t.parquet")
    kept = Kept(tmp_path / "spool")
    kept.saved.append((3, 0))
    options = FileOptions(release=KeyedRelease("a survey"), checkpoints=kept)
    with closing(kept), pytest.raises(InputError, match="damaged"):
        randomize_file(path, allocation, tmp_path / "r.csv", options)
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize("named", [{}, {"row_id": "person"}])
def test_checkpoints_need_rows_that_are_named_by_position(tmp_path: Path, named: dict[str, Any]) -> None:
    release = KeyedRelease("a survey") if named else None
    with pytest.raises(InputError, match="by position"):
        FileOptions(release=release, checkpoints=Kept(tmp_path / "spool"), **named)
