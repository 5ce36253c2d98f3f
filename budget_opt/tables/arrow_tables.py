"""Tables and record batches of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from budget_opt.tables.encoding import decode
from budget_opt.tables.label_types import Labels, type_like
from budget_opt.tables.public import Gatherer, Order
from budget_opt.tables.types import nested_kind

_SLICE_ROWS = 2**20  # a million labels of text stay below the 2 GiB that Arrow's plain text can address


class ArrowTable:
    """A `pyarrow.Table`."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def names(self) -> list[Any]:
        """The names of the columns."""
        return list(self._table.schema.names)

    def read(self, name: str) -> pa.ChunkedArray:
        """One column as it is."""
        return self._table.column(name)

    def nested(self, name: str) -> str | None:
        """See `nested_kind`."""
        return nested_kind(self._table.schema.field(name).type)

    def rebuilt(self, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
        """See `FrameSource.rebuilt`."""
        columns = [self._column(name, labels.get(name), order) for name in names]
        return pa.Table.from_arrays(columns, names=list(names))

    def _column(self, name: str, labels: Labels | None, order: Order) -> pa.ChunkedArray:
        column = self._table.column(name)
        return public_column(column, order) if labels is None else label_column(labels, column.type)


class ArrowBatch(ArrowTable):
    """A `pyarrow.RecordBatch`."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        super().__init__(pa.Table.from_batches([batch]))

    def rebuilt(self, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
        """See `FrameSource.rebuilt`."""
        table = super().rebuilt(names, labels, order).combine_chunks()
        columns = [pa.concat_arrays(column.chunks) for column in table.columns]
        return pa.RecordBatch.from_arrays(columns, names=list(names))


def label_column(labels: Labels, given: pa.DataType) -> pa.ChunkedArray:
    """The labels, in the type that a column of type `given` has in a release."""
    target = type_like(given, labels.domain)
    return pa.chunked_array(
        [decode(codes, labels.domain, target) for codes in _parts(labels, target)], type=target
    )


def _parts(labels: Labels, target: pa.DataType) -> Iterator[Any]:
    """All codes at once, so that a dictionary stands there once; those of plain text in parts."""
    size = labels.codes.size
    step = max(1, size) if pa.types.is_dictionary(target) else _SLICE_ROWS
    for start in range(0, max(1, size), step):
        yield labels.codes[start : start + step]


def public_column(column: pa.ChunkedArray, order: Order) -> pa.ChunkedArray:
    """The values in the new order; a dictionary lists no more than them."""
    values = pa.chunked_array(Gatherer(column).slices(order))
    return values.dictionary_encode().cast(column.type) if pa.types.is_dictionary(column.type) else values
