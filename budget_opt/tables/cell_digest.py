"""One digest for all cells of a released table: equal where the tables are identical, cell by cell.

A release that is identical to one that is recorded tells nobody anything new; any other costs its loss again
(R22). The digest covers the names of the columns, the declared categories with their types, every report,
every value of a public column, and the order of the rows. It depends neither on how the rows were cut into
batches, nor on the kind of file: values of public columns count as the text that a CSV file has for them.
It is taken as the rows pass, in memory that does not grow with them, under a key: without the key nobody
can tell from a digest whether a table that they guessed was released.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from budget_opt.model.domain import Domain
from budget_opt.tables.encoding import Encoder
from budget_opt.tables.findings import Findings
from budget_opt.tables.public import without_dictionary
from budget_opt.tables.source import BATCH_ROWS


class Hash(Protocol):
    """A hash under a key, as those of hashlib and hmac."""

    def update(self, content: Any, /) -> None:
        """Take more bytes."""

    def digest(self) -> bytes:
        """The hash of all bytes so far."""

    def hexdigest(self) -> str:
        """The same in hexadecimal."""


NewHash: TypeAlias = "Callable[[], Hash]"
"""Begins a hash under one key and for one purpose."""


class CellDigest:
    """The digest of the tables whose randomized columns have these domains; all other columns are public.

    `text` says that all cells are text, as those of a CSV file.
    """

    def __init__(self, domains: Mapping[str, Domain], new_hash: NewHash, *, text: bool = False) -> None:
        self._domains, self._new_hash, self._text = domains, new_hash, text
        self._columns: dict[str, _Reports | _Values] = {}
        self._waiting: list[pa.RecordBatch] = []
        self.rows = self._waiting_rows = 0
        """The number of rows so far."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next released rows; every batch has the same columns."""
        self._waiting.append(batch)
        self._waiting_rows += batch.num_rows
        self.rows += batch.num_rows
        if self._waiting_rows >= BATCH_ROWS:
            self._take_waiting()

    def _take_waiting(self) -> None:
        """Small batches together: what is done for each batch and column would take most of the time."""
        table, self._waiting, self._waiting_rows = pa.Table.from_batches(self._waiting), [], 0
        for batch in table.combine_chunks().to_batches():
            for name in batch.schema.names:
                if name not in self._columns:
                    self._columns[name] = self._column(name)
                self._columns[name].add(batch.column(name))

    def hexdigest(self) -> str:
        """The digest of all rows so far, in hexadecimal."""
        if self._waiting:
            self._take_waiting()
        columns = [(name, *self._columns[name].told()) for name in sorted(self._columns)]
        whole = self._new_hash()
        whole.update(json.dumps(["cells", self.rows, columns]).encode())
        return whole.hexdigest()

    def _column(self, name: str) -> _Reports | _Values:
        if name in self._domains:
            encoder = Encoder(self._domains[name], name, released=True, text=self._text)
            return _Reports(self._domains[name], encoder, self._new_hash())
        return _Values(self._new_hash(), self._new_hash())


class _Reports:
    """A randomized column: every cell is one of the labels, and counts as its code."""

    def __init__(self, domain: Domain, encoder: Encoder, cells: Hash) -> None:
        self._domain, self._encoder, self._cells = domain, encoder, cells

    def add(self, column: pa.Array) -> None:
        findings = Findings()
        codes = self._encoder.codes(findings, column)
        findings.require_none()
        self._cells.update(np.ascontiguousarray(codes).data)

    def told(self) -> tuple[str, object, str]:
        return "reports", [self._domain.kind, *self._domain.labels], self._cells.hexdigest()


class _Values:
    """A public column: the lengths of its texts, and the texts one after the other."""

    def __init__(self, lengths: Hash, contents: Hash) -> None:
        self._lengths, self._contents = lengths, contents

    def add(self, column: pa.Array) -> None:
        values = _as_bytes(without_dictionary(column))
        offsets = np.frombuffer(values.buffers()[1], dtype=np.int64)[values.offset :][: len(values) + 1]
        lengths = np.diff(offsets)
        if values.null_count:
            lengths[values.is_null().to_numpy(zero_copy_only=False)] = -1
        self._lengths.update(np.ascontiguousarray(lengths).data)
        content = values.buffers()[2]
        if content is not None and len(values):
            self._contents.update(memoryview(content)[offsets[0] : offsets[-1]])

    def told(self) -> tuple[str, str, str]:
        return "values", self._lengths.hexdigest(), self._contents.hexdigest()


def _as_bytes(values: pa.Array) -> pa.Array:
    """The values as bytes of text; what has no text of its own counts as Python writes it."""
    if pa.types.is_binary(values.type) or pa.types.is_binary_view(values.type):
        return values.cast(pa.large_binary())
    try:
        return values.cast(pa.large_string()).cast(pa.large_binary())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        written = [None if value is None else repr(value) for value in values.to_pylist()]
        return pa.array(written, type=pa.large_string()).cast(pa.large_binary())
