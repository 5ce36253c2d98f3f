"""Rows that wait on disk, in blocks, until all rows are there.

Only what is released gets here: randomized codes, public columns, and keys that say nothing about a cell
(R15). A spool is one file of blocks. Each begins with a head that says its bucket, its rows, its size and
its checksum, so that a file that outlived its process can be taken over; then comes the block, an Arrow IPC
message. Arrow trusts what it reads, and a changed byte could be another row, or end the process.
"""

from __future__ import annotations

import functools
import struct
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar

import pyarrow as pa

from budget_opt.errors import InputError
from budget_opt.tables.translation import translated

T = TypeVar("T")

_HEAD = struct.Struct("<QQQLL")
"""Bucket, rows, size and CRC-32 of the block; the last is of the head itself until there."""


class Spool:
    """Record batches of one schema in a file, to be read back by bucket in the order of their arrival.

    `file` is open for reading and writing, unbuffered; the blocks in its first `length` bytes are taken
    over, and what stands behind them is cut off. `kept` says that it outlives a run that fails. Raises
    `InputError`, which names the `place`, where the file cannot be written or read, or does not hold whole
    blocks as they were written.
    """

    def __init__(
        self, file: IO[bytes], schema: pa.Schema, place: str, *, length: int = 0, kept: bool = False
    ) -> None:
        self._file, self._schema, self._place, self._kept = file, schema, place, kept
        self._blocks: dict[int, array[int]] = {}  # offset, size, checksum of every block in turn
        self.rows = 0
        self.length = 0
        self._translated(lambda: self._take_over(length))

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._schema

    def append(self, bucket: int, batch: pa.RecordBatch) -> None:
        """Write a batch behind the others."""
        content = batch.serialize()
        checksum = zlib.crc32(content)
        head = _head(bucket, batch.num_rows, content.size, checksum)
        self._translated(lambda: self._write(head, memoryview(content)))
        self._note(bucket, batch.num_rows, content.size, checksum)

    def size(self, bucket: int) -> int:
        """The bytes of a bucket."""
        return sum(self._blocks[bucket][1::3]) if bucket in self._blocks else 0

    def read(self, bucket: int) -> Iterator[pa.RecordBatch]:
        """The batches of a bucket."""
        blocks = self._blocks.get(bucket, array("Q"))
        for offset, size, checksum in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True):
            content = self._translated(functools.partial(self._content, offset, size))
            if zlib.crc32(content) != checksum:
                raise damaged(self._place)
            yield pa.ipc.read_record_batch(content, self._schema)

    def _note(self, bucket: int, rows: int, size: int, checksum: int) -> None:
        """A block of this size has come behind the others."""
        begin = self.length + _HEAD.size
        self._blocks.setdefault(bucket, array("Q")).extend((begin, size, checksum))
        self.rows += rows
        self.length = begin + size

    def _take_over(self, length: int) -> None:
        while self.length < length:
            head = self._content(self.length, _HEAD.size)
            bucket, rows, size, checksum, _ = _HEAD.unpack(head)
            if head != _head(bucket, rows, size, checksum):
                raise damaged(self._place)
            self._note(bucket, rows, size, checksum)
        if self.length != length:
            raise damaged(self._place)
        self._file.truncate(length)

    def _content(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        content = self._file.read(size)
        if len(content) != size:
            raise EOFError
        return content

    def _write(self, *contents: bytes | memoryview) -> None:
        self._file.seek(self.length)
        for content in contents:
            left = memoryview(content)
            while left:
                left = left[self._file.write(left) :]

    def _translated(self, work: Callable[[], T]) -> T:
        return translated(work, lambda failure: _explained(self._place, failure, kept=self._kept))


@contextmanager
def unnamed_spool(schema: pa.Schema, folder: Path) -> Iterator[Spool]:
    """A spool in a file without a name, of which nothing is left when the process ends, however it ends."""

    def opened() -> IO[bytes]:
        return tempfile.TemporaryFile(dir=folder, buffering=0)

    with translated(opened, lambda failure: _explained(str(folder), failure)) as file:
        yield Spool(file, schema, str(folder))


def damaged(place: str) -> InputError:
    """A spool does not hold what was said of it."""
    return InputError(
        f"{place}: the rows that wait there are damaged. Release the table anew; with --resume delete that "
        "file and run the same command again, which draws the same reports."
    )


def _head(bucket: int, rows: int, size: int, checksum: int) -> bytes:
    begin = _HEAD.pack(bucket, rows, size, checksum, 0)[:-4]
    return begin + zlib.crc32(begin).to_bytes(4, "little")


def _explained(place: str, failure: Exception, *, kept: bool = False) -> InputError:
    if isinstance(failure, EOFError):
        return damaged(place)
    reason = failure.strerror if isinstance(failure, OSError) else None
    needed = "can be written to and has space: for the table, and 16 bytes more a row"
    problem = f"{place}: the rows cannot wait there until all are randomized ({reason or 'output error'})"
    if kept:
        return InputError(f"{problem}; those that are done are kept. See that it {needed}.")
    return InputError(f"{problem}, and nothing was left there. See that the folder {needed}.")
