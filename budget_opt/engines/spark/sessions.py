"""A Spark session on this machine alone, to try things out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from budget_opt.engines.spark.runtime import require_java, require_pyspark
from budget_opt.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def local_session(workers: int = 2, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session with so many worker processes (>= 1) that listens on this machine only, without a web page.

    `settings` are Spark's own and win. Where this process has a session already, that one comes back.
    Raises `InputError` where pyspark or a Java runtime is missing, and says how to get it.
    """
    require_pyspark()
    if workers < 1:
        raise InputError(f"workers: is {workers!r}, must be an integer from 1 on.")
    require_java()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{workers}]").appName("budget_opt")
    for name, value in {**_QUIET, **(settings or {})}.items():
        builder = builder.config(name, value)
    with _workers_of_this_python():
        return builder.getOrCreate()


@contextmanager
def _workers_of_this_python() -> Iterator[None]:
    """Workers run this interpreter, with its packages, not whichever `python3` the PATH has."""
    name = "PYSPARK_PYTHON"
    if os.environ.get(name):
        yield
        return
    os.environ[name] = sys.executable
    try:
        yield
    finally:
        del os.environ[name]
