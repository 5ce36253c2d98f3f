"""A table with every kind of column, its allocation, and words that a test fixes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from budget_opt.allocation import Allocation, uniform
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.randomizer.words import Words


class FixedWords:
    """All words are the same number; stands where the randomizer takes a source of words."""

    def __init__(self, word: int = 0) -> None:
        self.word = word
        self.asked: list[bytes] = []

    def stream(self, context: bytes, bits: int) -> FixedWords:
        self.asked.append(context)
        stream = FixedWords(self.word)
        stream.bits = bits
        return stream

    def take(self, count: int) -> Words:
        if self.bits == 128:
            return np.tile(np.array([self.word & (2**64 - 1), self.word >> 64], dtype=np.uint64), (count, 1))
        return np.full(count, self.word, dtype=np.uint32 if self.bits == 32 else np.uint64)

    def fill(self, words: Words) -> None:
        words[...] = self.take(len(words))

    def close(self) -> None:
        pass


@pytest.fixture
def zero_words() -> FixedWords:
    return FixedWords(0)


@pytest.fixture(scope="session")
def problem() -> Problem:
    return Problem(
        name="every kind of column",
        attributes=[
            Attribute("city", categories=["york", "leeds", 'hull, "the" port'], other="leeds"),
            Attribute("size", categories=[4, 1, 2], missing="category", missing_score=0, scores=[4, 1, 2]),
            Attribute("owns", categories=[True, False]),
            Attribute(
                "age", bins=[18, 30, 65, None], scores=[24, 45, 75], missing="category", missing_score=40
            ),
        ],
        moments=[CrossMoment("city", "size"), CrossMoment("owns", "age")],
        total_epsilon=6.0,
        public=[{"name": "wave", "why": "the same for everybody"}],
        dropped=["person"],
    )


@pytest.fixture(scope="session")
def allocation(problem: Problem) -> Allocation:
    return uniform(problem)


@pytest.fixture(scope="session")
def survey() -> Callable[[int], pa.Table]:
    """Rows of a table that fits the problem, columns not in the problem's order."""

    def rows(count: int) -> pa.Table:
        random = np.random.default_rng(count)
        pick = random.integers
        age = random.uniform(18, 100, count).round(1)
        return pa.table(
            {
                "person": pa.array([f"CANARY-{i}" for i in range(count)], pa.string()),
                "age": pa.array(age, mask=pick(0, 9, count) == 0),
                "owns": pa.array(pick(0, 2, count).astype(bool)),
                "wave": pa.array([f"w{i % 97}" if i % 5 else None for i in range(count)], pa.string()),
                "city": np.array(["york", "leeds", 'hull, "the" port', "CANARY town"])[pick(0, 4, count)],
                "size": pa.array(np.array([4, 1, 2])[pick(0, 3, count)], mask=pick(0, 7, count) == 0),
            }
        )

    return rows


@pytest.fixture(scope="session")
def even_split() -> Callable[..., Allocation]:
    """The even split of a total over some attributes."""

    def split(total: float, *attributes: Attribute) -> Allocation:
        moments = [CrossMoment(attribute.name) for attribute in attributes]
        return uniform(Problem(attributes=attributes, moments=moments, total_epsilon=total))

    return split


@pytest.fixture(scope="session")
def write_table() -> Callable[..., Path]:
    """Writes a table into a file of the kind that its name says."""

    def write(table: pa.Table, path: Path, *, row_group_size: int = 2**16) -> Path:
        """The table as a file of the kind that its name says, without an ending as a folder of files."""
        if not path.suffix:
            path.mkdir()
            half = table.num_rows // 2
            for name, part in (("a.parquet", table.slice(0, half)), ("b.parquet", table.slice(half))):
                parquet.write_table(part, path / name, row_group_size=row_group_size)
            return path
        if path.suffix == ".parquet":
            parquet.write_table(table, path, row_group_size=row_group_size)
            return path
        sink = pa.BufferOutputStream()
        csv.write_csv(table, sink)
        content = sink.getvalue().to_pybytes()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write
