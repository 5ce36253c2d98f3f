"""Whether no person has more records than the problem says: a guarantee for persons counts on it.

`max_rows` records cost a person that many times the loss of one, and each further one costs that again. So a
release of a whole table, in memory or in a file, looks at the column of persons first, and releases nothing
where one of them has more. What sees a part of the rows alone, as `BatchRandomizer` and `LocalRandomizer` do,
cannot know; who brings the parts together must see to it.

Persons are told apart by equal ids, case and blanks included: one whose id is spelled in two ways is two.
"""

from __future__ import annotations

from collections.abc import Container

from budget_opt.errors import DataError
from budget_opt.model.moments.moment import Unit
from budget_opt.randomizer.repeated_names import ROOM, NamedRows, more_often
from budget_opt.randomizer.row_names import Ids
from budget_opt.randomizer.words import fresh_key


class PersonIds(Ids):
    """Names persons by the column that tells whose record it is, under a key that is forgotten."""

    role = "tells whose record it is"
    lack = "tells no person"

    def __init__(self, column_name: str) -> None:
        super().__init__(fresh_key(), column_name)


def require_person_column(unit: Unit, columns: Container[str]) -> None:
    """`DataError` where a table lacks the column of persons: how many records one has is not known then."""
    if unit.id is not None and unit.id not in columns:
        raise DataError(
            f"column {unit.id!r}: tells whose record it is, and the table has no such column, so nobody can "
            f"see whether a person has more than {unit.max_rows:,} of them. Give the table with it: it is "
            "not released unless it is public. Or state the unit of the problem as a record.",
            column=unit.id,
        )


def person_ids(unit: Unit) -> PersonIds | None:
    """What tells persons apart, None where the unit is a record."""
    return None if unit.id is None else PersonIds(unit.id)


def require_few(rows: NamedRows, unit: Unit, *, room: int = ROOM) -> None:
    """`DataError` with the column, the number of persons with too many records, and rows; never an id.

    Reads the rows as often as `more_often` does, in flat memory.
    """
    found = more_often(rows, unit.max_rows, room)
    if found.seen:
        told = ", ".join(map(str, found.first_rows))
        more = ", ..." if found.rows > len(found.first_rows) else ""
        where = f" (rows {told}{more}; the first record is row 0)"
        raise too_many_rows(unit, len(found.seen), where, found.first_rows, exact=found.complete)


def too_many_rows(
    unit: Unit, persons: int, where: str = "", rows: tuple[int, ...] = (), *, exact: bool = True
) -> DataError:
    """The refusal of a table in which `persons` of them have more records than the unit allows."""
    have = f"{persons:,} persons have" if persons > 1 else "1 person has"
    return DataError(
        f"column {unit.id!r}: {'' if exact else 'at least '}{have} more than the {unit.max_rows:,} records "
        f"that the problem allows{where}. Each record costs its loss. Raise max_rows of the unit and solve "
        "again, or leave records out.",
        column=unit.id,
        count=persons,
        rows=rows,
    )
