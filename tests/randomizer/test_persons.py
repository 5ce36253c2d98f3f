"""A person has no more records than the problem says, or nothing is released; no id is ever told."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.errors import DataError
from budget_opt.model.moments.moment import Unit
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.persons import require_few
from budget_opt.randomizer.row_names import RowNames
from tests.randomizer.keyed_cells import names_of

IDS = st.integers(-3, 8) | st.sampled_from([2**63, 2**64 - 1])


def unit(most: int) -> Unit:
    return Unit(of="person", id="person", max_rows=most)


def in_parts(names: RowNames, size: int) -> Callable[[], Iterator[tuple[int, RowNames]]]:
    return lambda: ((start, names[start : start + size]) for start in range(0, max(1, len(names)), size))


@given(
    values=st.lists(IDS, max_size=60),
    most=st.integers(1, 6),
    size=st.integers(1, 9),
    room=st.integers(2, 30),
    ordered=st.booleans(),
)
def test_persons_with_too_many_records_are_counted_whatever_the_batches_and_the_memory(
    values: list[int], most: int, size: int, room: int, ordered: bool
) -> None:
    values = sorted(values) if ordered else values
    times = Counter(values)
    crowded = [row for row, value in enumerate(values) if times[value] > most]
    rows = in_parts(names_of(*values), size)
    if not crowded:
        require_few(rows, unit(most), room=room)
        return
    with pytest.raises(DataError) as told:
        require_few(rows, unit(most), room=room)
    assert told.value.column == "person"
    assert told.value.count == sum(count > most for count in times.values())
    assert told.value.rows == tuple(crowded[:5])


def test_records_of_one_person_are_counted_across_the_moments_when_the_memory_is_full() -> None:
    """Eight fit: the second person has two of its four records among them, beside one who has too many."""
    rows = in_parts(names_of(9, 9, 9, 9, 2, 2, 5, 6, 2, 2, 7), 4)
    with pytest.raises(DataError, match="2 persons have more than the 3 records") as told:
        require_few(rows, unit(3), room=8)
    assert told.value.rows == (0, 1, 2, 3, 4)


def test_memory_does_not_grow_with_the_rows_where_persons_have_many() -> None:
    thousand = names_of(*range(1000))

    def rows() -> Iterator[tuple[int, RowNames]]:
        for part in range(300):
            names = thousand.copy()
            names[:, 1] = (part // 3 * 7919) % 100
            yield 1000 * part, names

    tracemalloc.start()
    require_few(rows, unit(3), room=2**14)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20  # 128 KiB of marks; all of them would take 2.4 MB


@pytest.fixture(scope="module")
def split() -> Allocation:
    """At most two records each."""
    return bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute("smoker", categories=2), bo.Attribute("income", categories=5)],
            moments=[bo.CrossMoment("smoker", "income")],
            total_epsilon=2.0,
            unit={"of": "person", "id": "person", "max_rows": 2},
            dropped=["person"],
        )
    )


def people(persons: list[Any]) -> pa.Table:
    rows = np.arange(len(persons))
    return pa.table({"smoker": rows % 2, "person": pa.array(persons), "income": rows % 5})


def on_disk(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".csv":
        csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=3)
    else:
        path.mkdir()
        parquet.write_table(table.slice(0, 4), path / "a.parquet")
        parquet.write_table(table.slice(4), path / "b.parquet")
    return path


def release(table: pa.Table, split: Allocation, folder: Path | None) -> object:
    """In memory, or through a file in a folder."""
    if folder is None:
        return bo.randomize(table, split)
    return randomize_file(on_disk(table, folder / "t.parquet"), split, folder / "r.csv")


FITTING = ["CANARY-a", "CANARY-b", "CANARY-a", "c", "d", "CANARY-b", "e"]
CROWDED = [*FITTING, "CANARY-b", "c", "CANARY-a"]


@pytest.mark.parametrize("kind", [lambda table: table, lambda table: table.to_pandas(), pl.from_arrow])
def test_a_table_in_memory_is_released_only_where_every_person_has_few_records(
    split: Allocation, kind: Callable[[pa.Table], Any]
) -> None:
    released = bo.randomize(kind(people(FITTING)), split)
    names = released.column_names if isinstance(released, pa.Table) else list(released.columns)
    assert names == ["smoker", "income"]
    with pytest.raises(DataError, match=r"'person': 2 persons have more than the 2 records .*allows") as told:
        bo.randomize(kind(people(CROWDED)), split)
    assert "CANARY" not in str(told.value)
    assert (told.value.column, told.value.count, told.value.rows) == ("person", 2, (0, 1, 2, 5, 7))


@pytest.mark.parametrize("source", ["t.csv", "t.parquet", "t"])
@pytest.mark.parametrize("row_order", ["shuffle", "public"])
@pytest.mark.parametrize("keyed", [False, True])
def test_a_file_is_released_only_where_every_person_has_few_records_and_else_leaves_nothing(
    split: Allocation,
    tmp_path: Path,
    source: str,
    row_order: str,
    keyed: bool,
) -> None:
    options = FileOptions(row_order=row_order, release=bo.KeyedRelease("survey") if keyed else None)
    (tmp_path / "good").mkdir()
    good = randomize_file(
        on_disk(people(FITTING), tmp_path / source), split, tmp_path / "good" / "r.csv", options
    )
    assert good.rows == len(FITTING)
    (tmp_path / "bad").mkdir()
    crowded = on_disk(people(CROWDED), tmp_path / f"more{source}")
    with pytest.raises(DataError, match="2 persons have more than the 2 records") as told:
        randomize_file(crowded, split, tmp_path / "bad" / "r.csv", options)
    assert "CANARY" not in str(told.value)
    assert told.value.rows == (0, 1, 2, 5, 7)
    assert list((tmp_path / "bad").iterdir()) == []


@pytest.mark.parametrize("in_memory", [True, False])
def test_r11_a_record_of_nobody_is_refused_with_its_row(
    split: Allocation, tmp_path: Path, in_memory: bool
) -> None:
    table = people([1, 2, None, 4])
    with pytest.raises(DataError, match=r"'person': missing, and tells no person: 1 cell \(row 2\)"):
        release(table, split, None if in_memory else tmp_path)


def test_ids_that_are_not_equal_or_else_beyond_doubt_are_refused(split: Allocation) -> None:
    with pytest.raises(DataError, match="tells whose record it is must be integers or text"):
        bo.randomize(people([1.0, 2.0]), split)


@pytest.mark.parametrize("in_memory", [True, False])
def test_r16_a_table_that_does_not_tell_persons_apart_is_refused(
    split: Allocation, tmp_path: Path, in_memory: bool
) -> None:
    """Left out before: nobody could see then what the guarantee for persons counts on."""
    table = people(FITTING).drop_columns(["person"])
    with pytest.raises(
        DataError, match=r"'person': tells whose record it is, and the table has no such column"
    ):
        release(table, split, None if in_memory else tmp_path)
    assert not (tmp_path / "r.csv").exists()


def test_a_pandas_table_of_records_needs_no_ids() -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute("smoker", categories=2), bo.Attribute("income", categories=5)],
        moments=[bo.CrossMoment("smoker", "income")],
        total_epsilon=2.0,
        dropped=["person"],
    )
    table = pd.DataFrame({"smoker": [0, 1], "income": [3, 3], "person": [1, 1]})
    assert len(bo.randomize(table, bo.uniform(problem))) == 2
