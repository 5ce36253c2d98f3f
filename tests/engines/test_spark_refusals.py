"""What a cluster does not release, and that nothing that it says about it quotes a cell or an id."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.engines import spark as engine
from budget_opt.engines.spark.checking import not_evaluated
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.sources import Changes
from tests.engines.survey import survey
from tests.error_chain import everything_said

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.engines.conftest import Cluster

CANARY = "CANARY"


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def refusal(dataframe: Any, allocation: bo.Allocation, release: KeyedRelease) -> bo.DataError:
    with pytest.raises(bo.DataError) as told:
        engine.randomize(dataframe, allocation, release)
    assert CANARY not in everything_said(told.value)
    return told.value


@pytest.mark.slow
def test_ids_that_stand_twice_are_refused_with_the_reason_and_without_an_id(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    table = survey(rows=100)
    ids = np.arange(900_000, 900_100)
    ids[[10, 20, 30]], ids[99] = ids[0], ids[1]
    error = refusal(spark.createDataFrame(with_column(table, "id", pa.array(ids))), allocation, release)
    assert (error.column, error.count) == ("id", 6)
    assert "2 ids stand in more than one row, 6 rows in all" in str(error)
    assert "different reports would reveal that the cells differ" in str(error)
    assert "9000" not in str(error)


@pytest.mark.slow
def test_r10_all_faulty_cells_and_missing_ids_are_told_at_the_call(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    table = survey(rows=100, text_ids=True)
    ids = [None if row < 2 else f"{CANARY}-{row}" for row in range(100)]
    table = with_column(table, "id", pa.array(ids))
    table = with_column(table, "size.of", pa.array([3] * 4 + [1] * 96, pa.int16()))
    table = with_column(table, "age", pa.array([3.0, np.inf, 7.0] + [50.0] * 97))
    error = refusal(spark.createDataFrame(table), allocation, release)
    assert "column 'size.of': none of the 3 declared categories" in str(error)
    assert ": 4 cells. Correct them" in str(error)
    assert "column 'age': outside the bins from 18.0 to inf: 2 cells" in str(error)
    assert "column 'age': not a finite plain decimal number: 1 cell." in str(error)
    assert "column 'id': missing, and names no row: 2 cells" in str(error)
    assert "row 0" not in str(error)


@pytest.mark.slow
def test_a_column_of_another_type_is_told_at_the_call(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    table = with_column(survey(rows=10), "owns", pa.array([CANARY] * 10))
    assert refusal(spark.createDataFrame(table), allocation, release).column == "owns"


@pytest.mark.slow
def test_r16_a_column_without_a_budget_is_refused(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    dataframe = spark.createDataFrame(survey(rows=10)).selectExpr("*", "1 AS `extra.one`")
    assert refusal(dataframe, allocation, release).column == "extra.one"


@pytest.mark.slow
def test_r35_a_cell_that_has_gone_wrong_since_the_check_is_not_quoted_by_error_or_log(
    cluster: Cluster, release: KeyedRelease, tmp_path: Path
) -> None:
    """The error crosses from Python to Java and back with its traceback, and every worker logs it."""
    table = survey(rows=20)
    source = Changes(tmp_path, table.column_names.index("city"), CANARY)
    strict = strict_about_cities()
    table = with_column(table, "city", pa.array(["york"] * 20))
    released = engine.randomize(source.over(cluster.session.createDataFrame(table)), strict, release)
    source.change()
    with pytest.raises(Exception, match="column 'city': none of the 3 declared categories") as told:
        released.collect()
    assert CANARY not in everything_said(told.value)
    logs = [path for path in cluster.work.rglob("*") if path.is_file()]
    assert any(b"DataError" in path.read_bytes() for path in logs)
    assert not any(CANARY.encode() in path.read_bytes() for path in logs)


@pytest.mark.slow
def test_r35_what_spark_says_of_a_fault_in_the_plan_is_not_repeated(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    dataframe = spark.createDataFrame(survey(rows=10).drop(["size.of"]))
    broken = dataframe.repartition(2).selectExpr("*", "CAST(note AS INT) AS `size.of`")
    error = refusal(broken, allocation, release)
    assert "Spark cannot compute it (" in str(error)
    assert "CAST_INVALID_INPUT" in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("made", ["monotonically_increasing_id()", "CAST(rand() * 1e15 AS BIGINT)", "uuid()"])
def test_ids_that_spark_makes_anew_every_time_are_refused(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease, made: str
) -> None:
    dataframe = spark.createDataFrame(survey(rows=10).drop(["id"])).selectExpr("*", f"{made} AS id")
    assert "a second noisy copy" in str(refusal(dataframe, allocation, release))


@pytest.mark.slow
def test_a_stream_is_refused(spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease) -> None:
    with pytest.raises(bo.InputError, match="is a stream"):
        engine.randomize(spark.readStream.format("rate").load(), allocation, release)


def test_a_table_of_this_machine_is_refused_with_the_way_out(
    allocation: bo.Allocation, release: KeyedRelease
) -> None:
    with pytest.raises(bo.InputError, match=r"is a Table of pyarrow, which is no Spark.*spark\.createData"):
        engine.randomize(survey(rows=5), allocation, release)
    with pytest.raises(bo.InputError, match="is a DataFrame of pandas, which is no Spark DataFrame"):
        engine.randomize(survey(rows=5).to_pandas(), allocation, release)
    with pytest.raises(bo.InputError, match="is a str, which is no Spark DataFrame"):
        engine.randomize("survey.csv", allocation, release)


@pytest.mark.slow
def test_a_dataframe_of_spark_for_one_machine_is_refused_with_the_way_out(
    spark: SparkSession, allocation: bo.Allocation
) -> None:
    with pytest.raises(
        bo.DataError, match=r"is a DataFrame of pyspark.*use budget_opt\.engines\.spark\.randomize"
    ):
        bo.randomize(spark.createDataFrame(survey(rows=5)), allocation)


@pytest.mark.slow
def test_who_forgot_to_name_the_column_of_ids_is_told_which_it_is(
    spark: SparkSession, allocation: bo.Allocation, release: KeyedRelease
) -> None:
    error = refusal(spark.createDataFrame(survey(rows=5).drop(["id"])), allocation, release)
    assert "column 'id': is to name the rows" in str(error)
    assert str(error).endswith('(row_id is "id" unless you name another.)')


def test_workers_without_budget_opt_are_told_which_python_has_it() -> None:
    error = not_evaluated(RuntimeError("CANARY ModuleNotFoundError: No module named 'budget_opt'"))
    assert f"let the workers use this Python: PYSPARK_PYTHON={sys.executable}" in str(error)
    assert CANARY not in str(error)


def strict_about_cities() -> bo.Allocation:
    return bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute("city", categories=["york", "leeds", "hull"])],
            moments=[bo.CrossMoment("city")],
            total_epsilon=1.0,
            dropped=["id", "note", "age", "owns", "size.of", "wave"],
        )
    )
