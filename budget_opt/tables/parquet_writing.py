"""Parquet files with nothing in them but the table (R15), one or a folder of them.

No statistics, time, metadata or row groups of an original get into them, and what is in them does not
depend on the batches.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
from pyarrow import parquet

from budget_opt.tables.whole_files import NewFile, discarded_after_failure, folder_to_disk, hidden_in, written

ROW_GROUP_ROWS = 2**17
"""Rows of a row group, whatever the batches were."""

PART_ROWS = 2**24
"""Rows of a file in a folder of them. All are open until the last is whole."""

_DICTIONARY_BYTES = 2**28  # large enough for a million labels: a row group never falls back to plain values


class ParquetFile:
    """Parquet in row groups of one size, without statistics, with checksums; `target` is for messages."""

    def __init__(self, target: Path, raw: IO[bytes], schema: pa.Schema) -> None:
        self._target, self._schema = target, schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
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
        self._waiting.append(batch)
        self._rows += batch.num_rows
        while self._rows >= ROW_GROUP_ROWS:
            written(self._target, self._write_group)

    def close(self) -> None:
        """Write what waits, and the end of the file."""
        while self._rows:
            written(self._target, self._write_group)
        written(self._target, self._writer.close)

    def _write_group(self) -> None:
        """Write what waits, at most a group of it; what cannot be written does not wait any longer."""
        batches, self._waiting, rows, self._rows = self._waiting, [], self._rows, 0
        waiting = pa.Table.from_batches(batches, self._schema)
        self._writer.write_table(waiting.slice(0, ROW_GROUP_ROWS), row_group_size=ROW_GROUP_ROWS)
        self._waiting = waiting.slice(ROW_GROUP_ROWS).to_batches()
        self._rows = max(0, rows - ROW_GROUP_ROWS)


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
