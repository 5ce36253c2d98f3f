"""A release on a cluster is the release of one machine, cell for cell, however often a row is computed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import budget_opt as bo
from budget_opt.engines import spark as engine
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.runtime import require_java_runtime
from tests.engines.sources import Counted, FailsOnce
from tests.engines.survey import TOGETHER, allocation_for, rows_of, survey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
@pytest.mark.parametrize("text_ids", [False, True], ids=["integers", "texts"])
def test_r34_a_cluster_and_one_machine_agree_cell_for_cell_and_in_the_order_of_the_rows(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease, text_ids: bool
) -> None:
    table = survey(text_ids=text_ids)
    alone = bo.randomize(table, allocation, release=release, row_id="id")
    together = engine.randomize(spark.createDataFrame(table).repartition(5), allocation, release).toArrow()
    assert together.column_names == alone.column_names
    assert rows_of(together) == rows_of(alone)


@pytest.mark.slow
def test_r34_attributes_that_are_randomized_together_agree_with_one_machine_as_well(
    spark: SparkSession, release: KeyedRelease
) -> None:
    table, allocation = survey(), allocation_for(clusters=TOGETHER)
    alone = bo.randomize(table, allocation, release=release, row_id="id")
    together = engine.randomize(spark.createDataFrame(table).repartition(5), allocation, release).toArrow()
    assert together.column_names == alone.column_names
    assert rows_of(together) == rows_of(alone)


@pytest.mark.slow
def test_r34_a_dataframe_that_is_evaluated_twice_gives_the_same_reports(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease, tmp_path: Path
) -> None:
    source = Counted(tmp_path)
    released = engine.randomize(source.over(spark.createDataFrame(survey())), allocation, release)
    before = source.evaluations
    first = rows_of(released.toArrow())
    between = source.evaluations
    # a query of its own: Spark would take the rows of the first one from its shuffle files
    assert rows_of(released.select("*").toArrow()) == first
    assert before < between < source.evaluations


@pytest.mark.slow
def test_r34_a_task_that_is_tried_again_gives_the_same_reports(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease, tmp_path: Path
) -> None:
    source, table = FailsOnce(tmp_path), survey()
    released = engine.randomize(source.over(spark.createDataFrame(table).coalesce(1)), allocation, release)
    before = source.failures
    rows = rows_of(released.toArrow())
    assert rows == rows_of(bo.randomize(table, allocation, release=release, row_id="id"))
    assert 0 < before < source.failures


@pytest.mark.slow
def test_rows_whose_order_is_public_stay_where_they_are(spark: SparkSession, release: KeyedRelease) -> None:
    table, allocation = survey(), allocation_for(row_order="public")
    alone = bo.randomize(table, allocation, release=release, row_id="id")
    together = engine.randomize(spark.createDataFrame(table), allocation, release).toArrow()
    assert rows_of(together) == rows_of(alone)


@pytest.mark.slow
def test_r15_columns_have_plain_types_and_no_metadata(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    """Category 200 does not fit into the byte of its column, which gets the next type, whatever the cells."""
    told = spark.createDataFrame(survey(rows=60)).replace(200, 4).withMetadata("wave", {"from": "CANARY"})
    told = told.withColumn("size.of", told["`size.of`"].cast("byte"))
    released = engine.randomize(told, allocation, release)
    types = {field.name: (field.dataType.simpleString(), field.metadata) for field in released.schema}
    assert types == {
        "age": ("string", {}),
        "owns": ("boolean", {}),
        "wave": ("string", {}),
        "city": ("string", {}),
        "size.of": ("smallint", {}),
    }
    assert sum(row["size.of"] == 200 for row in released.collect()) > 0


@pytest.mark.slow
def test_r15_rows_stay_shuffled_where_spark_may_leave_out_a_sort(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    released = engine.randomize(spark.createDataFrame(survey(rows=20)), allocation, release)
    cities = spark.createDataFrame([("york", "north"), ("leeds", "north")], "city string, part string")
    plan = released.join(cities, "city")._jdf.queryExecution().optimizedPlan().toString()
    assert "Sort [" in plan


@pytest.mark.slow
def test_r34_tasks_that_spark_runs_twice_at_a_time_give_the_same_reports(
    run_module: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Speculative execution: in the check of the rows, in the sampling before the sort, in the release."""
    require_java_runtime()
    done = run_module("-W", "ignore", "-m", "tests.engines.speculating", str(tmp_path))
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["agree"]
    assert seen["stages"] >= 2
