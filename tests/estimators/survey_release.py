"""A release with public columns and survey weights, and the same in every kind of table."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import budget_opt as bo
from budget_opt.errors import DataError
from budget_opt.estimators.releases.released import open_released

N = 4_000
NAMES = ("age", "smoker", "income")
AGES = ("[18, 30)", "[30, 65]", None)


def problem(**changes: Any) -> bo.Problem:
    fields: dict[str, Any] = {
        "attributes": [
            bo.Attribute("smoker", categories=["no", "yes"]),
            bo.Attribute("income", categories=3, ordered=True),
            bo.Attribute("age", bins=[18, 30, 65], missing="category", missing_score=40),
            bo.Attribute("silent", categories=2, epsilon=0.0),
        ],
        "moments": [bo.CrossMoment("smoker", "income"), bo.CrossMoment("income", "age")],
        "total_epsilon": 4.5,
        "public": [
            bo.PublicColumn("share", why="made from the sampling frame"),
            bo.PublicColumn("wave", why="the same for everybody"),
            bo.PublicColumn("size", why="of the village, which is known"),
        ],
        "survey": {"weight": "share"},
        "dropped": ["id"],
    }
    return bo.Problem(**{**fields, **changes})


@cache
def allocation() -> bo.Allocation:
    return bo.uniform(problem())


@cache
def originals() -> pd.DataFrame:
    """Every last category is rare: 3 % or less, far below what the noise alone gives."""
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "smoker": rng.choice(["no", "yes"], N, p=[0.98, 0.02]),
            "income": rng.choice(3, N, p=[0.7, 0.27, 0.03]),
            "age": rng.choice([20.0, 40.0, np.nan], N, p=[0.6, 0.37, 0.03]),
            "silent": rng.choice(2, N),
            "share": rng.choice([0.0, 0.25, 1.0, 7.5], N),
            "wave": rng.choice(["first", "second", "third"], N),
            "size": rng.integers(10, 99, N),
            "id": np.arange(N),
        }
    )


@cache
def frame() -> pd.DataFrame:
    """The release; drawn once."""
    released: pd.DataFrame = bo.randomize(originals(), allocation(), row_order="public")
    return released


def codes() -> dict[str, np.ndarray[Any, Any]]:
    """The released codes by hand."""
    table = frame()
    ages = [AGES.index(None if pd.isna(cell) else cell) for cell in table["age"]]
    return {
        "smoker": (table["smoker"] == "yes").to_numpy().astype(int),
        "income": table["income"].to_numpy().astype(int),
        "age": np.array(ages),
        "wave": np.array([["first", "second", "third"].index(cell) for cell in table["wave"]]),
    }


def as_csv(folder: Path, name: str = "released.csv") -> Path:
    path = folder / name
    frame().to_csv(path, index=False)
    return path


def as_parquet(folder: Path) -> Path:
    path = folder / "released.parquet"
    parquet.write_table(pa.Table.from_pandas(frame(), preserve_index=False), path, row_group_size=1_000)
    return path


def as_folder(folder: Path) -> Path:
    place = folder / "released"
    place.mkdir()
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    for i in range(4):
        parquet.write_table(table.slice(1_000 * i, 1_000), place / f"part-{i}.parquet")
    return place


KINDS: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda folder: frame(),
    "polars": lambda folder: pl.from_pandas(frame()),
    "pyarrow": lambda folder: pa.Table.from_pandas(frame(), preserve_index=False),
    "csv": as_csv,
    "csv.gz": lambda folder: as_csv(folder, "released.csv.gz"),
    "parquet": as_parquet,
    "folder": as_folder,
}


def by_hand(names: tuple[str, ...], weights: Any = None) -> Any:
    shape = [{"age": 3, "smoker": 2, "income": 3, "wave": 3}[name] for name in names]
    columns = codes()
    index = np.ravel_multi_index([columns[name] for name in names], shape)
    return np.bincount(index, weights, minlength=math.prod(shape)).reshape(shape)


def changed(**columns: Any) -> pd.DataFrame:
    return frame().assign(**columns)


def refused(table: Any, *said: str, names: tuple[str, ...] = NAMES, **more: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        open_released(table, allocation(), names, **more)
    for text in said:
        assert text in str(caught.value)
    return caught.value
