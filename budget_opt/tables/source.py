"""What a table to read offers, whatever it is kept in, and what its column names must be (R14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from budget_opt.errors import DataError

BATCH_ROWS = 2**16
"""Rows of a batch where the reader may choose."""


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

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The records in their order, with these columns; `DataError` where the table is broken."""


class FileSource(Source, Protocol):
    """A file, whose types are known before its records, and which can say how far it has been read."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, without metadata."""

    def share(self) -> float:
        """How much of the file the batches have passed, from 0 to 1."""


def plain_schema(schema: pa.Schema, title: str) -> pa.Schema:
    """The schema without metadata; `DataError` where its names are not distinct names."""
    require_names(schema.names, title)
    return pa.schema([pa.field(field.name, field.type) for field in schema])


def require_names(names: Sequence[Any], title: str) -> tuple[str, ...]:
    """The names, unless there is none, or one is blank or stands twice: `DataError`."""
    if not names:
        raise DataError(f"{title}: has no columns. Is it the right table?")
    if any(not isinstance(name, str) for name in names):
        raise DataError(f"{title}: has column names that are not text. Name every column with text.")
    blank = [i + 1 for i, name in enumerate(names) if not name.strip()]
    if blank:
        raise DataError(f"{title}: column number {blank[0]} has no name. Name every column.")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"{title}: these column names stand more than once: {listed(repeated)}. "
            "Give every column its own name.",
            column=repeated[0],
        )
    return tuple(names)


def require_columns(wanted: Sequence[str], source: Source) -> None:
    """`DataError` that names the columns which the table does not have."""
    absent = [name for name in wanted if name not in source.names]
    if absent:
        raise DataError(
            f"{source.title}: has no column {listed(absent)}; its columns are {listed(source.names)}. "
            "Names must be equal, case and blanks included.",
            column=absent[0],
        )


def listed(names: Sequence[str], limit: int = 20) -> str:
    """Column names, which are public, in quotes and cut where they are many."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def existing_file(path: Path) -> Path:
    """The path, if it is a file; `DataError` if it is not."""
    if not path.is_file():
        what = "is not a file" if path.exists() else "there is no such file"
        raise DataError(f"{path}: {what}. Give a table to read.")
    return path
