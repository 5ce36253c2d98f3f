"""A cluster counts the records of every person before it releases any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.engines import spark as engine
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.survey import allocation_for, rows_of, survey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def split() -> bo.Allocation:
    """Two records each; the column of persons is dropped, and another one than that which names the rows."""
    question = allocation_for().question
    return bo.uniform(question.with_fields(unit={"of": "person", "id": "note", "max_rows": 2}))


def with_persons(persons: list[str | None]) -> pa.Table:
    table = survey(rows=len(persons))
    return table.set_column(table.column_names.index("note"), "note", pa.array(persons, pa.string()))


@pytest.mark.slow
def test_persons_with_few_records_are_released_as_on_one_machine(
    spark: SparkSession, split: bo.Allocation, release: KeyedRelease
) -> None:
    table = with_persons([f"CANARY-{i // 2}" for i in range(40)])
    released = engine.randomize(spark.createDataFrame(table).repartition(3), split, release).toArrow()
    assert rows_of(released) == rows_of(bo.randomize(table, split, release=release, row_id="id"))


@pytest.mark.slow
def test_persons_with_too_many_records_are_counted_and_not_named(
    spark: SparkSession, split: bo.Allocation, release: KeyedRelease
) -> None:
    table = with_persons([f"CANARY-{max(i // 2, 2)}" for i in range(20)])
    for dataframe in (spark.createDataFrame(table), spark.createDataFrame(table).repartition(4)):
        with pytest.raises(bo.DataError, match="'note': 1 person has more than the 2 records") as told:
            engine.randomize(dataframe, split, release)
        assert told.value.count == 1
        assert "CANARY" not in str(told.value)


@pytest.mark.slow
def test_r11_a_record_of_nobody_and_a_table_without_persons_are_refused(
    spark: SparkSession, split: bo.Allocation, release: KeyedRelease
) -> None:
    table = with_persons(["CANARY-1", None, "CANARY-2", None])
    with pytest.raises(bo.DataError, match="'note': is missing, and tells no person, in 2 rows"):
        engine.randomize(spark.createDataFrame(table), split, release)
    with pytest.raises(bo.DataError, match="'note': tells whose record it is"):
        engine.randomize(spark.createDataFrame(table).drop("note"), split, release)
