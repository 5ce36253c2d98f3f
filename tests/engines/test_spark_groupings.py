"""Merged categories on a cluster: the release of one machine, with no declared label in it. R15, R34."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.engines import spark as engine
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.survey import rows_of
from tests.randomizer.test_groupings import LABELS, allocation, originals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_r15_r34_a_cluster_releases_merged_categories_as_one_machine_does(
    spark: SparkSession, release: KeyedRelease
) -> None:
    table = pa.table(originals())
    alone = bo.randomize(table, allocation(), release=release, row_id="id")
    together = engine.randomize(spark.createDataFrame(table), allocation(), release, row_id="id").toArrow()
    assert rows_of(together) == rows_of(alone)
    assert {name: set(together[name].to_pylist()) for name in LABELS} == LABELS
