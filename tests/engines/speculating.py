"""A release while Spark runs the first task of every stage twice at a time: a script that says what it saw.

A process has one Spark session only, hence the script. Spark starts a second attempt on another host only:
two workers at two addresses of this machine stand for two hosts.

    python -m tests.engines.speculating FOLDER
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import budget_opt as bo
from budget_opt.engines import spark as engine
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.sources import Stalls
from tests.engines.survey import allocation_for, rows_of, survey

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = "org.apache.spark.deploy"


@contextmanager
def running(home: Path, *command: str) -> Iterator[None]:
    """A part of the cluster, which ends with the block."""
    part = subprocess.Popen(
        [str(home / "bin" / "spark-class"), *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "SPARK_HOME": str(home), "SPARK_WORKER_DIR": "work"},
    )
    try:
        yield
    finally:
        part.terminate()
        part.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def released_twice(folder: Path) -> dict[str, object]:
    """Whether the release agrees with that of one machine, and how many stages had a second attempt."""
    import pyspark

    home, port = Path(pyspark.__path__[0]), free_port()
    master = f"spark://127.0.0.1:{port}"
    settings = {
        "spark.master": master,
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": str(ROOT),
        "spark.default.parallelism": "2",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.minTaskRuntime": "100ms",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.5",
    }
    table, allocation, release = survey(), allocation_for(), KeyedRelease("twice at a time")
    with ExitStack() as cluster:
        parts = [("Master", "127.0.0.1", f"--port={port}"), ("Worker", "127.0.0.1", master)]
        for kind, host, last in [*parts, ("Worker", "127.0.0.2", master)]:
            name = f"{DEPLOY}.{kind.lower()}.{kind}"
            cores = ["--cores", "1", "--memory", "600m"] if kind == "Worker" else []
            options = ["--host", host, "--webui-port", "0", *cores, *last.split("=")]
            cluster.enter_context(running(home, name, *options))
        session = engine.local_session(settings=settings)
        cluster.callback(session.stop)
        source = Stalls(folder)
        dataframe = source.over(session.createDataFrame(table).repartition(2))
        together = rows_of(engine.randomize(dataframe, allocation, release).toArrow())
    alone = rows_of(bo.randomize(table, allocation, release=release, row_id="id"))
    return {"agree": together == alone, "stages": source.second_attempts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(released_twice(Path(sys.argv[1]))))
