"""A Spark cluster of two worker processes on this machine, and a survey that is released on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import budget_opt as bo
from budget_opt.engines.spark import local_session
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.runtime import SHORT_LIVED, require_java_runtime
from tests.engines.survey import allocation_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Cluster:
    """A session, and the folder where its workers keep what they write, logs included."""

    session: SparkSession
    work: Path


def _home_of_its_own(folder: Path) -> Path:
    """Spark's home, of links: workers write into the folder `work` of it, which is not to be the package."""
    import pyspark

    for part in Path(pyspark.__path__[0]).iterdir():
        if part.name != "work":
            (folder / part.name).symlink_to(part)
    return folder


@pytest.fixture(scope="session")
def cluster(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A driver and two workers, each a Java process with Python processes of its own."""
    require_java_runtime()
    home = _home_of_its_own(tmp_path_factory.mktemp("spark"))
    settings = {
        "spark.master": "local-cluster[2,1,512]",
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": str(root),
        "spark.executor.extraJavaOptions": SHORT_LIVED["JAVA_TOOL_OPTIONS"],
        "spark.sql.shuffle.partitions": "2",
        "spark.task.maxFailures": "2",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.local.dir": str(home / "local"),
        "spark.log.level": "ERROR",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        for name, value in SHORT_LIVED.items():
            patch.setenv(name, value)
        session = local_session(settings=settings)
    yield Cluster(session, home / "work")
    session.stop()


@pytest.fixture(scope="session")
def spark(cluster: Cluster) -> SparkSession:
    return cluster.session


@pytest.fixture(scope="session")
def allocation() -> bo.Allocation:
    return allocation_for()


@pytest.fixture(scope="session")
def release() -> KeyedRelease:
    return KeyedRelease("survey of the engines' tests")
