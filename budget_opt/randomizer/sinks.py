"""Where the randomized batches of a file go: straight on, or to a spool until all are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from budget_opt.randomizer.drawing import Drawing
from budget_opt.randomizer.held import HeldRows, released_batch
from budget_opt.randomizer.plan import Plan
from budget_opt.randomizer.row_names import RowNames
from budget_opt.randomizer.sorting import NewSpool, Sorter
from budget_opt.randomizer.spool import Spool
from budget_opt.tables.encoding import Codes
from budget_opt.tables.public import without_dictionary
from budget_opt.tables.writing import TableWriter

OnWritten: TypeAlias = "Callable[[int], None]"
"""Takes the number of rows that have been written so far."""


class Sink(Protocol):
    """Takes the batches of a release in the order of the original."""

    def add(self, reports: Mapping[str, Codes], public: pa.RecordBatch, rows: RowNames) -> int | None:
        """The next rows: reports by attribute, public columns, names.

        Where it is time for a checkpoint, the length of the spool, which then holds all rows so far.
        """

    def finish(self, on_written: OnWritten) -> None:
        """Write what is still held."""


class InOrder:
    """Writes every batch at once, in the original's order."""

    def __init__(self, plan: Plan, writer: TableWriter) -> None:
        self._plan, self._writer = plan, writer

    def add(self, reports: Mapping[str, Codes], public: pa.RecordBatch, rows: RowNames) -> int | None:
        """Write the next rows."""
        del rows
        values = {name: without_dictionary(public.column(name)) for name in self._plan.public}
        self._writer.write(released_batch(self._plan, reports, values))
        return None

    def finish(self, on_written: OnWritten) -> None:
        """Nothing is held."""


class HeldInOrder:
    """Holds all rows and writes them in the original's order: for a release that can be resumed."""

    def __init__(self, held: HeldRows, writer: TableWriter, spool: Spool) -> None:
        self._held, self._writer, self._spool = held, writer, spool

    def add(self, reports: Mapping[str, Codes], public: pa.RecordBatch, rows: RowNames) -> int | None:
        """Hold the next rows."""
        del rows
        self._spool.append(0, self._held.batch(reports, public))
        return self._spool.length

    def finish(self, on_written: OnWritten) -> None:
        """Write all rows."""
        written = 0
        for batch in self._spool.read(0):
            for part in self._held.released([batch], np.arange(batch.num_rows, dtype=np.int64)):
                self._writer.write(part)
            written += batch.num_rows
            on_written(written)


class Shuffled:
    """Holds all rows and writes them in the order of their keys."""

    def __init__(
        self, held: HeldRows, writer: TableWriter, drawing: Drawing, spool: Spool, new_spool: NewSpool
    ) -> None:
        self._held, self._writer, self._drawing, self._spool = held, writer, drawing, spool
        self._sorter = Sorter(spool, new_spool)

    def add(self, reports: Mapping[str, Codes], public: pa.RecordBatch, rows: RowNames) -> int | None:
        """Hold the next rows."""
        flushed = self._sorter.add(self._held.batch(reports, public, self._drawing.order_keys(rows)))
        return self._spool.length if flushed else None

    def finish(self, on_written: OnWritten) -> None:
        """Write all rows."""
        written = 0
        for bucket in self._sorter.buckets():
            for part in self._held.released(bucket.batches, bucket.order):
                self._writer.write(part)
            written += bucket.order.size
            on_written(written)
