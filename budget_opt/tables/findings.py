"""What is wrong with the cells of a table: column, count and at most five rows, never a value (R10, R35)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from budget_opt.errors import DataError

SHOWN_ROWS = 5


@dataclass
class _Finding:
    count: int = 0
    rows: list[int] = field(default_factory=list)
    alike: Counter[str] = field(default_factory=Counter)

    @property
    def counts(self) -> tuple[int, Counter[str]]:
        """All but the rows."""
        return self.count, self.alike


class Findings:
    """Faulty columns and cells of a whole table, collected batch by batch, so that all are told at once."""

    def __init__(self) -> None:
        self._columns: dict[str, str] = {}
        self._found: dict[tuple[str, str, str], _Finding] = {}

    def __bool__(self) -> bool:
        return bool(self._columns or self._found)

    @contextmanager
    def collecting(self, column: str) -> Iterator[None]:
        """Record what refuses the whole column, such as its type, and go on after the block."""
        try:
            yield
        except DataError as error:
            self._columns.setdefault(column, str(error))

    def add(
        self,
        column: str,
        what: str,
        remedy: str,
        rows: Iterable[int],
        count: int,
        alike: Mapping[str, int] | None = None,
    ) -> None:
        """Record `count` cells of `column` that are `what`, the first of them in `rows`.

        `alike` says how many of them differ from a declared category in which way; see `look_alikes`.
        """
        finding = self._found.setdefault((column, what, remedy), _Finding())
        finding.count += count
        finding.alike.update(alike or {})
        for row in rows:
            if len(finding.rows) == SHOWN_ROWS:
                break
            finding.rows.append(int(row))

    def without_rows(self) -> str:
        """What was found, as text for `include` in another process, where numbers of rows mean nothing."""
        return json.dumps([self._columns, [(*key, *finding.counts) for key, finding in self._found.items()]])

    def include(self, told: str) -> None:
        """Record also what another process found; see `without_rows`."""
        columns, found = json.loads(told)
        self._columns = columns | self._columns
        for column, what, remedy, count, alike in found:
            self.add(column, what, remedy, (), count, alike)

    def require_none(self, table: str = "the table", place: Callable[[int], str] = str) -> None:
        """Raise `DataError` if anything was found, with every column's count and first rows.

        `table` is what is read, and `place` tells one of its rows.
        """
        if not self:
            return
        lines = [
            *self._columns.values(),
            *(_line(*key, finding, place) for key, finding in self._found.items()),
        ]
        faulty = [(column, _Finding()) for column in self._columns]
        faulty += [(column, finding) for (column, _, _), finding in self._found.items()]
        column, first = faulty[0]
        raise DataError(
            f"{table} does not fit the declared domains{_numbering(self._found.values())}:\n  "
            + "\n  ".join(lines),
            column=column,
            count=first.count,
            rows=tuple(first.rows),
        )


def _line(column: str, what: str, remedy: str, finding: _Finding, place: Callable[[int], str]) -> str:
    cells = "1 cell" if finding.count == 1 else f"{finding.count} cells"
    rows = f" ({_rows(finding, place)})" if finding.rows else ""
    alike = f"; {_alike(finding)}" if finding.alike else ""
    return f"column {column!r}: {what}: {cells}{rows}{alike}. {remedy}"


def _rows(finding: _Finding, place: Callable[[int], str]) -> str:
    word = "row" if finding.count == 1 else "rows"
    more = ", ..." if finding.count > len(finding.rows) else ""
    return f"{word} {', '.join(map(place, finding.rows))}{more}"


def _numbering(found: Iterable[_Finding]) -> str:
    return " (the first record is row 0)" if any(finding.rows for finding in found) else ""


def _alike(finding: _Finding) -> str:
    told = ", ".join(f"{count} but for {way}" for way, count in finding.alike.items())
    return f"a declared category is equal to {told}"
