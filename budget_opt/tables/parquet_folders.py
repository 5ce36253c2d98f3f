"""A folder of Parquet files that are one table, in the order of their names.

They lie directly in it and end in .parquet; hidden files, names that begin with an underscore (Spark's
`_SUCCESS`), and files of other endings are no part of the table. Subfolders are refused: where their names
are values (column=value) a column would be lost, and elsewhere rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.public import released_type
from budget_opt.tables.source import TableOnDisk
from budget_opt.tables.translation import translated
from budget_opt.tables.types import nested_kind


class ParquetFolder(TableOnDisk):
    """The Parquet files of a folder. Raises `DataError` where there is none, or one is not like the first."""

    text = False

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._files = [ParquetSource(file) for file in translated(lambda: _files(path), _unreadable(path))]

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, which are those of every file."""
        first = self._files[0].schema
        for file in self._files[1:]:
            if _released(file.schema) != _released(first):
                raise DataError(
                    f"{file.title}: has other columns, or types of them, than {self._files[0].title} "
                    f"({_difference(file.schema, first)}). Write all files of a folder with the same columns."
                )
        return first

    def nested(self, column: str) -> str | None:
        """What kind of columns a column has inside, None for none."""
        return nested_kind(self.schema.field(column).type)

    def batches(self, columns: Sequence[str], skip: int = 0) -> Iterator[pa.RecordBatch]:
        """The records in their order, but for the first `skip`, with these columns."""
        sizes = [Path(file.title).stat().st_size for file in self._files]
        passed = 0
        for file, size in zip(self._files, sizes, strict=True):
            begin = min(skip, file.rows) if skip else 0
            skip -= begin
            for batch in file.batches(columns, begin):
                self._share = (passed + file.share() * size) / sum(sizes)
                yield batch
            passed += size
        self._share = 1.0

    def place(self, row: int) -> str:
        """A row of the whole table, and where it is: its file and its number there."""
        left = row
        for file in self._files:
            if left < file.rows:
                return f"{row} (row {left} of {Path(file.title).name})"
            left -= file.rows
        return str(row)


def _files(folder: Path) -> list[Path]:
    """The files of the table."""
    visible = [entry for entry in sorted(folder.iterdir()) if entry.name[0] not in "._"]
    if any(entry.is_dir() for entry in visible):
        raise DataError(
            f"{folder}: has folders inside (perhaps column=value, as partitions are written), whose names "
            "would be part of the table. Write it anew as one folder of Parquet files with all columns."
        )
    files = [entry for entry in visible if entry.name.lower().endswith(".parquet")]
    if not files:
        texts = sum(entry.name.lower().endswith((".csv", ".csv.gz")) for entry in visible)
        raise DataError(f"{folder}: is a folder without .parquet files{_told(texts)}. Give a table to read.")
    return files


def _told(texts: int) -> str:
    """That a folder has so many .csv files, for the message that it has none of ours."""
    if not texts:
        return ""
    return (
        f" (it has {texts} .csv files: give one of them)" if texts > 1 else " (it has 1 .csv file: give it)"
    )


def _unreadable(folder: Path) -> Callable[[Exception], DataError]:
    def explained(failure: Exception) -> DataError:
        reason = failure.strerror if isinstance(failure, OSError) else None
        return DataError(f"{folder}: cannot be read ({reason or 'input error'}).")

    return explained


def _released(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    """Names and types without dictionaries: those of two files may be kept in indices of different width."""
    return [(field.name, released_type(field.type)) for field in schema]


def _difference(given: pa.Schema, first: pa.Schema) -> str:
    """Where two schemas differ, without a name: in a file that was made without header names are cells."""
    if len(given) != len(first):
        return f"{len(given)} columns instead of {len(first)}"
    pairs = zip(_released(given), _released(first), strict=True)
    return f"column number {next(i for i, (one, other) in enumerate(pairs, 1) if one != other)}"
