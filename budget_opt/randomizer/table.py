"""Randomizing a table in memory."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.randomizer.drawing import ascending, drawing_for
from budget_opt.randomizer.keyed_release import KeyedRows
from budget_opt.randomizer.originals import unreleased
from budget_opt.randomizer.persons import person_ids, require_few, require_person_column
from budget_opt.randomizer.plan import Plan, plan_for
from budget_opt.randomizer.release import Release, RowOrder, row_order_of
from budget_opt.randomizer.row_names import RowIds, RowNames, positions, require_row_id, unnamed
from budget_opt.randomizer.unique_names import require_unique
from budget_opt.randomizer.words import SeededWords
from budget_opt.tables.encoding import Codes
from budget_opt.tables.findings import Findings
from budget_opt.tables.frames import FrameSource
from budget_opt.tables.label_types import Labels
from budget_opt.tables.public import Order
from budget_opt.tables.reading import encoders_for


def randomize_table(
    table: Any,
    allocation: Allocation,
    *,
    row_order: str | None = None,
    include_empty: bool = False,
    words: SeededWords | None = None,
    keyed: KeyedRows | None = None,
) -> Release:
    """Randomize a pandas or polars data frame, a pyarrow table or record batch; the same kind comes back.

    Columns stand in the table's order; rows are shuffled unless `row_order` (else the allocation's)
    is "public". `include_empty` also releases the attributes without a sampler, as pure noise.
    Words are fresh ones, those of a `keyed` release, or `words` for tests: what these release is marked
    as not private.

    Raises `DataError` (columns without a budget or absent, cells outside their domains: all at once,
    before a word is drawn; ids of rows that are missing or not unique; persons with more records than the
    problem allows, see `persons`), `InputError` (row_order) and `RandomSourceError`.
    """
    kind = row_order_of(row_order, allocation.row_order)
    return TableInMemory(table, allocation, keyed, include_empty=include_empty).randomized(kind, words)


class TableInMemory:
    """A table whose cells all fit, and of which nothing has been drawn yet.

    `codes` has those of the originals, by attribute; `keyed` is the keyed release of it, if any. Raises the
    `DataError` and `InputError` of `randomize_table`.
    """

    def __init__(
        self,
        table: Any,
        allocation: Allocation,
        keyed: KeyedRows | None = None,
        *,
        include_empty: bool = False,
    ) -> None:
        self._source, self.keyed = FrameSource(table), keyed
        self._allocation = allocation
        self._plan = plan_for(self._source, allocation, include_empty=include_empty)
        if keyed is not None and keyed.row_id is not None:
            require_row_id(keyed.row_id, self._source.names, allocation)
        require_person_column(self._plan.unit, self._source.names)
        self.codes, self._names = _read(self._source, self._plan, keyed)

    def all_codes(self) -> dict[str, Codes]:
        """The codes of all attributes, also of unreleased ones; what is wrong with those is no fault."""
        others = encoders_for(self._source, unreleased(self._allocation, self._plan))
        found = dict(self.codes)
        for name, encoder in others.items():
            found[name] = encoder.blank(self._source.rows)
            with Findings().collecting(name):
                found[name] = encoder.codes(Findings(), self._source.column(name))
        return found

    def randomized(self, row_order: RowOrder, words: SeededWords | None = None) -> Release:
        """A release of the table: every call is another one, unless it is keyed."""
        source, plan = self._source, self._plan
        with closing(drawing_for(plan.blocks, words, self.keyed)) as drawing:
            reports = drawing.reports(self.codes, self._names)
            same = row_order == "public"
            order = _same_order(source.rows) if same else ascending(drawing.order_keys(self._names))
        labels = {name: Labels(reports[name][order], domain) for name, domain in plan.domains.items()}
        return Release(
            table=source.rebuilt(plan.columns, labels, order),
            columns=plan.columns,
            rows=source.rows,
            row_order=row_order,
            private=words is None,
        )


def _read(source: FrameSource, plan: Plan, keyed: KeyedRows | None) -> tuple[dict[str, Codes], RowNames]:
    """The codes of all columns and the names of all rows; `DataError` tells all faults."""
    findings, codes = Findings(), {}
    for name, encoder in encoders_for(source, plan.domains).items():
        with findings.collecting(name):
            codes[name] = encoder.codes(findings, source.column(name))
    names = unnamed(source.rows) if keyed is None else positions(0, source.rows)
    ids = None if keyed is None or keyed.row_id is None else RowIds(keyed.release, keyed.row_id)
    if ids is not None:
        with findings.collecting(ids.column_name):
            names = ids.names(findings, source.column(ids.column_name), 0)
    persons = person_ids(plan.unit)
    if persons is not None:
        with findings.collecting(persons.column_name):
            of_persons = persons.names(findings, source.column(persons.column_name), 0)
    findings.require_none()
    if ids is not None:
        require_unique(lambda: iter([(0, names)]), ids.column_name)
    if persons is not None:
        require_few(lambda: iter([(0, of_persons)]), plan.unit)
    return codes, names


def _same_order(rows: int) -> Order:
    return np.arange(rows, dtype=np.int64)
