"""The tables of ../shared/data as codes, and the random attribute sets that are looked at."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import joint_counts

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
Codes = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

LARGEST_TABLE = 500_000
"""Cells of the largest set that is drawn: estimates of it hold a few arrays of 4 MB."""


@dataclass(frozen=True)
class Data:
    """One table: `codes` and `cardinality` by attribute. `paper_w` is the w* that the paper states for it."""

    title: str
    codes: Mapping[str, Codes]
    cardinality: Mapping[str, int]
    paper_w: int

    @property
    def n(self) -> int:
        """The number of records."""
        return next(iter(self.codes.values())).size

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """The numbers of categories of these attributes."""
        return tuple(self.cardinality[name] for name in names)

    def shares(self, names: Sequence[str]) -> FloatArray:
        """The true shares of their combinations, an axis an attribute."""
        shares: FloatArray = joint_counts([self.codes[name] for name in names], self.shape(names)) / self.n
        return shares

    def random_sets(self, rng: np.random.Generator, w: int, number: int) -> list[tuple[str, ...]]:
        """Different random sets of `w` attributes, in the table's order, of at most `LARGEST_TABLE` cells."""
        names = list(self.codes)
        found: set[tuple[int, ...]] = set()
        for _ in range(100 * number):
            chosen = tuple(sorted(rng.choice(len(names), w, replace=False).tolist()))
            if math.prod(self.shape([names[one] for one in chosen])) <= LARGEST_TABLE:
                found.add(chosen)
            if len(found) == number:
                break
        return [tuple(names[one] for one in chosen) for chosen in sorted(found)]


def all_data() -> list[Data]:
    """Adult, Nursery, German Credit and the Census sample; none where ../shared/data is not there."""
    if not FOLDER.is_dir():
        return []
    adult = json.loads((FOLDER / "adult.schema.json").read_text("utf-8"))["attribute_sets"]["categorical8"]
    return [
        _read("adult", "Adult", 4, adult),
        _read("nursery", "Nursery", 4),
        _read("german_credit", "German Credit", 3),
        _read("uscensus1990_sample", "Census sample", 8),
    ]


def _read(name: str, title: str, paper_w: int, wanted: Sequence[str] | None = None) -> Data:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    columns = {column["name"]: column for column in schema["columns"]}
    names = schema["truth_attributes"] if wanted is None else wanted
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    codes = {one: _codes([record[one] for record in records], columns[one]) for one in names}
    return Data(title, codes, {one: columns[one]["cardinality"] for one in names}, paper_w)


def _codes(cells: Sequence[str], column: Mapping[str, Any]) -> Codes:
    if "categories" in column:
        code_of = {category: code for code, category in enumerate(column["categories"])}
        return np.array([code_of[cell] for cell in cells])
    inner = np.array(column["bin_edges"][1:-1], dtype=np.float64)
    return np.searchsorted(inner, np.array(cells, dtype=np.float64), side="right").astype(np.int64)
