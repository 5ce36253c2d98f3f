"""A release judged while it is made: public columns of its moments are read beside it, in step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from budget_opt.allocation import Allocation
from budget_opt.tables.counting import AnyCodes
from budget_opt.tables.reading import open_table
from budget_opt.verifier.public_values import PublicRows, PublicValues, public_in_moments
from budget_opt.verifier.release import ReleaseJudge
from budget_opt.verifier.release_report import ReleaseReport


class StreamedJudge:
    """As `ReleaseJudge`, for batches with the codes of the attributes only.

    The batches must be all rows of `originals`, a table or a path, in its order. Only where public columns
    take part in moments are these read from there: once for their values when the first batch comes, and
    once more with the batches.
    """

    def __init__(self, allocation: Allocation, originals: Any) -> None:
        self._allocation, self._originals = allocation, originals

    def add(self, original: Mapping[str, AnyCodes], released: Mapping[str, AnyCodes]) -> None:
        """Take the next rows; raises what `ReleaseJudge.add` does, and `DataError` for other originals."""
        rows = next((codes.size for codes in original.values()), 0)
        public = self._rows.codes(rows)
        self._judge.add({**original, **public}, {**released, **public})

    def report(self) -> ReleaseReport:
        """The verdict on all batches; none may come after it."""
        return self._judge.report()

    @cached_property
    def _rows(self) -> PublicRows:
        table = open_table(self._originals)
        return PublicRows(table, PublicValues(table, public_in_moments(self._allocation)))

    @cached_property
    def _judge(self) -> ReleaseJudge:
        return ReleaseJudge(self._allocation, public=self._rows.channels)
