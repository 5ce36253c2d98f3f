"""Public columns: their values in a new row order, without what their containers remember (R15)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Order = npt.NDArray[np.int64]

_OF_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
_WIDE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary(), **_OF_VIEWS}
_SLICE_ROWS = 2**16


def released_type(given: pa.DataType) -> pa.DataType:
    """The type of a public column in a file: a dictionary's values, everything else as it is.

    A dictionary may list values that no row has.
    """
    return given.value_type if pa.types.is_dictionary(given) else given


def held_type(given: pa.DataType) -> pa.DataType:
    """The type in which a public column waits on disk: a slice of views would carry all their text."""
    return _OF_VIEWS.get(released_type(given), released_type(given))


def without_dictionary(column: pa.Array | pa.ChunkedArray) -> Any:
    """The column's values as `released_type`."""
    return column.cast(released_type(column.type))


class Gatherer:
    """A public column whose rows can be asked for in any order."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        plain = without_dictionary(column)
        self._type = plain.type
        # a whole column of text may be longer than the 2 GiB that Arrow's plain text can address
        values = plain.cast(_WIDE.get(self._type, self._type)).combine_chunks()
        self._values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values

    def rows(self, order: Order) -> pa.Array:
        """The values at these rows, in this order; at most some 2 GiB of text at a time."""
        return self._values.take(pa.array(order)).cast(self._type)

    def slices(self, order: Order) -> Iterator[pa.Array]:
        """The values at these rows, a part at a time."""
        for start in range(0, max(1, order.size), _SLICE_ROWS):
            yield self.rows(order[start : start + _SLICE_ROWS])
