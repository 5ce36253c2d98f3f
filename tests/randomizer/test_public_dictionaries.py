"""A public column's dictionary may list what no row has; a released file says nothing of it: R15."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.randomizer.batches import BatchRandomizer
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.keyed_release import KeyedRelease

Survey = Callable[[int], pa.Table]


def with_an_unused_value(table: pa.Table) -> pa.Table:
    """The public column as a dictionary of a value that no row has, and the values that some rows have."""
    values = table["wave"].unique().drop_null()
    dictionary = pa.array(["CANARY nobody", *values.to_pylist()])
    places = {value: place for place, value in enumerate(dictionary.to_pylist())}
    indices = [None if value is None else places[value] for value in table["wave"].to_pylist()]
    column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), dictionary)
    return table.set_column(table.schema.get_field_index("wave"), "wave", column)


@pytest.mark.parametrize("row_order", ["public", "shuffle"])
def test_r15_a_file_has_no_public_value_that_no_row_has(
    tmp_path: Path, allocation: Allocation, survey: Survey, row_order: str
) -> None:
    table, source, target = survey(400), tmp_path / "t.parquet", tmp_path / "r.parquet"
    parquet.write_table(with_an_unused_value(table), source)
    kept = parquet.read_table(source, read_dictionary=["wave"])["wave"].chunk(0).dictionary.to_pylist()
    assert "CANARY nobody" in kept  # or nothing would be shown here
    randomize_file(source, allocation, target, FileOptions(row_order=row_order))
    assert parquet.read_table(target).schema.field("wave").type == pa.string()
    stored = parquet.read_table(target, read_dictionary=["wave"])["wave"]
    assert {value for chunk in stored.chunks for value in chunk.dictionary.to_pylist()} == set(
        table["wave"].unique().drop_null().to_pylist()
    )
    released = sorted(stored.to_pylist(), key=str)
    assert released == sorted(table["wave"].to_pylist(), key=str)


def test_r15_a_batch_has_no_public_value_that_no_row_has(allocation: Allocation, survey: Survey) -> None:
    table = with_an_unused_value(survey(400)).combine_chunks()
    randomizer = BatchRandomizer(table.schema, allocation, KeyedRelease("survey"), row_id="person")
    wave = randomizer(table.to_batches()[0])["wave"]
    assert wave.type == randomizer.schema.field("wave").type == pa.string()
    assert wave.to_pylist() == table["wave"].to_pylist()


def test_r15_a_table_has_no_public_value_that_no_row_has(allocation: Allocation, survey: Survey) -> None:
    released = bo.randomize(with_an_unused_value(survey(400)), allocation)["wave"]
    listed = {value for chunk in released.chunks for value in chunk.dictionary.to_pylist()}
    assert "CANARY nobody" not in listed
