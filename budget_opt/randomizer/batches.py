"""Randomizing record batches wherever they are, for engines that cut a table as they like.

    randomizer = BatchRandomizer(schema, allocation, release, row_id="person_id")
    released = [randomizer(batch) for batch in batches]

A report is a function of the row's id and the cell (`drawing`), so a batch that is randomized twice, in
another process or cut otherwise gives the same reports, and all of them are those of one machine. Who calls
it must see to it that no two rows of the whole table share an id (`unique_names` says why), and that no
person has more of them than the problem allows (`persons`): a batch does not show either.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from budget_opt.allocation import Allocation
from budget_opt.errors import DataError
from budget_opt.model.arguments import require
from budget_opt.randomizer.drawing import Keyed
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.randomizer.local.sources import terms_from
from budget_opt.randomizer.plan import plan_for
from budget_opt.randomizer.row_names import RowIds, RowNames, require_row_id
from budget_opt.tables.encoding import Codes, Encoder, decode
from budget_opt.tables.findings import Findings
from budget_opt.tables.frames import FrameSource
from budget_opt.tables.label_types import type_like
from budget_opt.tables.public import Gatherer, released_type
from budget_opt.tables.reading import encoded
from budget_opt.tables.source import require_columns
from budget_opt.tables.types import shown_type


class BatchRandomizer:
    """Randomizes record batches of one schema by the ids of their rows; can be pickled.

    `schema` is that of the batches, `release` names all words, `row_id` is the column of ids, which the
    problem must list under dropped or public; `include_empty` also releases the attributes without a
    sampler, as pure noise. Columns come back in the order and types of the schema, bins as the text of
    their labels. Its pickle holds keys of these attributes, which with the released columns give the
    originals: it is for the memory of the machines that randomize.

    Raises `DataError` for columns without a budget or absent, and for ids that are neither integers nor text,
    `InputError` for an argument of another type, and `VerificationError` for an allocation that overspends.
    """

    def __init__(
        self,
        schema: pa.Schema,
        allocation: Allocation,
        release: KeyedRelease,
        *,
        row_id: str,
        include_empty: bool = False,
    ) -> None:
        require(schema, pa.Schema, "schema")
        require(allocation, Allocation, "allocation")
        require(release, KeyedRelease, "release")
        terms_from(allocation).require_kept()
        source = FrameSource(schema.empty_table())
        self._plan = plan_for(source, allocation, include_empty=include_empty)
        require_row_id(row_id, source.names, allocation)
        self._ids = RowIds(release, row_id)
        self._ids.require_type(schema.field(row_id).type)
        self._keyed = Keyed(self._plan.blocks, release, row_id)
        self.domains = self._plan.domains
        """The declared domains of the randomized columns."""
        self._public = {name: released_type(schema.field(name).type) for name in self._plan.public}
        self._schema = pa.schema([(name, self._type(schema.field(name))) for name in self._plan.columns])
        self._encoders = {name: Encoder(domain, name) for name, domain in self.domains.items()}

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the released columns."""
        return self._schema

    @property
    def order_columns(self) -> tuple[str, str]:
        """The names of the two columns of keys, which no released column has."""
        high, low = "order_high", "order_low"
        while high in self._schema.names or low in self._schema.names:
            high, low = f"_{high}", f"_{low}"
        return high, low

    @property
    def order_schema(self) -> pa.Schema:
        """Names and types of what `with_order_keys` gives: the released columns and two of int64."""
        return pa.schema([*self._schema, *(pa.field(name, pa.int64()) for name in self.order_columns)])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The released rows of a batch, in its order.

        Raises `DataError` for ids that are missing and for cells outside their domains, all of them at once,
        the rows that it tells being counted in the batch; and for a batch without a column of the schema, or
        with a public column of another type.
        """
        released, _ = self._released(batch)
        return released

    def with_order_keys(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The released rows of a batch, and the keys by which a shuffled release is sorted.

        All rows of the table sorted by both columns of `order_columns`, ascending, are the shuffled release;
        the two columns are then to be dropped. Raises as a call does.
        """
        released, names = self._released(batch)
        columns = [*released.columns, *self._order_keys(names).columns]
        return pa.RecordBatch.from_arrays(columns, schema=self.order_schema)

    def check(self, batch: pa.RecordBatch, findings: Findings) -> pa.RecordBatch:
        """What is wrong with the cells of a batch goes to `findings`; returns its rows' order keys.

        No report is drawn. Rows with equal ids, and no others but for one pair in 2^96, have equal keys.
        """
        _, names = self._read(batch, findings)
        return self._order_keys(names)

    def _released(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, RowNames]:
        findings = Findings()
        codes, names = self._read(batch, findings)
        findings.require_none()
        reports = self._keyed.reports(codes, names)
        columns = [self._column(name, batch, reports) for name in self._plan.columns]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema), names

    def _read(self, batch: pa.RecordBatch, findings: Findings) -> tuple[dict[str, Codes], RowNames]:
        self._require_fit(batch)
        codes = encoded(batch, self._encoders, findings, 0)
        return codes, self._ids.names(findings, batch.column(self._ids.column_name), 0)

    def _require_fit(self, batch: pa.RecordBatch) -> None:
        """Public columns would be converted in silence, each batch in its own way."""
        require(batch, pa.RecordBatch, "batch")
        require_columns([*self._plan.columns, self._ids.column_name], FrameSource(batch))
        for name, declared in self._public.items():
            given = batch.schema.field(name).type
            if released_type(given) != declared:
                raise DataError(
                    f"column {name!r} is of type {shown_type(given)} in this batch, and {declared} in the "
                    "schema. Cast it to one type in the whole table.",
                    column=name,
                )

    def _order_keys(self, names: RowNames) -> pa.RecordBatch:
        # the top bit turned, so that signed integers have the order of the unsigned ones
        keys = (self._keyed.order_keys(names) ^ np.uint64(2**63)).view(np.int64)
        columns = [pa.array(np.ascontiguousarray(keys[:, half])) for half in (1, 0)]
        return pa.RecordBatch.from_arrays(columns, names=list(self.order_columns))

    def _column(self, name: str, batch: pa.RecordBatch, reports: Mapping[str, Codes]) -> pa.Array:
        if name in reports:
            return decode(reports[name], self.domains[name], self._schema.field(name).type)
        # a copy: what is cut from a larger batch is pickled with all of it
        return Gatherer(pa.chunked_array([batch.column(name)])).rows(np.arange(batch.num_rows))

    def _type(self, original: pa.Field) -> pa.DataType:
        if original.name not in self.domains:
            return released_type(original.type)
        domain = self.domains[original.name]
        return pa.string() if domain.kind == "bins" else type_like(original.type, domain)
