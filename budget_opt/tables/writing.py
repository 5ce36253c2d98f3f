"""Table files that are there only when they are whole (R28), with nothing in them but the table (R15).

After any error nothing of a file is left. No time or file name gets into it. In a CSV file text is in
quotation marks and null is an empty field without them, as `csv_files` reads it.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
from pyarrow import csv

from budget_opt.errors import DataError
from budget_opt.tables.parquet_writing import ParquetFile, new_folder
from budget_opt.tables.reading import ending
from budget_opt.tables.translation import translated
from budget_opt.tables.types import shown_type
from budget_opt.tables.whole_files import discarded_after_failure, new_file, require_free, written


class TableWriter(Protocol):
    """Where the batches of a table go, one after the other."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows of a batch with the announced schema."""


@contextmanager
def open_writer(target: Path, schema: pa.Schema, *, overwrite: bool = False) -> Iterator[TableWriter]:
    """A writer of a new .csv, .csv.gz or .parquet file; at the end of the block the file is there, whole.

    A name without an ending becomes a folder of Parquet files, which never overwrites anything.

    Raises `InputError` where the target exists (unless `overwrite`), or its folder does not, or
    writing fails; `DataError` for another ending, or a column that a CSV file cannot hold. Leaving
    the block by any exception leaves no file.
    """
    kind = ending(target) if target.suffix else ""
    if kind.startswith(".csv"):
        _require_flat(schema, target)
    require_free(target, overwrite=overwrite and bool(kind))
    if not kind:
        with new_folder(target, schema) as parts:
            yield parts
        return
    with new_file(target, overwrite=overwrite) as raw, discarded_after_failure(raw.close):
        writer = (ParquetFile if kind == ".parquet" else _Csv)(target, raw, schema)
        with discarded_after_failure(writer.close):
            yield writer
            writer.close()


class _Csv:
    """CSV, gzipped where the name says so, with no time and no name in the gzip header."""

    def __init__(self, target: Path, raw: IO[bytes], schema: pa.Schema) -> None:
        self._target = target
        self._schema = pa.schema([(field.name, _flat(field.type)) for field in schema])
        self._stack = ExitStack()
        self._writer = written(target, lambda: self._begun(raw))

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        written(self._target, lambda: self._writer.write_batch(self._as_text(batch)))

    def close(self) -> None:
        """Write the end of the file."""
        written(self._target, self._stack.close)

    def _begun(self, raw: IO[bytes]) -> Any:
        stream: Any = raw
        if self._target.suffix.lower() == ".gz":
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
            stream = self._stack.enter_context(packed)
        return self._stack.enter_context(csv.CSVWriter(stream, self._schema))

    def _as_text(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [column.cast(field.type) for column, field in zip(batch.columns, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _flat(given: pa.DataType) -> pa.DataType:
    """The type in which a column goes into a CSV file."""
    return pa.string() if pa.types.is_dictionary(given) or pa.types.is_string_view(given) else given


def _require_flat(schema: pa.Schema, target: Path) -> None:
    for field in schema:
        _require_csv(field, target)


def _require_csv(field: pa.Field, target: Path) -> None:
    column = pa.schema([(field.name, _flat(field.type))])

    def tried() -> None:
        with csv.CSVWriter(io.BytesIO(), column) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays([pa.nulls(0, column.field(0).type)], schema=column))

    def explained(failure: Exception) -> DataError:
        del failure
        return DataError(
            f"{target}: a CSV file cannot hold column {field.name!r} of type {shown_type(field.type)}. "
            "Write a .parquet file, or drop the column.",
            column=field.name,
        )

    translated(tried, explained)
