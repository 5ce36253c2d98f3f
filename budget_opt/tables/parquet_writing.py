"""Parquet files with nothing in them but the table (R15), one or a folder of them.

No statistics, time, metadata or row groups of an original get into them, and what is in them does not
depend on the batches.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute, parquet

from budget_opt.tables.public import held_type
from budget_opt.tables.whole_files import NewFile, discarded_after_failure, folder_to_disk, hidden_in, written

ROW_GROUP_ROWS = 2**17
"""Rows of a row group, whatever the batches were, unless it is wide."""

ROW_GROUP_CELLS = 2**23
"""Cells of a row group of many columns."""

ROW_GROUP_BYTES = 2**27
"""Bytes of text and binary columns at which a row group ends: it waits in memory until it is whole."""

PART_ROWS = 2**24
"""Rows of a file in a folder of them. All are open until the last is whole."""

_DICTIONARY_BYTES = 2**28  # large enough for a million labels: a row group never falls back to plain values


class ParquetFile:
    """Parquet in row groups of one size, without statistics, with checksums; `target` is for messages."""

    def __init__(self, target: Path, raw: IO[bytes], schema: pa.Schema) -> None:
        self._target, self._schema = target, schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self._group_rows = max(1, min(ROW_GROUP_ROWS, ROW_GROUP_CELLS // len(schema)))
        self._wide = [i for i, kind in enumerate(schema.types) if _has_length(kind)]
        self._writer = written(
            target,
            lambda: parquet.ParquetWriter(
                raw,
                schema,
                compression="zstd",
                write_statistics=False,
                write_page_checksum=True,
                dictionary_pagesize_limit=_DICTIONARY_BYTES,
            ),
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        while batch.num_rows:
            batch = written(self._target, partial(self._fill_group, batch))

    def close(self) -> None:
        """Write what waits, and the end of the file."""
        if self._rows:
            written(self._target, self._write_group)
        written(self._target, self._writer.close)

    def _fill_group(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Take rows until the group is whole, and write it then; the rows that are left."""
        sizes = _sizes(batch, self._wide)
        rows = min(batch.num_rows, self._group_rows - self._rows)
        rows = min(rows, int(np.searchsorted(sizes, ROW_GROUP_BYTES - self._bytes)) + 1)
        self._waiting.append(batch.slice(0, rows))
        self._rows += rows
        self._bytes += int(sizes[rows - 1])
        if self._rows == self._group_rows or self._bytes >= ROW_GROUP_BYTES:
            self._write_group()
        return batch.slice(rows)

    def _write_group(self) -> None:
        """Write what waits; what cannot be written does not wait any longer."""
        batches, self._waiting, self._rows, self._bytes = self._waiting, [], 0, 0
        self._writer.write_table(pa.Table.from_batches(batches, self._schema), row_group_size=ROW_GROUP_ROWS)


def _has_length(kind: pa.DataType) -> bool:
    return any(
        of(kind)
        for of in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )


def _sizes(batch: pa.RecordBatch, columns: Sequence[int]) -> npt.NDArray[np.int64]:
    """The bytes in these columns of the first row, the first two, and so on."""
    sizes = np.zeros(batch.num_rows, dtype=np.int64)
    for i in columns:
        column = batch.column(i)
        plain = column.cast(held_type(column.type))
        sizes += compute.binary_length(plain).fill_null(0).to_numpy()
    return np.cumsum(sizes)


class ParquetParts:
    """Parquet files of `PART_ROWS` rows each, the last of what is left: begun in the folder of the target."""

    def __init__(self, target: Path, schema: pa.Schema) -> None:
        self._target, self._schema = target, schema
        self._files: list[NewFile] = []

    def begin(self) -> None:
        """Begin the next file."""
        file = written(self._target, lambda: NewFile(self._target.parent))
        self._files.append(file)
        self._part, self._rows = ParquetFile(self._target, file.raw, self._schema), 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        while self._rows + batch.num_rows > PART_ROWS:
            room = PART_ROWS - self._rows
            self._part.write(batch.slice(0, room))
            batch = batch.slice(room)
            self.close()
            self.begin()
        self._part.write(batch)
        self._rows += batch.num_rows

    def close(self) -> None:
        """End the file that is being written, and bring it to the disk."""
        self.close_part()
        written(self._target, self._files[-1].complete)

    def close_part(self) -> None:
        """End the file that is being written."""
        self._part.close()

    def appear(self) -> None:
        """Gather the files in a hidden folder, which then gets the target's name."""
        hidden = hidden_in(self._target.parent)
        try:
            hidden.mkdir()
            for i, file in enumerate(self._files):
                file.appear(hidden / f"part-{i:05d}.parquet")
            folder_to_disk(hidden)
            hidden.rename(self._target)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)

    def discard(self) -> None:
        """Close all files, and take away what has not appeared."""
        for file in self._files:
            file.discard()


@contextmanager
def new_folder(target: Path, schema: pa.Schema) -> Iterator[ParquetParts]:
    """A folder of Parquet files to be written; at the end of the block it is there, or nothing is."""
    parts = ParquetParts(target, schema)
    try:
        parts.begin()
        with discarded_after_failure(parts.close_part):
            yield parts
            parts.close()
        written(target, parts.appear)
    finally:
        parts.discard()
    folder_to_disk(target.parent)
