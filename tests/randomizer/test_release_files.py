"""The release of a file is the same for every format and batch size: R3, R12."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from budget_opt.allocation import Allocation, uniform
from budget_opt.model.problem import Problem
from budget_opt.randomizer import held
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.table import randomize_table
from budget_opt.randomizer.words import SeededWords
from budget_opt.tables import reading
from budget_opt.tables.csv_files import CsvSource
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.reading import open_file, read_codes

Survey = Callable[[int], pa.Table]
WriteTable = Callable[..., Path]
SOURCES = ("t.csv", "t.csv.gz", "t.parquet", "t")
TARGETS = ("r.csv", "r.csv.gz", "r.parquet", "r")


def bytes_of(path: Path) -> bytes:
    """The bytes of a file, or of all files in a folder in the order of their names."""
    return b"".join(map(Path.read_bytes, sorted(path.iterdir()))) if path.is_dir() else path.read_bytes()


def contents(table: Any, allocation: Allocation) -> dict[str, list[Any]]:
    """The codes of the randomized columns and the values of the public one."""
    domains = {attribute.name: attribute.domain for attribute in allocation.attributes}
    found: dict[str, list[Any]] = {
        name: codes.tolist() for name, codes in read_codes(table, domains, released=True).items()
    }
    if isinstance(table, Path):
        parts = [part.column("wave").to_pylist() for part in open_file(table).batches(["wave"])]
        return found | {"wave": [value for part in parts for value in part]}
    return found | {"wave": table["wave"].to_pylist()}


@pytest.mark.parametrize("row_order", ["public", "shuffle"])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", TARGETS)
def test_the_release_is_the_same_for_files_of_every_kind_and_tables_in_memory(
    tmp_path: Path,
    allocation: Allocation,
    survey: Survey,
    source: str,
    target: str,
    row_order: str,
    write_table: WriteTable,
) -> None:
    table = survey(700)
    expected = randomize_table(table, allocation, row_order=row_order, words=SeededWords(3))
    path = write_table(table, tmp_path / source)
    release = randomize_file(
        path, allocation, tmp_path / target, FileOptions(row_order=row_order), words=SeededWords(3)
    )
    assert contents(release.table, allocation) == contents(expected.table, allocation)
    assert release.table == tmp_path / target
    assert (release.columns, release.rows, release.row_order, release.private) == (
        expected.columns,
        700,
        row_order,
        False,
    )


@pytest.mark.parametrize("row_order", ["public", "shuffle"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_released_bytes_do_not_depend_on_the_batches(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    target: str,
    row_order: str,
    write_table: WriteTable,
) -> None:
    table = survey(60)
    released = set()
    for step in (1, 7, 59, 60, 5000):
        monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=step))
        monkeypatch.setattr(held, "BATCH_ROWS", step)
        path = write_table(table, tmp_path / f"{step}.parquet", row_group_size=max(1, step // 2))
        out = tmp_path / f"{step}{target}"
        randomize_file(path, allocation, out, FileOptions(row_order=row_order), words=SeededWords(3))
        released.add(bytes_of(out))
    assert len(released) == 1


@pytest.mark.parametrize("target", TARGETS)
def test_the_released_bytes_do_not_depend_on_the_blocks_of_a_csv_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    target: str,
    write_table: WriteTable,
) -> None:
    path = write_table(survey(200), tmp_path / "t.csv")
    released = set()
    for block in (128, 1000, 10**6):
        monkeypatch.setattr(reading, "CsvSource", functools.partial(CsvSource, block_bytes=block))
        out = tmp_path / f"{block}{target}"
        randomize_file(path, allocation, out, words=SeededWords(3))
        released.add(bytes_of(out))
    assert len(released) == 1


@pytest.mark.parametrize("source", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("count", [0, 1, 299, 300, 301, 607])
def test_r3_under_zero_words_every_cell_changes_to_the_last_row_of_the_last_batch(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    zero_words,
    source: str,
    count: int,
    write_table: WriteTable,
) -> None:
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=300))
    monkeypatch.setattr(reading, "CsvSource", functools.partial(CsvSource, block_bytes=4000))
    path = write_table(survey(count), tmp_path / source)
    before = read_codes(path, {a.name: a.domain for a in allocation.attributes})
    for row_order in ("public", "shuffle"):
        out = tmp_path / f"{row_order}.parquet"
        release = randomize_file(path, allocation, out, FileOptions(row_order=row_order), words=zero_words)
        after = contents(out, allocation)
        assert release.rows == count
        for attribute in allocation.attributes:  # the zero words sort no row
            assert (
                after[attribute.name]
                == ((before[attribute.name].astype(int) + 1) % attribute.cardinality).tolist()
            )


def test_progress_and_batches_are_handed_over(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allocation: Allocation,
    survey: Survey,
    write_table: WriteTable,
) -> None:
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=100))
    path = write_table(survey(250), tmp_path / "t.parquet")
    steps: list[tuple[int, float]] = []
    pairs: list[tuple[Any, Any]] = []
    options = FileOptions(
        progress=lambda *step: steps.append(step), on_batch=lambda *pair: pairs.append(pair)
    )
    randomize_file(path, allocation, tmp_path / "r.parquet", options, words=SeededWords(3))
    assert steps == [(100, 0.4), (200, 0.8), (250, 1.0), (250, 1.0)]  # read; written, all at once
    kept = randomize_table(survey(250), allocation, row_order="public", words=SeededWords(3)).table
    before = read_codes(path, {a.name: a.domain for a in allocation.attributes})
    after = contents(kept, allocation)
    for name, codes in before.items():
        assert np.concatenate([original[name] for original, _ in pairs]).tolist() == codes.tolist()
        assert np.concatenate([released[name] for _, released in pairs]).tolist() == after[name]


def test_r12_a_file_has_the_same_types_whatever_its_rows(
    tmp_path: Path, allocation: Allocation, survey: Survey, write_table: WriteTable
) -> None:
    schemas = []
    for count in (0, 1, 500):
        path = write_table(survey(count), tmp_path / f"{count}.parquet")
        randomize_file(path, allocation, tmp_path / f"r{count}.parquet")
        schemas.append(parquet.read_schema(tmp_path / f"r{count}.parquet"))
    assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)
    assert pa.types.is_dictionary(schemas[0].field("city").type)


def test_public_columns_of_a_csv_file_keep_their_text(tmp_path: Path, problem: Problem) -> None:
    allocation = uniform(problem.with_fields(row_order="public"))
    cells = ["01", "", None, " a ", "1e5", "NaN", 'q"', "x,\r\ny"]
    lines = ["person,age,owns,wave,city,size"]
    quoted = ["01", '""', "", " a ", "1e5", "NaN", '"q"""', '"x,\r\ny"']
    lines += [f"p,20,true,{cell},york,1" for cell in quoted]
    (tmp_path / "t.csv").write_bytes("\r\n".join(lines).encode())
    for target in TARGETS:
        randomize_file(tmp_path / "t.csv", allocation, tmp_path / target)
        assert contents(tmp_path / target, allocation)["wave"] == cells
