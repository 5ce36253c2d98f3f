"""The rows of a file as they are read to be released: codes, names, and every fault at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from budget_opt.allocation import Allocation
from budget_opt.model.domain import Domain
from budget_opt.randomizer.keyed_release import KeyedRows
from budget_opt.randomizer.persons import person_ids, require_few
from budget_opt.randomizer.plan import Plan
from budget_opt.randomizer.row_names import Ids, RowIds, RowNames, positions
from budget_opt.randomizer.unique_names import require_unique
from budget_opt.tables.encoding import Codes
from budget_opt.tables.findings import Findings
from budget_opt.tables.reading import encoded, encoders_for, numbered, place_in
from budget_opt.tables.source import FileSource


class Part(NamedTuple):
    """The next rows: as they were read, as codes, and their names; `until` counts all rows up to their end.

    `faulty` says that a cell of these rows or of earlier ones does not fit, so that nothing may be drawn.
    """

    batch: pa.RecordBatch
    codes: dict[str, Codes]
    names: RowNames
    until: int
    faulty: bool


class Originals(NamedTuple):
    """A file, what becomes of its columns, and what names its rows in a keyed release."""

    table: FileSource
    plan: Plan
    keyed: KeyedRows | None

    def parts(self, done: int = 0, more: Mapping[str, Domain] | None = None) -> Iterator[Part]:
        """All rows but the first `done`.

        After the first faulty cell the rest is still read, so that all faults are told. `more` are columns
        whose codes are wanted too, although they are not released: what is wrong with them is no fault.

        Raises, after the last rows, `DataError` for cells outside their domains, ids of rows that are missing
        or not unique, and persons with more records than the problem allows.
        """
        table, plan, ids, persons = self.table, self.plan, _row_ids(self.keyed), person_ids(self.plan.unit)
        encoders, others = encoders_for(table, plan.domains), encoders_for(table, more or {})
        findings = Findings()
        beside = [one.column_name for one in (ids, persons) if one is not None]
        columns = list(dict.fromkeys((*plan.columns, *others, *beside)))
        for first_row, batch in numbered(table.batches(columns, skip=done), done):
            codes = encoded(batch, encoders, findings, first_row)
            codes |= encoded(batch, others, Findings(), first_row)
            names = _names(ids, findings, first_row, batch)
            if persons is not None:
                with findings.collecting(persons.column_name):
                    persons.check(findings, batch.column(persons.column_name), first_row)
            yield Part(batch, codes, names, first_row + batch.num_rows, bool(findings))
        findings.require_none(table.title, place_in(table))
        if ids is not None:
            require_unique(lambda: _all_names(table, ids), ids.column_name)
        if persons is not None:
            require_few(lambda: _all_names(table, persons), plan.unit)

    def look_through(self, allocation: Allocation, on_codes: Callable[[Mapping[str, Codes]], None]) -> None:
        """Read everything once and draw nothing; `on_codes` is shown all attributes, also unreleased ones.

        Raises what `parts` does.
        """
        for part in self.parts(more=unreleased(allocation, self.plan)):
            if not part.faulty:
                on_codes(part.codes)


def unreleased(allocation: Allocation, plan: Plan) -> dict[str, Domain]:
    """The attributes that have no budget, so that their columns are left out."""
    return {one.name: one.domain for one in allocation.attributes if one.name not in plan.domains}


def _row_ids(keyed: KeyedRows | None) -> RowIds | None:
    return None if keyed is None or keyed.row_id is None else RowIds(keyed.release, keyed.row_id)


def _names(ids: RowIds | None, findings: Findings, first_row: int, batch: pa.RecordBatch) -> RowNames:
    if ids is not None:
        with findings.collecting(ids.column_name):
            return ids.names(findings, batch.column(ids.column_name), first_row)
    return positions(first_row, batch.num_rows)


def _all_names(table: FileSource, ids: Ids) -> Iterator[tuple[int, RowNames]]:
    """The names of all rows of a table in which none is missing."""
    for first_row, batch in numbered(table.batches([ids.column_name])):
        yield first_row, ids.names(Findings(), batch.column(0), first_row)
