"""The rows that are done, drawn once more, for whoever must see all pairs of originals and reports."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from budget_opt.allocation import Allocation
from budget_opt.randomizer.drawing import drawing_for
from budget_opt.randomizer.files import OnBatch
from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
from budget_opt.randomizer.plan import plan_for
from budget_opt.randomizer.row_names import positions
from budget_opt.tables.findings import Findings
from budget_opt.tables.reading import encoded, encoders_for, numbered, open_file


def replay(source: Path, allocation: Allocation, release: KeyedRelease, rows: int, on_batch: OnBatch) -> None:
    """Give `on_batch` the first `rows` rows: under the same key their reports are those that were drawn.

    Raises `DataError` where the original cannot be read or has faulty cells by now.
    """
    if not rows:
        return
    table = open_file(source)
    plan = plan_for(table, allocation, include_empty=False)
    encoders, findings = encoders_for(table, plan.domains), Findings()
    with closing(drawing_for(plan.blocks, None, KeyedRows(release))) as drawing:
        for first_row, batch in numbered(table.batches(list(plan.domains))):
            part = batch.slice(0, rows - first_row)
            codes = encoded(part, encoders, findings, first_row)
            findings.require_none()
            on_batch(codes, drawing.reports(codes, positions(first_row, part.num_rows)))
            if first_row + part.num_rows == rows:
                return
