"""Keyed releases of files: the cells of a row depend on its id and its values, not on the file: R34."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.errors import DataError, InputError
from budget_opt.randomizer import sorting
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
from budget_opt.randomizer.table import randomize_table
from budget_opt.tables import reading
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.reading import open_batches

WriteTable = Callable[..., Path]
ROWS = 300


@pytest.fixture(scope="module")
def split() -> Allocation:
    problem = bo.Problem(
        attributes=[bo.Attribute("smoker", categories=["no", "yes"]), bo.Attribute("income", categories=5)],
        moments=[bo.CrossMoment("smoker", "income")],
        total_epsilon=2.0,
        public=[{"name": "wave", "why": "the same for everybody"}],
        dropped=["id"],
    )
    return bo.uniform(problem)


@pytest.fixture(scope="module")
def people() -> pa.Table:
    random = np.random.default_rng(5)
    ids = random.permutation(10**6)[:ROWS]
    return pa.table(
        {
            "id": ids,
            "smoker": np.array(["no", "yes"])[random.integers(0, 2, ROWS)],
            "income": random.integers(0, 5, ROWS),
            "wave": [f"of {i}" for i in ids.tolist()],
        }
    )


def cells(released: Any) -> dict[str, tuple[str, str]]:
    """The reports of every person, by a public column that tells which one it is."""
    rows = [row for batch in open_batches(released) for row in batch.to_pylist()]
    assert set(rows[0]) == {"smoker", "income", "wave"}
    return {row["wave"]: (row["smoker"], str(row["income"])) for row in rows}


def in_order(released: Any) -> list[str]:
    return list(cells(released))


@pytest.mark.parametrize("row_order", ["shuffle", "public"])
@pytest.mark.parametrize("source", ["t.csv", "t.csv.gz", "t.parquet", "t"])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_r34_a_file_of_any_kind_is_released_as_the_table_in_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    split: Allocation,
    people: pa.Table,
    write_table: WriteTable,
    row_order: str,
    source: str,
    kind: pa.DataType,
) -> None:
    monkeypatch.setattr(sorting, "WAITING_BYTES", 2000)
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=40))
    release = KeyedRelease("a survey")
    table = people.set_column(0, "id", people["id"].cast(kind))
    keyed = KeyedRows(release, "id")
    expected = cells(randomize_table(people, split, row_order=row_order, keyed=keyed).table)
    options = FileOptions(row_order=row_order, release=release, row_id="id")
    path = write_table(table, tmp_path / source)
    randomize_file(path, split, tmp_path / "r.csv", options)
    assert list(cells(tmp_path / "r.csv").items()) == list(expected.items())


def test_r34_other_order_and_fewer_rows_change_no_report(
    tmp_path: Path, split: Allocation, people: pa.Table, write_table: WriteTable
) -> None:
    options = FileOptions(release=KeyedRelease("a survey"), row_id="id")
    reports = []
    for name, table in (("a", people), ("b", people.take(list(range(ROWS - 1, 99, -1))))):
        path = write_table(table, tmp_path / f"{name}.parquet")
        reports.append(cells(randomize_file(path, split, tmp_path / f"{name}.csv", options).table))
    assert reports[1].items() <= reports[0].items()
    assert len(reports[1]) == 200


def test_rows_by_position_are_those_of_the_table_in_memory(
    tmp_path: Path, split: Allocation, people: pa.Table, write_table: WriteTable
) -> None:
    release = KeyedRelease("a survey")
    path = write_table(people, tmp_path / "t.parquet")
    expected = cells(randomize_table(people, split, keyed=KeyedRows(release)).table)
    for target in ("r.parquet", "again.csv"):
        made = randomize_file(path, split, tmp_path / target, FileOptions(release=release))
        assert made.private
        assert list(cells(tmp_path / target).items()) == list(expected.items())


@pytest.mark.parametrize("row_order", ["shuffle", "public"])
@pytest.mark.parametrize("source", ["t.csv", "t.parquet"])
def test_ids_that_are_not_unique_are_told_by_row_and_never_by_value(
    tmp_path: Path, split: Allocation, people: pa.Table, write_table: WriteTable, source: str, row_order: str
) -> None:
    ids = people["id"].to_pylist()
    ids[250] = ids[7] = ids[9] = 271828182845
    path = write_table(people.set_column(0, "id", pa.array(ids)), tmp_path / source)
    options = FileOptions(row_order=row_order, release=KeyedRelease("a survey"), row_id="id")
    with pytest.raises(DataError, match=r"column 'id': .*rows 7, 9, 250") as caught:
        randomize_file(path, split, tmp_path / "r.csv", options)
    assert (caught.value.count, caught.value.rows) == (3, (7, 9, 250))
    assert "271828182845" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]


def test_missing_ids_are_told_with_all_other_faults(
    tmp_path: Path, split: Allocation, people: pa.Table, write_table: WriteTable
) -> None:
    ids, income = people["id"].to_pylist(), people["income"].to_pylist()
    ids[3], income[5] = None, 9
    table = people.set_column(0, "id", pa.array(ids)).set_column(2, "income", pa.array(income))
    path = write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"row 5") as caught:
        randomize_file(path, split, tmp_path / "r.csv", FileOptions(release=KeyedRelease("a"), row_id="id"))
    assert "column 'id': missing, and names no row: 1 cell (row 3)" in str(caught.value)
    assert str(path) in str(caught.value)


def test_an_id_column_must_be_there_and_dropped(
    tmp_path: Path, split: Allocation, people: pa.Table, write_table: WriteTable
) -> None:
    path = write_table(people, tmp_path / "t.parquet")
    with pytest.raises(DataError, match="must be listed under dropped"):
        randomize_file(
            path, split, tmp_path / "r.csv", FileOptions(release=KeyedRelease("a"), row_id="income")
        )
    with pytest.raises(InputError, match="row_id: names rows for a keyed release"):
        FileOptions(row_id="id")
