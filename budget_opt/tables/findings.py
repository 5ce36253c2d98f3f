"""What is wrong with the cells of a table: column, count and at most five rows, never a value (R10, R35)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from budget_opt.errors import DataError

SHOWN_ROWS = 5


@dataclass
class _Finding:
    count: int = 0
    rows: list[int] = field(default_factory=list)


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

    def add(self, column: str, what: str, remedy: str, rows: Iterable[int], count: int) -> None:
        """Record `count` cells of `column` that are `what`, the first of them in `rows`."""
        finding = self._found.setdefault((column, what, remedy), _Finding())
        finding.count += count
        for row in rows:
            if len(finding.rows) == SHOWN_ROWS:
                break
            finding.rows.append(int(row))

    def require_none(self) -> None:
        """Raise `DataError` if anything was found, with every column's count and first rows."""
        if not self:
            return
        lines = [*self._columns.values(), *(_line(*key, finding) for key, finding in self._found.items())]
        faulty = [(column, _Finding()) for column in self._columns]
        faulty += [(column, finding) for (column, _, _), finding in self._found.items()]
        column, first = faulty[0]
        raise DataError(
            "the table does not fit the declared domains (the first record is row 0):\n  "
            + "\n  ".join(lines),
            column=column,
            count=first.count,
            rows=tuple(first.rows),
        )


def _line(column: str, what: str, remedy: str, finding: _Finding) -> str:
    cells = "1 cell" if finding.count == 1 else f"{finding.count} cells"
    word = "row" if finding.count == 1 else "rows"
    more = ", ..." if finding.count > len(finding.rows) else ""
    rows = ", ".join(map(str, finding.rows))
    return f"column {column!r}: {what}: {cells} ({word} {rows}{more}). {remedy}"
