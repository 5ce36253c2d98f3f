"""What a sampler gave back, as codes of the declared domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from budget_opt.allocation import AllocatedAttribute
from budget_opt.errors import DataError, InputError
from budget_opt.tables.lookup import MISSING, Lookup, positions
from budget_opt.tables.reading import open_table
from budget_opt.tables.source import Source, listed, require_columns
from budget_opt.verifier.auditing.samplers import SamplerError


class Reports:
    """The reports of so many records, in their order; `SamplerError` where it is no table of these rows."""

    def __init__(self, returned: Any, records: int) -> None:
        self._source = _opened(returned)
        self._rows = returned if isinstance(returned, list) else None
        self._names = tuple(dict.fromkeys(name for row in self._rows or () for name in row))
        if self._source is not None:
            self._names = tuple(self._source.names)
        found = len(self._rows) if self._rows is not None else len(self.column(self.names[0]))
        if found != records:
            raise SamplerError(
                f"the sampler: gave {found} reports for {records} records. It must give one for each."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; of records, those that any of them has."""
        return self._names

    def require(self, names: Sequence[str]) -> None:
        """`SamplerError` unless it has these columns."""
        if self._source is None:
            absent = [name for name in names if name not in self.names]
            if absent:
                raise SamplerError(f"the sampler: its reports have no {listed(absent)}. Names must be equal.")
            return
        try:
            require_columns(names, self._source)
        except DataError as failure:
            raise SamplerError(f"the sampler gave a table that cannot be judged: {failure}") from None

    def column(self, name: str) -> list[Any] | pa.ChunkedArray:
        """One column, as it is."""
        if self._rows is not None:
            return [row.get(name) for row in self._rows]
        assert self._source is not None
        try:
            batches = list(self._source.batches([name]))
        except DataError as failure:
            raise SamplerError(f"the sampler gave a table that cannot be judged: {failure}") from None
        return pa.chunked_array([batch.column(0) for batch in batches] or [pa.array([], pa.string())])

    def values(self, name: str) -> list[Any]:
        """One column as Python values."""
        column = self.column(name)
        return column if isinstance(column, list) else column.to_pylist()

    def codes(self, attribute: AllocatedAttribute, lookup: Lookup) -> npt.NDArray[np.int32]:
        """The codes of one column, r for a report outside the domain; `lookup` is that of its labels."""
        column, domain = self.column(attribute.name), attribute.domain
        if isinstance(column, list):
            return _codes_of_values(column, domain.labels)
        try:
            found = np.concatenate([positions(chunk, lookup) for chunk in column.chunks])
        except InputError as failure:
            raise SamplerError(f"the sampler gave reports of another type: {failure}") from None
        if domain.missing is not None:
            found[found == MISSING] = domain.missing
        return np.where(found < 0, domain.cardinality, found).astype(np.int32)


def _opened(returned: Any) -> Source | None:
    if isinstance(returned, list) and all(isinstance(row, Mapping) for row in returned):
        return None
    try:
        return open_table(returned)
    except DataError as failure:
        raise SamplerError(f"the sampler gave no table that can be read: {failure}") from None


def _codes_of_values(values: Sequence[Any], labels: Sequence[Any]) -> npt.NDArray[np.int32]:
    known = {(type(label), label): code for code, label in enumerate(labels)}
    outside = len(labels)
    # a number of numpy's stands for Python's
    plain = (value.item() if isinstance(value, np.generic) else value for value in values)
    return np.array([_found(known, value, outside) for value in plain], dtype=np.int32)


def _found(known: Mapping[tuple[type, Any], int], value: Any, outside: int) -> int:
    try:
        return known.get((type(value), value), outside)
    except TypeError:  # not hashable, so no label
        return outside
