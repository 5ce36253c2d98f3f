"""Randomizing a file into a file, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from budget_opt.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.randomizer.plan import Plan, plan_for
from budget_opt.randomizer.release import Release, row_order_of
from budget_opt.randomizer.reports import Reports
from budget_opt.randomizer.sinks import InOrder, Shuffled, Sink
from budget_opt.randomizer.words import SecureWords, SeededWords
from budget_opt.tables.encoding import Codes, label_type
from budget_opt.tables.findings import Findings
from budget_opt.tables.public import released_type
from budget_opt.tables.reading import encoded, encoders_for, numbered, open_file
from budget_opt.tables.source import FileSource
from budget_opt.tables.writing import open_writer

OnBatch: TypeAlias = "Callable[[Mapping[str, Codes], Mapping[str, Codes]], None]"
"""Takes the codes of the original and those of the release, by attribute, for the next rows, unshuffled.

Internal: the pairs are outside the guarantee and must not leave the house (DESIGN 3.3).
"""

Progress: TypeAlias = "Callable[[int, float], None]"
"""Takes the number of rows that were read, and the share of the input that they are (0 to 1)."""


@dataclass(frozen=True)
class FileOptions:
    """How a file is released: see `randomize_file`.

    `before_commit` is called when all rows were read and randomized, before the target is there.
    """

    row_order: str | None = None
    include_empty: bool = False
    overwrite: bool = False
    progress: Progress | None = None
    on_batch: OnBatch | None = None
    before_commit: Callable[[], None] | None = None


def randomize_file(
    source: str | Path,
    allocation: Allocation,
    target: str | Path,
    options: FileOptions | None = None,
    *,
    words: SeededWords | None = None,
) -> Release:
    """Randomize a .csv, .csv.gz or .parquet file into another, which is there only when it is whole.

    With `row_order` "public" (else the allocation's) the rows are written as they are read; otherwise
    the reports and the public columns, never an original, wait in memory until all are read, and are
    shuffled. `overwrite` allows the target to exist, `include_empty` also releases the attributes
    without a sampler, as pure noise. What `progress`, `on_batch` or `before_commit` raise stops the
    release. `words` are for tests: what they release is marked as not private.

    Raises `DataError` (columns without a budget or absent; cells outside their domains, all of the
    file at once; a broken file), `InputError` (row_order; the target exists or cannot be written) and
    `RandomSourceError`. After any of them there is no target.
    """
    options = options or FileOptions()
    order = row_order_of(options.row_order, allocation.row_order)
    table = open_file(source)
    _require_another_file(Path(source), Path(target))
    plan = plan_for(table, allocation, include_empty=options.include_empty)
    drawn = SecureWords() if words is None else words
    try:
        with open_writer(Path(target), _schema(table, plan), overwrite=options.overwrite) as writer:
            sink: Sink = InOrder(plan, writer) if order == "public" else Shuffled(plan, writer, drawn)
            rows = _pass(table, plan, Reports(plan.randomized, drawn), sink, options)
            if options.before_commit is not None:
                options.before_commit()
            sink.finish()
    finally:
        drawn.close()
    return Release(Path(target), plan.columns, rows, order, private=words is None)


def _pass(table: FileSource, plan: Plan, reports: Reports, sink: Sink, options: FileOptions) -> int:
    """Read, encode and randomize every batch; the number of rows.

    After the first faulty cell the rest is only looked at, so that all faults are told.
    """
    encoders, findings, rows = encoders_for(table, plan.domains), Findings(), 0
    for first_row, batch in numbered(table.batches(plan.columns)):
        codes = encoded(batch, encoders, findings, first_row)
        if not findings:
            released = reports.of(codes)
            sink.add(released, batch.select(list(plan.public)), batch.num_rows)
            if options.on_batch is not None:
                options.on_batch(codes, released)
        rows += batch.num_rows
        if options.progress is not None:
            options.progress(rows, table.share())
    findings.require_none()
    return rows


def _schema(table: FileSource, plan: Plan) -> pa.Schema:
    """Names and types of the released columns: from the domains, and for public columns from the table."""

    def released(name: str) -> pa.DataType:
        if name in plan.domains:
            return label_type(plan.domains[name])
        return released_type(table.schema.field(name).type)

    return pa.schema([(name, released(name)) for name in plan.columns])


def _require_another_file(source: Path, target: Path) -> None:
    if target.exists() and target.samefile(source):
        raise InputError(f"{target}: is the original itself. Choose another name for the release.")
