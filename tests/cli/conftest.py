"""A table, its allocation, and a command line that can be killed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import csv, parquet

import budget_opt as bo
from tests.cli.desk import PROBLEM, ROWS, Desk
from tests.cli.killable import Killable


@pytest.fixture(scope="session")
def killable() -> Iterator[Killable]:
    """Runs the command line in processes of their own."""
    if sys.platform != "linux":
        pytest.skip("steps are watched with what Linux offers")
    with Killable() as server:
        yield server


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an allocation and the same table in two kinds of files."""
    folder = tmp_path_factory.mktemp("inputs")
    bo.uniform(PROBLEM).write(folder / "allocation.json")
    regions = ("north", "south", "east", "west")
    lines = [f"CANARY-{i},{i % 2},{i * i % 5},{regions[i % 4]},w{i % 7}\n" for i in range(ROWS)]
    (folder / "data.csv").write_text("person,smoker,income,region,wave\n" + "".join(lines))
    parquet.write_table(csv.read_csv(folder / "data.csv"), folder / "data.parquet", row_group_size=250)
    return folder


@pytest.fixture
def desk(killable: Killable, tmp_path: Path, inputs: Path) -> Desk:
    return Desk(killable, tmp_path, inputs, "csv")
