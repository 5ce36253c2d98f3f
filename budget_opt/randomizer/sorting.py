"""Sorting more rows than memory holds, by 128-bit keys that are uniform.

Rows go to buckets on disk by the leading byte of their keys; the buckets one after another, each sorted
in memory, are the sorted rows. A bucket that is too large for that is sorted in the same way by the next
byte. The order is that of sorting all rows at once, whatever the limits and batches were; rows of equal
keys stay in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from budget_opt.randomizer.drawing import ascending
from budget_opt.randomizer.spool import Spool
from budget_opt.tables.public import Order

BUCKETS = 2**8

WAITING_BYTES = 2**24
"""Bytes of rows that wait in memory before they go to their buckets: blocks of some 64 KiB."""

BUCKET_BYTES = 2**26
"""Bytes of the largest bucket that is sorted in memory."""

_BYTES_OF_KEY = 16

KEY_FIELDS = (pa.field("low", pa.uint64()), pa.field("high", pa.uint64()))
"""The first two columns of rows that are to be sorted: the halves of their keys."""

NewSpool = Callable[[pa.Schema], AbstractContextManager[Spool]]


class Bucket(NamedTuple):
    """Rows whose keys lie together: record batches, and the order in which their keys ascend."""

    batches: list[pa.RecordBatch]
    order: Order


class Sorter:
    """Takes rows, whose first columns are `KEY_FIELDS`, and gives them in ascending order of their keys.

    `new_spool` makes the spool of a bucket that is to be split; `level` is the number of leading bytes
    in which all keys are equal.
    """

    def __init__(self, spool: Spool, new_spool: NewSpool, *, level: int = 0) -> None:
        self._spool, self._new_spool, self._level = spool, new_spool, level
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0

    def add(self, batch: pa.RecordBatch) -> bool:
        """Take the next rows; says whether all rows so far are in the spool now."""
        self._waiting.append(batch)
        self._bytes += batch.nbytes
        if self._bytes < WAITING_BYTES:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """Bring what waits in memory to its buckets."""
        if not self._waiting:
            return
        waiting = pa.Table.from_batches(self._waiting).combine_chunks().to_batches()
        self._waiting, self._bytes = [], 0
        for batch in waiting:
            self._distribute(batch)

    def buckets(self) -> Iterator[Bucket]:
        """All rows, bucket by bucket; rows that are so few that all still wait in memory are one bucket."""
        if not self._spool.rows:
            yield from [_sorted(self._waiting)] if self._waiting else []
            return
        self.flush()
        for bucket in range(BUCKETS):
            size = self._spool.size(bucket)
            if size > BUCKET_BYTES and self._level + 1 < _BYTES_OF_KEY:
                yield from self._split(bucket)
            elif size:
                yield _sorted(list(self._spool.read(bucket)))

    def _distribute(self, batch: pa.RecordBatch) -> None:
        bucket = _byte_of_key(batch, self._level)
        counts = np.bincount(bucket, minlength=BUCKETS)
        together = batch.take(pa.array(np.argsort(bucket, kind="stable")))
        starts = np.cumsum(counts) - counts
        for i in np.flatnonzero(counts).tolist():
            self._spool.append(i, together.slice(int(starts[i]), int(counts[i])))

    def _split(self, bucket: int) -> Iterator[Bucket]:
        with self._new_spool(self._spool.schema) as spool:
            finer = Sorter(spool, self._new_spool, level=self._level + 1)
            for batch in self._spool.read(bucket):
                finer.add(batch)
            yield from finer.buckets()


def _byte_of_key(batch: pa.RecordBatch, level: int) -> npt.NDArray[np.uint8]:
    """Byte `level` of every key, the leading one being byte 0."""
    half = batch.column(1 if level < _BYTES_OF_KEY // 2 else 0).to_numpy()
    shift = 8 * (_BYTES_OF_KEY // 2 - 1 - level % (_BYTES_OF_KEY // 2))
    byte: npt.NDArray[np.uint8] = (half >> np.uint64(shift)).astype(np.uint8)
    return byte


def _sorted(batches: list[pa.RecordBatch]) -> Bucket:
    halves = [np.concatenate([batch.column(i).to_numpy() for batch in batches]) for i in (0, 1)]
    return Bucket(batches, ascending(np.column_stack(halves)))
