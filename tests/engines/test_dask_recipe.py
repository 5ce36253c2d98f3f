"""The recipe for Dask in the documentation runs as it stands, and gives the release of one machine."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import dask
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

import budget_opt as bo
from budget_opt import engines
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.survey import TOGETHER, allocation_for, rows_of, survey

# dask's own calls of pandas
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame")


def recipe(engine: str) -> str:
    """The indented lines below the one that begins with the engine's name."""
    assert engines.__doc__ is not None
    found = re.search(rf"^{engine}\b.*:\n\n((?:    .*\n|\n)+)", engines.__doc__, re.MULTILINE)
    assert found is not None
    return textwrap.dedent(found[1])


def in_two_files(table: pa.Table, folder: Path) -> None:
    folder.mkdir()
    half = table.num_rows // 2
    parquet.write_table(table.slice(0, half), folder / "1.parquet")
    parquet.write_table(table.slice(half), folder / "2.parquet")


def run(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> None:
    """The text as a script of its own, in the folder."""
    monkeypatch.chdir(folder)
    exec(compile(text, "recipe", "exec"), {"__name__": "__main__", **given})


@pytest.mark.parametrize("clusters", [(), TOGETHER], ids=["alone", "together"])
@pytest.mark.parametrize("scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_r34_dask_and_one_machine_agree_cell_for_cell_and_in_the_order_of_the_rows(
    release: KeyedRelease,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scheduler: str,
    clusters: tuple[tuple[str, ...], ...],
) -> None:
    table, allocation = survey(text_ids=True), allocation_for(clusters=clusters)
    in_two_files(table, tmp_path / "survey")
    with dask.config.set(scheduler=scheduler, num_workers=2):
        run(recipe("Dask"), tmp_path, monkeypatch, allocation=allocation, release=release)
    alone = bo.randomize(table, allocation, release=release, row_id="id")
    together = dataset.dataset(tmp_path / "public", format="parquet").to_table()
    assert together.column_names == alone.column_names
    assert rows_of(together) == rows_of(alone)


def test_the_recipe_refuses_ids_that_stand_twice(
    allocation: bo.Allocation, release: KeyedRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = survey(rows=20)
    in_two_files(pa.concat_tables([table, table.slice(0, 1)]), tmp_path / "survey")
    with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match="two rows share an id"):
        run(recipe("Dask"), tmp_path, monkeypatch, allocation=allocation, release=release)


def test_the_recipe_for_ray_is_python() -> None:
    compile(recipe("Ray"), "recipe", "exec")
