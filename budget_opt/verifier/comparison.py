"""Two tables side by side: columns, rows, domains and public columns, then the judge of the codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from budget_opt.allocation import AllocatedAttribute, Allocation
from budget_opt.allocation.columns import other_columns
from budget_opt.errors import DataError
from budget_opt.model.domain import Domain
from budget_opt.tables.attachments import attachments
from budget_opt.tables.counting import AnyCodes
from budget_opt.tables.encoding import Codes, Encoder, code_type
from budget_opt.tables.findings import Findings
from budget_opt.tables.public import without_dictionary
from budget_opt.tables.reading import encoded, encoders_for, open_table
from budget_opt.tables.source import Source, listed, require_columns
from budget_opt.verifier.public_values import PublicValues, public_in_moments
from budget_opt.verifier.release import ReleaseJudge
from budget_opt.verifier.release_report import ReleaseReport
from budget_opt.verifier.report import EXPECTED, Check

_NONE = "none outside"
Sides = tuple[pa.RecordBatch | None, pa.RecordBatch | None]


def compare_tables(allocation: Allocation, original: Any, released: Any, false_alarm: float) -> ReleaseReport:
    """See `verify_release`."""
    originals, reports = open_table(original), open_table(released)
    require_columns(allocation.released, originals)
    attributes = [a for a in allocation.attributes if a.name in reports.names and a.name in originals.names]
    public = [name for name in allocation.public if name in reports.names]
    values = PublicValues(originals, [name for name in public_in_moments(allocation) if name in public])
    judge = ReleaseJudge(
        allocation,
        false_alarm=false_alarm,
        released={a.name for a in attributes},
        public=values.channels,
    )
    pair = _Pair(originals, reports, attributes, public, values)
    for codes in pair.codes():
        judge.add(*codes)
    checks = [
        columns_check(allocation, reports),
        attachments_check(allocation, released),
        pair.rows_check(),
        *pair.cells.checks(),
    ]
    if pair.rows_agree:
        checks += pair.public_checks()
        left_out = dict.fromkeys(pair.cells.unreadable, "it has cells outside its domain")
    else:
        left_out = dict.fromkeys((a.name for a in attributes), "the numbers of rows differ")
    return judge.report(checks, not_judged=left_out)


def aligned(left: Iterator[pa.RecordBatch], right: Iterator[pa.RecordBatch]) -> Iterator[Sides]:
    """Slices of both with equally many rows; what one has more than the other comes last, alone."""
    first, second = next(left, None), next(right, None)
    while first is not None and second is not None:
        rows = min(first.num_rows, second.num_rows)
        if rows:
            yield first.slice(0, rows), second.slice(0, rows)
        first = first.slice(rows) if first.num_rows > rows else next(left, None)
        second = second.slice(rows) if second.num_rows > rows else next(right, None)
    if first is not None:
        yield first, None
    if second is not None:
        yield None, second
    yield from ((batch, None) for batch in left)
    yield from ((None, batch) for batch in right)


def columns_check(allocation: Allocation, released: Source) -> Check:
    """All attributes with a sampler, all public columns, and nothing else but attributes without one."""
    other = other_columns(allocation, released.names)
    said = [f"without {listed(other.absent)}"] if other.absent else []
    if other.more:
        # without all declared names the first line may be no header but a record
        said.append(f"also {len(other.more)} others" if other.absent else f"also {listed(other.more)}")
    return Check(
        claim="the release has the allocation's columns and no other",
        measured="; ".join(said) or f"{len(released.names)} columns",
        limit=f"{len(allocation.released)} columns",
        holds=not said,
        source="attributes and public columns of the allocation",
        word=EXPECTED,
    )


def attachments_check(allocation: Allocation, released: Any) -> Check:
    """No index, attributes or metadata beside the columns."""
    labels = {attribute.name: attribute.domain.labels for attribute in allocation.attributes}
    found = attachments(released, labels)
    claim = "nothing is attached to the release beside its columns"
    return Check(
        claim=f"{claim}: not so, it has {' and '.join(found)}" if found else claim,
        measured=len(found),
        limit=0,
        holds=not found,
        source="index, attributes and metadata",
        name=claim,
    )


class ReleasedCells:
    """The codes of released cells, and which columns have cells that are no declared label."""

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        self._domains = domains
        self._faults = {name: Findings() for name in domains}
        self._outside: dict[str, str] = dict.fromkeys(domains, _NONE)

    def codes(self, batch: pa.RecordBatch, encoders: Mapping[str, Encoder]) -> dict[str, Codes]:
        """The codes of a batch; faulty cells get code 0."""
        codes = {}
        for name, encoder in encoders.items():
            try:
                codes[name] = encoder.codes(self._faults[name], batch.column(name))
            except DataError:
                self._outside[name] = "the column has another type"
                codes[name] = np.zeros(batch.num_rows, dtype=code_type(self._domains[name].cardinality))
        return codes

    def take_stock(self) -> None:
        """Once all batches are read: how many cells are faulty."""
        for name, findings in self._faults.items():
            try:
                findings.require_none()
            except DataError as error:
                self._outside[name] = f"at least {error.count} outside"

    @property
    def unreadable(self) -> list[str]:
        """Attributes with released cells outside their domain."""
        return [name for name, said in self._outside.items() if said != _NONE]

    def checks(self) -> Iterator[Check]:
        """Every released cell is a declared label."""
        for name, said in self._outside.items():
            claim = f"{name}: all cells are within the declared domain"
            sound = said == _NONE
            yield Check(claim, said, _NONE, sound, "declared labels", word=EXPECTED)


class _Pair:
    """Both tables read in step, with what is wrong in either."""

    def __init__(
        self,
        original: Source,
        released: Source,
        attributes: Sequence[AllocatedAttribute],
        public: Sequence[str],
        values: PublicValues,
    ) -> None:
        self._tables = original, released
        self._domains = {attribute.name: attribute.domain for attribute in attributes}
        self.cells = ReleasedCells(self._domains)
        self._changed = dict.fromkeys(public, 0)
        self._values = values
        self._rows = [0, 0]

    @property
    def rows_agree(self) -> bool:
        """True where both have equally many rows."""
        return self._rows[0] == self._rows[1]

    def codes(self) -> Iterator[tuple[dict[str, AnyCodes], dict[str, AnyCodes]]]:
        """The attributes' codes of both tables, a batch at a time; faulty released cells get code 0.

        With those of public columns that take part in moments.

        Raises `DataError` at the end where originals lie outside the declared domains.
        """
        original, released = self._tables
        wanted = [*self._domains, *self._changed]
        batches = (table.batches(wanted or table.names[:1]) for table in self._tables)
        encoders = encoders_for(original, self._domains), encoders_for(released, self._domains, released=True)
        findings = Findings()
        for left, right in aligned(*batches):
            if left is not None and right is not None:
                # that public columns are as they were is a check of its own
                same = self._values.codes(left)
                yield (
                    {**encoded(left, encoders[0], findings, self._rows[0]), **same},
                    {**self.cells.codes(right, encoders[1]), **same},
                )
                for name in self._changed:
                    self._changed[name] += differing(left.column(name), right.column(name))
            self._rows[0] += 0 if left is None else left.num_rows
            self._rows[1] += 0 if right is None else right.num_rows
        findings.require_none()
        self.cells.take_stock()

    def rows_check(self) -> Check:
        """As many rows as the originals."""
        rows = self._rows
        claim = "the release has every row"
        return Check(claim, rows[1], rows[0], self.rows_agree, "count", word=EXPECTED)

    def public_checks(self) -> Iterator[Check]:
        """Public columns are released as they are."""
        for name, wrong in self._changed.items():
            claim, source = f"public column {name} is as it was", "cells changed, by comparison of values"
            yield Check(claim, wrong, 0, wrong == 0, source, word=EXPECTED)


def differing(original: pa.Array, released: pa.Array) -> int:
    """How many cells differ in value; null equals null and NaN equals NaN.

    Text, which is what a CSV file has, is read as the other side's type. Where one cannot be read as the
    other all cells count as different.
    """
    try:
        left, right = _same_type(without_dictionary(original), without_dictionary(released))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return len(original)
    try:
        equal = pc.fill_null(pc.equal(left, right), False)
        missing = (side.is_null(nan_is_null=pa.types.is_floating(side.type)) for side in (left, right))
        return len(original) - int(pc.sum(pc.or_(equal, pc.and_(*missing))).as_py() or 0)
    except pa.ArrowNotImplementedError:
        # lists, structures and text views have no comparison of columns, only of cells
        return sum(not one.equals(other) for one, other in zip(left, right, strict=True))


def _same_type(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both in the type of the left, unless only the left is text."""
    if _is_text(left.type) and not _is_text(right.type):
        return left.cast(right.type), right
    return left, right if right.type == left.type else right.cast(left.type)


def _is_text(given: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(given) or pa.types.is_large_string(given) or pa.types.is_string_view(given)
    )
