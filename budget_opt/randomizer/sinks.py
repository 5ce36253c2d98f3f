"""Where the randomized batches of a file go: straight on, or shuffled when all are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from budget_opt.randomizer.order import shuffled_order
from budget_opt.randomizer.plan import Plan
from budget_opt.randomizer.words import WordSource
from budget_opt.tables.encoding import Codes, decode
from budget_opt.tables.public import Gatherer, without_dictionary
from budget_opt.tables.reading import joined
from budget_opt.tables.source import BATCH_ROWS
from budget_opt.tables.writing import TableWriter


class Sink(Protocol):
    """Takes the batches of a release in the order of the original."""

    def add(self, reports: Mapping[str, Codes], public: pa.RecordBatch, rows: int) -> None:
        """The next rows: reports by attribute, and the public columns."""

    def finish(self) -> None:
        """Write what is still held."""


class InOrder:
    """Writes every batch at once, in the original's order."""

    def __init__(self, plan: Plan, writer: TableWriter) -> None:
        self._plan, self._writer = plan, writer

    def add(self, reports: Mapping[str, Codes], public: pa.RecordBatch, rows: int) -> None:
        """Write the next rows."""
        del rows
        values = {name: without_dictionary(public.column(name)) for name in self._plan.public}
        self._writer.write(_batch(self._plan, reports, values))

    def finish(self) -> None:
        """Nothing is held."""


class Shuffled:
    """Holds codes and public columns, and writes them in a random order once all rows are there."""

    def __init__(self, plan: Plan, writer: TableWriter, source: WordSource) -> None:
        self._plan, self._writer, self._source = plan, writer, source
        self._reports: dict[str, list[Codes]] = {name: [] for name in plan.domains}
        self._public: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, reports: Mapping[str, Codes], public: pa.RecordBatch, rows: int) -> None:
        """Hold the next rows."""
        for name, parts in self._reports.items():
            parts.append(reports[name])
        if self._plan.public:
            self._public.append(public)
        self._rows += rows

    def finish(self) -> None:
        """Shuffle and write all rows."""
        order = shuffled_order(self._rows, self._source)
        codes = {name: joined(self._reports[name], domain) for name, domain in self._plan.domains.items()}
        public = self._gatherers() if self._rows else {}
        for start in range(0, self._rows, BATCH_ROWS):
            rows = order[start : start + BATCH_ROWS]
            values = {name: gatherer.rows(rows) for name, gatherer in public.items()}
            self._writer.write(_batch(self._plan, {name: codes[name][rows] for name in codes}, values))

    def _gatherers(self) -> dict[str, Gatherer]:
        return {
            name: Gatherer(pa.chunked_array([batch.column(name) for batch in self._public]))
            for name in self._plan.public
        }


def _batch(plan: Plan, reports: Mapping[str, Codes], public: Mapping[str, pa.Array]) -> pa.RecordBatch:
    """The released rows in the table's column order."""
    columns = [
        decode(reports[name], plan.domains[name]) if name in plan.domains else public[name]
        for name in plan.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(plan.columns))
