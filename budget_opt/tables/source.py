"""What a table to read offers, whatever it is kept in, and what its column names must be (R14).

In a file without a header line the first record stands where the names should be. So a name is printed
only where it is declared, or where every declared column is there and the header thus a real one (R10).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from budget_opt.errors import DataError

BATCH_ROWS = 2**16
"""Rows of a batch where the reader may choose, and the table is not wide."""

BATCH_CELLS = 2**22
"""Cells of a batch where the table is wide."""

BATCH_BYTES = 2**26
"""Bytes of a batch where cells are wide, as far as they can be known before they are read."""

TABLE = "the table"
"""The title of a table in memory: it is no file, so nobody need ask for its header line."""


class Source(Protocol):
    """A table that is read in batches, from its first record every time."""

    @property
    def title(self) -> str:
        """The file's name, or "the table", for messages."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, distinct and not blank."""

    @property
    def text(self) -> bool:
        """Whether every cell is text, as in a CSV file."""

    def nested(self, column: str) -> str | None:
        """What kind of columns a column has inside, None for none; see `nested_kind`."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The records in their order, with these columns; `DataError` where the table is broken."""


class FileSource(Source, Protocol):
    """A file, whose types are known before its records, and which can say how far it has been read."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, without metadata."""

    def batches(self, columns: Sequence[str], skip: int = 0) -> Iterator[pa.RecordBatch]:
        """The records in their order, but for the first `skip`, with these columns."""

    def share(self) -> float:
        """How much of the file the batches have passed, from 0 to 1."""


class TableOnDisk(ABC):
    """What the tables in files have in common: a path, the names of the schema, how far they are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._share = 0.0

    @property
    def title(self) -> str:
        """The path."""
        return str(self._path)

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Names and types of the columns, without metadata."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema.names)

    def share(self) -> float:
        """How much of the table has been passed, from 0 to 1."""
        return self._share


def plain_schema(schema: pa.Schema, title: str) -> pa.Schema:
    """The schema without metadata; `DataError` where its names are not distinct names."""
    require_names(schema.names, title)
    return pa.schema([pa.field(field.name, field.type) for field in schema])


def require_names(names: Sequence[Any], title: str) -> tuple[str, ...]:
    """The names, unless there is none, or one is blank or stands twice: `DataError` with its number."""
    if not names:
        raise DataError(f"{title}: has no columns. Is it the right table?")
    if any(not isinstance(name, str) for name in names):
        raise DataError(f"{title}: has column names that are not text. Name every column with text.")
    blank = [i + 1 for i, name in enumerate(names) if not name.strip()]
    if blank:
        raise DataError(
            f"{title}: column number {_numbers(blank)} has no name. Name every column.{_header(title)}"
        )
    times = Counter(names)
    repeated = [i + 1 for i, name in enumerate(names) if times[name] > 1]
    if repeated:
        raise DataError(
            f"{title}: column numbers {_numbers(repeated)} have names that stand more than once. "
            f"Give every column its own name.{_header(title)}"
        )
    return tuple(names)


def require_columns(wanted: Sequence[str], source: Source) -> None:
    """`DataError` that names those of the wanted columns which the table does not have, and no other."""
    absent = [name for name in wanted if name not in source.names]
    if absent:
        raise DataError(
            f"{source.title}: has no column {listed(absent)} among its {len(source.names)}."
            f"{_near(absent, source.names)} {_remedy(source)}",
            column=absent[0],
        )


def _near(absent: Sequence[str], names: Sequence[str]) -> str:
    """Which columns have an absent name but for case and blanks, by number: such a name is not printed."""
    wanted = {name.strip().casefold() for name in absent}
    near = [i + 1 for i, name in enumerate(names) if name.strip().casefold() in wanted]
    return f" Column number {_numbers(near)} has such a name but for case or blanks." if near else ""


def _remedy(source: Source) -> str:
    if source.text and len(source.names) == 1 and ";" in source.names[0]:
        return 'Its header has ";", and columns must be separated by commas.'
    return f"Names must be equal, case and blanks included.{_header(source.title)}"


def _header(title: str) -> str:
    return "" if title == TABLE else " Has the file a header line?"


def listed(names: Sequence[str], limit: int = 20) -> str:
    """Names in quotes, cut where they are many; they must be declared, or stand in a real header."""
    return _cut([repr(name) for name in names], limit)


def _numbers(positions: Sequence[int]) -> str:
    return _cut([str(position) for position in positions], 20)


def _cut(items: Sequence[str], limit: int) -> str:
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def existing_file(path: Path) -> Path:
    """The path, if it is a file; `DataError` if it is not."""
    if not path.is_file():
        what = "is not a file" if path.exists() else "there is no such file"
        raise DataError(f"{path}: {what}. Give a table to read.")
    return path


def without_first(batches: Iterator[pa.RecordBatch], skip: int) -> Iterator[pa.RecordBatch]:
    """The batches without their first `skip` rows."""
    for batch in batches:
        if batch.num_rows > skip:
            yield batch.slice(skip)
        skip = max(0, skip - batch.num_rows)
