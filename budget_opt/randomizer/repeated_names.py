"""Which names stand too often among rows, for tables of any length in flat memory.

Names are compared by marks of 64 bits, in passes over the rows: each takes the marks from one bound to
another, as many as fit into memory, sorts them and notes those that stand too often. Different names may
share a mark, if hardly ever, so a last pass looks at the names themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from budget_opt.randomizer.row_names import NAME_WORDS, RowNames
from budget_opt.tables.findings import SHOWN_ROWS

NamedRows: TypeAlias = "Callable[[], Iterator[tuple[int, RowNames]]]"
"""All rows from the first, anew with each call: the number of the first row of a part, and its names."""

ROOM = 2**24
"""Marks that are held in a pass: 128 MiB, and for a moment as much again where some stand too often."""

SUSPECTS = 2**16
"""Marks whose rows are looked up; where more stand too often, the counts are lower bounds."""

_Marks = npt.NDArray[np.uint64]
_SIGN = np.uint64(0x9E3779B97F4A7C15)
_LARGEST = 2**64 - 1


class Repeated(NamedTuple):
    """What is known of each name that stands too often; of some of them only, where not `complete`."""

    seen: list[Seen]
    complete: bool

    @property
    def rows(self) -> int:
        """How many rows have such names."""
        return sum(one.count for one in self.seen)

    @property
    def first_rows(self) -> tuple[int, ...]:
        """The first few of these rows."""
        return tuple(sorted(row for one in self.seen for row in one.rows)[:SHOWN_ROWS])


def more_often(rows: NamedRows, most: int, room: int = ROOM) -> Repeated:
    """The names that more than `most` rows have.

    Reads the rows once where their ids ascend, else once for every `room` / 2 to `room` of them, and once
    more where there is something to tell. `room` is at least 2 `most`.
    """
    if _ascend(rows, most):
        return Repeated([], complete=True)
    suspects = _repeated_marks(rows, most, max(room, 2 * most))
    if not suspects.size:
        return Repeated([], complete=True)
    found = [one for one in _seen(rows, suspects[:SUSPECTS]) if one.count > most]
    return Repeated(found, complete=suspects.size <= SUSPECTS)


def _marks(names: RowNames) -> _Marks:
    """64 bits of each name: distinct for integers of one sign, and random for texts."""
    low = np.ascontiguousarray(names[:, :2]).view("<u8")[:, 0]
    marks: _Marks = low + names[:, 2] * _SIGN
    return marks


def _ascend(rows: NamedRows, most: int) -> bool:
    """Whether no mark is below the one before or equal to the one `most` before: none stands too often then.

    Looks no further than needed.
    """
    last = np.empty(0, dtype=np.uint64)  # the last mark, as often as it stood
    for _, names in rows():
        marks = np.concatenate([last, _marks(names)])
        if np.any(marks[1:] < marks[:-1]) or np.any(marks[most:] == marks[:-most]):
            return False
        last = marks[np.searchsorted(marks, marks[-1]) :] if marks.size else marks
    return True


def _repeated_marks(rows: NamedRows, most: int, room: int) -> _Marks:
    """The marks that stand more than `most` times, ascending: all, or the least `SUSPECTS` + 1 of them."""
    repeated, low = np.empty(0, dtype=np.uint64), 0
    while True:
        span = _Span(low, most, room)
        for _, names in rows():
            span.add(_marks(names))
        span.settle()
        repeated = np.concatenate([repeated, span.repeated])[: SUSPECTS + 1]
        if span.high == _LARGEST:
            return repeated
        low = span.high + 1


class _Span:
    """The marks from `low` to `high`, both included; `high` comes down until they fit into the room."""

    def __init__(self, low: int, most: int, room: int) -> None:
        self.low, self.high, self._most = low, _LARGEST, most
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
        """Sort what is held, note what stands more than `most` times, and hold every mark no more often."""
        held = self._held[: self._count]
        held.sort()
        again = held[self._most :] == held[: -self._most]
        if again.any():
            self.repeated = np.union1d(self.repeated, held[self._most :][again])[: SUSPECTS + 1]
            fewer = np.delete(held, self._most + np.flatnonzero(again))
            self._count = fewer.size
            self._held[: self._count] = fewer

    def _halve(self) -> None:
        """Let the upper marks go where more than half of the room is taken, all of one value or none."""
        half = self._held.size // 2
        if self._count > half:
            highest = self._held[half - 1]
            self._count = int(np.searchsorted(self._held[: self._count], highest, side="right"))
            self.high = int(highest)
            self.repeated = self.repeated[self.repeated <= np.uint64(self.high)]


@dataclass
class Seen:
    """How often a name stands, and where first."""

    count: int = 0
    rows: list[int] = field(default_factory=list)

    def add(self, rows: npt.NDArray[np.int64]) -> None:
        """Its next rows."""
        self.count += rows.size
        self.rows += rows[: SHOWN_ROWS - len(self.rows)].tolist()


def _seen(rows: NamedRows, suspects: _Marks) -> list[Seen]:
    """What is known of each name that has one of these marks."""
    seen: dict[bytes, Seen] = {}
    for first_row, names in rows():
        hits = np.flatnonzero(np.isin(_marks(names), suspects, kind="sort"))
        found = names[hits]
        order = np.lexsort([found[:, i] for i in range(NAME_WORDS)])
        hits, found = hits[order], found[order]
        starts = 1 + np.flatnonzero(np.any(found[1:] != found[:-1], axis=1))
        for part, named in zip(np.split(hits, starts), np.split(found, starts), strict=True):
            if part.size:
                seen.setdefault(named[0].tobytes(), Seen()).add(first_row + part)
    return list(seen.values())
