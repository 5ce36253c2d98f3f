"""Whether every row has a name of its own, for tables of any length in flat memory.

Two rows of one name and one value would get one report, so that different reports of theirs would reveal
that the values differ. Names are compared by marks of 64 bits, in passes over the ids: each takes the marks
from one bound to another, as many as fit into memory, sorts them and notes those that stand twice.
Different names may share a mark, if hardly ever, so a last pass looks at the names themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from budget_opt.errors import DataError
from budget_opt.randomizer.row_names import NAME_WORDS, RowNames
from budget_opt.tables.findings import SHOWN_ROWS

NamedRows: TypeAlias = "Callable[[], Iterator[tuple[int, RowNames]]]"
"""All rows from the first, anew with each call: the number of the first row of a part, and its names."""

ROOM = 2**24
"""Marks that are held in a pass: 128 MiB, and for a moment as much again where some stand twice."""

SUSPECTS = 2**16
"""Marks whose rows are looked up; where more stand twice, the count that is told is a lower bound."""

_Marks = npt.NDArray[np.uint64]
_SIGN = np.uint64(0x9E3779B97F4A7C15)
_LARGEST = 2**64 - 1


def require_unique(rows: NamedRows, column: str, *, room: int = ROOM) -> None:
    """`DataError` with the column, the count and the first rows that share an id; never the id.

    Reads the rows once where their ids ascend or fit into the room (>= 2), else once for every `room` / 2
    to `room` of them, and once more where there is something to tell.
    """
    if _ascend(rows):
        return
    suspects = _repeated_marks(rows, room)
    if not suspects.size:
        return
    shared = [seen for seen in _seen(rows, suspects[:SUSPECTS]) if seen.count > 1]
    if shared:
        raise _refusal(column, shared, exact=suspects.size <= SUSPECTS)


def _marks(names: RowNames) -> _Marks:
    """64 bits of each name: distinct for integers of one sign, and random for texts."""
    low = np.ascontiguousarray(names[:, :2]).view("<u8")[:, 0]
    marks: _Marks = low + names[:, 2] * _SIGN
    return marks


def _ascend(rows: NamedRows) -> bool:
    """Whether every mark is above the one before, so that no two are equal; looks no further than needed."""
    last = -1
    for _, names in rows():
        marks = _marks(names)
        if marks.size:
            if int(marks[0]) <= last or np.any(marks[1:] <= marks[:-1]):
                return False
            last = int(marks[-1])
    return True


def _repeated_marks(rows: NamedRows, room: int) -> _Marks:
    """The marks that stand more than once, ascending: all, or the least `SUSPECTS` + 1 of them."""
    repeated, low = np.empty(0, dtype=np.uint64), 0
    while True:
        span = _Span(low, room)
        for _, names in rows():
            span.add(_marks(names))
        span.settle()
        repeated = np.concatenate([repeated, span.repeated])[: SUSPECTS + 1]
        if span.high == _LARGEST:
            return repeated
        low = span.high + 1


class _Span:
    """The marks from `low` to `high`, both included; `high` comes down until they fit into the room."""

    def __init__(self, low: int, room: int) -> None:
        self.low, self.high = low, _LARGEST
        self.repeated = np.empty(0, dtype=np.uint64)
        self._held, self._count = np.empty(room, dtype=np.uint64), 0

    def add(self, marks: _Marks) -> None:
        """Take the next marks."""
        marks = marks[marks >= np.uint64(self.low)]
        while (marks := marks[marks <= np.uint64(self.high)]).size:
            taken = marks[: self._held.size - self._count]
            self._held[self._count : self._count + taken.size] = taken
            self._count += taken.size
            marks = marks[taken.size :]
            if self._count == self._held.size:
                self.settle()
                self._halve()

    def settle(self) -> None:
        """Sort what is held, note what stands more than once, and hold every mark once."""
        held = self._held[: self._count]
        held.sort()
        again = held[1:] == held[:-1]
        if again.any():
            self.repeated = np.union1d(self.repeated, held[1:][again])[: SUSPECTS + 1]
            single = np.delete(held, 1 + np.flatnonzero(again))
            self._count = single.size
            self._held[: self._count] = single

    def _halve(self) -> None:
        """Let the upper marks go where more than half of the room is taken."""
        half = self._held.size // 2
        if self._count > half:
            self._count = half
            self.high = int(self._held[half - 1])
            self.repeated = self.repeated[self.repeated <= np.uint64(self.high)]


@dataclass
class _Seen:
    """How often a name stands, and where first."""

    count: int = 0
    rows: list[int] = field(default_factory=list)

    def add(self, rows: npt.NDArray[np.int64]) -> None:
        """Its next rows."""
        self.count += rows.size
        self.rows += rows[: SHOWN_ROWS - len(self.rows)].tolist()


def _seen(rows: NamedRows, suspects: _Marks) -> list[_Seen]:
    """What is known of each name that has one of these marks."""
    seen: dict[bytes, _Seen] = {}
    for first_row, names in rows():
        hits = np.flatnonzero(np.isin(_marks(names), suspects, kind="sort"))
        found = names[hits]
        order = np.lexsort([found[:, i] for i in range(NAME_WORDS)])
        hits, found = hits[order], found[order]
        starts = 1 + np.flatnonzero(np.any(found[1:] != found[:-1], axis=1))
        for part, named in zip(np.split(hits, starts), np.split(found, starts), strict=True):
            if part.size:
                seen.setdefault(named[0].tobytes(), _Seen()).add(first_row + part)
    return list(seen.values())


def _refusal(column: str, shared: list[_Seen], *, exact: bool) -> DataError:
    count = sum(seen.count for seen in shared)
    first = sorted(row for seen in shared for row in seen.rows)[:SHOWN_ROWS]
    more = ", ..." if count > len(first) else ""
    return DataError(
        f"column {column!r}: names the rows, and {'' if exact else 'at least '}{count} of them share an id "
        f"with another (rows {', '.join(map(str, first))}{more}; the first record is row 0). Equal ids with "
        "equal values get equal reports, so that different reports would reveal different values. Give every "
        "row an id of its own.",
        column=column,
        count=count,
        rows=tuple(first),
    )
