"""Parquet files as batches of typed cells, without holding more than a batch of a row group (R26)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from pyarrow import parquet

from budget_opt.errors import DataError
from budget_opt.tables.source import (
    BATCH_BYTES,
    BATCH_CELLS,
    BATCH_ROWS,
    TableOnDisk,
    existing_file,
    plain_schema,
    without_first,
)
from budget_opt.tables.translation import translated
from budget_opt.tables.types import nested_kind

T = TypeVar("T")


class ParquetSource(TableOnDisk):
    """A Parquet file. Raises `DataError` where it is truncated, corrupt, or no Parquet file."""

    text = False

    def __init__(self, path: Path, *, batch_rows: int = BATCH_ROWS) -> None:
        super().__init__(existing_file(path))
        self._batch_rows = batch_rows

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, without metadata."""

        def read() -> pa.Schema:
            with self._opened() as file:
                return plain_schema(file.schema_arrow, self.title)

        return self._translated(read)

    @property
    def rows(self) -> int:
        """The number of records."""

        def read() -> int:
            with self._opened() as file:
                rows: int = file.metadata.num_rows
                return rows

        return self._translated(read)

    def nested(self, column: str) -> str | None:
        """What kind of columns a column has inside, None for none."""
        return nested_kind(self.schema.field(column).type)

    def batches(self, columns: Sequence[str], skip: int = 0) -> Iterator[pa.RecordBatch]:
        """The records in their order, but for the first `skip`, with these columns.

        Row groups that are skipped as a whole are not read.
        """
        with self._translated(self._opened) as file:
            rows = self._translated(lambda: file.metadata.num_rows)
            groups, before = self._translated(lambda: _groups_after(file.metadata, skip))
            size = min(self._batch_rows, self._translated(lambda: _batch_rows(file.metadata, len(columns))))
            # some versions of Arrow take a file without row groups for a broken one
            parts = file.iter_batches(size, row_groups=groups, columns=list(columns)) if groups else iter(())

            def following() -> pa.RecordBatch | None:
                batch = next(parts, None)
                # a name with a dot also selects fields inside a column
                return None if batch is None else batch.select(list(columns))

            batches = iter(lambda: self._translated(following), None)
            passed = skip
            for batch in without_first(batches, skip - before):
                passed += batch.num_rows
                self._share = passed / rows
                yield batch
        self._share = 1.0

    def _opened(self) -> parquet.ParquetFile:
        return parquet.ParquetFile(
            self._path, pre_buffer=False, memory_map=False, page_checksum_verification=True
        )

    def _translated(self, work: Callable[[], T]) -> T:
        return translated(
            work,
            lambda failure: DataError(
                f"{self._path}: is not a whole Parquet file (truncated, corrupt, or another format). "
                "Copy or write it again."
            ),
        )


def _batch_rows(described: parquet.FileMetaData, columns: int) -> int:
    """Rows that fit the memory of a batch, by the number of columns that are read and the widest rows."""
    groups = [described.row_group(i) for i in range(described.num_row_groups)]
    widest = max((group.total_byte_size / group.num_rows for group in groups if group.num_rows), default=1.0)
    return max(1, min(BATCH_CELLS // max(1, columns), int(BATCH_BYTES / max(1.0, widest))))


def _groups_after(described: parquet.FileMetaData, skip: int) -> tuple[list[int], int]:
    """The row groups that have rows behind the first `skip`, and the number of rows before these groups."""
    before, groups = 0, list(range(described.num_row_groups))
    while groups and before + described.row_group(groups[0]).num_rows <= skip:
        before += described.row_group(groups.pop(0)).num_rows
    return groups, before
