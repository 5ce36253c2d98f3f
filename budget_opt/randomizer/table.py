"""Randomizing a table in memory."""

from __future__ import annotations

from typing import Any

from budget_opt.allocation import Allocation
from budget_opt.randomizer.order import same_order, shuffled_order
from budget_opt.randomizer.plan import Plan, plan_for
from budget_opt.randomizer.release import Release, row_order_of
from budget_opt.randomizer.reports import Reports
from budget_opt.randomizer.words import SecureWords, SeededWords
from budget_opt.tables.encoding import Codes, decode
from budget_opt.tables.findings import Findings
from budget_opt.tables.frames import FrameSource, Labels
from budget_opt.tables.reading import encoders_for


def randomize_table(
    table: Any,
    allocation: Allocation,
    *,
    row_order: str | None = None,
    include_empty: bool = False,
    words: SeededWords | None = None,
) -> Release:
    """Randomize a pandas or polars data frame, a pyarrow table or record batch; the same kind comes back.

    Columns stand in the table's order; rows are shuffled unless `row_order` (else the allocation's)
    is "public". `include_empty` also releases the attributes without a sampler, as pure noise.
    `words` are for tests: what they release is marked as not private.

    Raises `DataError` (columns without a budget or absent, cells outside their domains: all at once,
    before a word is drawn), `InputError` (row_order) and `RandomSourceError`.
    """
    kind = row_order_of(row_order, allocation.row_order)
    source = FrameSource(table)
    plan = plan_for(source, allocation, include_empty=include_empty)
    codes = _codes(source, plan)
    drawn = SecureWords() if words is None else words
    try:
        reports = Reports(plan.randomized, drawn).of(codes)
        order = same_order(source.rows) if kind == "public" else shuffled_order(source.rows, drawn)
    finally:
        drawn.close()
    labels = {
        name: Labels(decode(reports[name][order], domain), domain.missing is not None)
        for name, domain in plan.domains.items()
    }
    return Release(
        table=source.rebuilt(plan.columns, labels, order),
        columns=plan.columns,
        rows=source.rows,
        row_order=kind,
        private=words is None,
    )


def _codes(source: FrameSource, plan: Plan) -> dict[str, Codes]:
    findings, codes = Findings(), {}
    for name, encoder in encoders_for(source, plan.domains).items():
        with findings.collecting(name):
            codes[name] = encoder.codes(findings, source.column(name))
    findings.require_none()
    return codes
