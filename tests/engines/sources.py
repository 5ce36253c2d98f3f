"""Sources whose every evaluation can be counted, and that fail, stall or change when a test says so.

They run on the workers, which share the test's folder: a file there stands for something that has happened.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WAITS_AT_MOST = 60


@dataclass(frozen=True)
class Counted:
    """Passes rows on, and leaves a file for every attempt at a task that has passed all of its rows."""

    folder: Path

    def over(self, dataframe: DataFrame) -> DataFrame:
        # by position: a dot in a name means something to Spark
        numbered = dataframe.toDF(*(f"c{place}" for place in range(len(dataframe.columns))))
        return numbered.mapInArrow(self.batches, numbered.schema).toDF(*dataframe.columns)

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        (self.folder / f"passed-{uuid4()}").touch()

    @property
    def evaluations(self) -> int:
        return len(list(self.folder.glob("passed-*")))


@dataclass(frozen=True)
class FailsOnce(Counted):
    """As `Counted`; the first attempt at every task fails after its rows were passed on."""

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        yield from super().batches(batches)
        context = TaskContext.get()
        assert context is not None
        if context.attemptNumber() == 0:
            (self.folder / f"failed-{uuid4()}").touch()
            raise RuntimeError("the first attempt fails")

    @property
    def failures(self) -> int:
        return len(list(self.folder.glob("failed-*")))


@dataclass(frozen=True)
class Changes(Counted):
    """As `Counted` until `change`: from then on every text in the column at `place` is `value`."""

    place: int
    value: str

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in super().batches(batches):
            if (self.folder / "changed").exists():
                changed = pa.array([self.value] * batch.num_rows)
                yield batch.set_column(self.place, batch.schema.names[self.place], changed)
            else:
                yield batch

    def change(self) -> None:
        (self.folder / "changed").touch()


@dataclass(frozen=True)
class Stalls(Counted):
    """As `Counted`; the first attempt at the first task of a stage waits until there is a second one."""

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 0:
            second = self.folder / f"second-{context.stageId()}"
            if context.attemptNumber() > 0:
                second.touch()
            ends = time.monotonic() + WAITS_AT_MOST
            while not second.exists() and time.monotonic() < ends:
                time.sleep(0.05)
        yield from super().batches(batches)

    @property
    def second_attempts(self) -> int:
        return len(list(self.folder.glob("second-*")))
