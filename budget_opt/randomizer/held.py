"""Released rows while they wait for all others: codes instead of labels, public values, perhaps a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from budget_opt.randomizer.drawing import OrderKeys
from budget_opt.randomizer.plan import Plan
from budget_opt.randomizer.sorting import KEY_FIELDS
from budget_opt.tables.encoding import Codes, code_type, decode
from budget_opt.tables.public import Gatherer, Order, held_type, released_type, without_dictionary
from budget_opt.tables.source import BATCH_ROWS


class HeldRows:
    """How the rows of a plan are held; `original` has the types of the public columns."""

    def __init__(self, plan: Plan, original: pa.Schema, *, with_keys: bool) -> None:
        self._plan = plan
        self._public = {name: released_type(original.field(name).type) for name in plan.public}
        self._keys = len(KEY_FIELDS) if with_keys else 0
        held = [(name, self._held_type(name, original)) for name in plan.columns]
        self.schema = pa.schema([*KEY_FIELDS[: self._keys], *held])

    def batch(
        self, reports: Mapping[str, Codes], public: pa.RecordBatch, keys: OrderKeys | None = None
    ) -> pa.RecordBatch:
        """Rows as they are held."""
        halves = [] if keys is None else [np.ascontiguousarray(keys[:, i]) for i in range(self._keys)]
        columns = [
            pa.array(reports[name]) if name in reports else without_dictionary(public.column(name))
            for name in self._plan.columns
        ]
        arrays = [
            column.cast(field.type)
            for column, field in zip([*map(pa.array, halves), *columns], self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def released(self, batches: Sequence[pa.RecordBatch], order: Order) -> Iterator[pa.RecordBatch]:
        """Held rows as they are released, in this order, some of them at a time."""
        at = {name: self._keys + i for i, name in enumerate(self._plan.columns)}
        codes = {
            name: np.concatenate([batch.column(at[name]).to_numpy() for batch in batches])
            for name in self._plan.domains
        }
        public = {
            name: Gatherer(pa.chunked_array([batch.column(at[name]) for batch in batches]))
            for name in self._plan.public
        }
        for start in range(0, order.size, BATCH_ROWS):
            rows = order[start : start + BATCH_ROWS]
            values = {name: gatherer.rows(rows).cast(self._public[name]) for name, gatherer in public.items()}
            yield released_batch(self._plan, {name: codes[name][rows] for name in codes}, values)

    def _held_type(self, name: str, original: pa.Schema) -> pa.DataType:
        if name in self._plan.domains:
            return pa.from_numpy_dtype(code_type(self._plan.domains[name].cardinality))
        return held_type(original.field(name).type)


def released_batch(
    plan: Plan, reports: Mapping[str, Codes], public: Mapping[str, pa.Array]
) -> pa.RecordBatch:
    """Released rows in the table's column order."""
    columns = [
        decode(reports[name], plan.domains[name]) if name in plan.domains else public[name]
        for name in plan.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(plan.columns))
