"""Whether every row has a name of its own.

Two rows of one name and one value would get one report, so that different reports of theirs would reveal
that the values differ.
"""

from __future__ import annotations

from budget_opt.errors import DataError
from budget_opt.randomizer.repeated_names import ROOM, NamedRows, Repeated, more_often


def require_unique(rows: NamedRows, column: str, *, room: int = ROOM) -> None:
    """`DataError` with the column, the count and the first rows that share an id; never the id.

    Reads the rows as often as `more_often` does; `room` >= 2.
    """
    shared = more_often(rows, 1, room)
    if shared.seen:
        raise _refusal(column, shared)


def _refusal(column: str, shared: Repeated) -> DataError:
    count, first = shared.rows, shared.first_rows
    more = ", ..." if count > len(first) else ""
    return DataError(
        f"column {column!r}: names the rows, and {'' if shared.complete else 'at least '}{count} of them "
        f"share an id with another (rows {', '.join(map(str, first))}{more}; the first record is row 0). "
        "Equal ids with equal values get equal reports, so that different reports would reveal different "
        "values. Give every row an id of its own.",
        column=column,
        count=count,
        rows=first,
    )
