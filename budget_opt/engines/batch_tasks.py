"""What an engine's workers do with the record batches of their partition; no engine is imported here.

Only this and what it imports runs on a worker, and budget_opt must be installed there. A message that
leaves a worker ends in logs, so it has no cell value, and no other error as its cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.randomizer.batches import BatchRandomizer
from budget_opt.tables.findings import Findings
from budget_opt.tables.translation import translated


@dataclass(frozen=True)
class _Task:
    """`names` are the columns of the batches, which Spark knows by their position."""

    randomizer: BatchRandomizer
    names: tuple[str, ...]

    def _named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(batch.columns, names=list(self.names))


@dataclass(frozen=True)
class ReleaseTask(_Task):
    """Released rows for originals; where `ordered`, with the two halves of the order key as last columns.

    `types` are those of the released columns; None leaves a column as it is.
    """

    types: Sequence[pa.DataType | None]
    ordered: bool

    def batches(self, originals: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The released rows of one partition, batch by batch."""
        for batch in originals:
            yield translated(partial(self._released, batch), _unreadable)

    def _released(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        named = self._named(batch)
        released = self.randomizer.with_order_keys(named) if self.ordered else self.randomizer(named)
        types = (*self.types, None, None) if self.ordered else self.types
        columns = [
            column if kind is None else column.cast(kind)
            for column, kind in zip(released.columns, types, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=positional(len(columns)))


@dataclass(frozen=True)
class CheckTask(_Task):
    """The order key of every row, and what is wrong with the cells of a partition; no report is drawn.

    Equal ids have equal order keys, and others different ones: so the ids can be compared without
    sending them anywhere.
    """

    def batches(self, originals: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of `CHECKED`: one for every original, and at the end one for the faults, if there are any."""
        findings = Findings()
        for batch in originals:
            keys = translated(partial(self.randomizer.check, self._named(batch), findings), _unreadable)
            yield _checked(keys.column(0), keys.column(1), pa.nulls(keys.num_rows, pa.string()))
        if findings:
            yield _checked([0], [0], [findings.without_rows()])


CHECKED = "high long, low long, faults string"


def positional(count: int) -> list[str]:
    """Names of columns that no name of a table's own can be mistaken for, nor clash with another."""
    return [f"c{i}" for i in range(count)]


def _checked(high: object, low: object, faults: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(high, pa.int64()), pa.array(low, pa.int64()), pa.array(faults, pa.string())],
        names=["high", "low", "faults"],
    )


def _unreadable(failure: Exception) -> DataError:
    return DataError(f"the table has cells that cannot be read ({type(failure).__name__}). Make it anew.")
