"""Table files that are there only when they are whole (R28), with nothing in them but the table (R15).

A file is written under a hidden name beside its target, brought to the disk, and only then given the
target's name; after any error nothing of it is left. Its mode is what the process's umask says. No
statistics, time, file name, metadata or row groups of an original get into it. In a CSV file text is
in quotation marks and null is an empty field without them, as `csv_files` reads it.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import pyarrow as pa
from pyarrow import csv, parquet

from budget_opt.errors import DataError, InputError
from budget_opt.tables.reading import ending
from budget_opt.tables.translation import translated
from budget_opt.tables.types import shown_type

T = TypeVar("T")

ROW_GROUP_ROWS = 2**17
"""Rows of a row group, whatever the batches were."""

_DICTIONARY_BYTES = 2**28  # large enough for a million labels: a row group never falls back to plain values


class TableWriter(Protocol):
    """Where the batches of a table go, one after the other."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows of a batch with the announced schema."""


@contextmanager
def open_writer(target: Path, schema: pa.Schema, *, overwrite: bool = False) -> Iterator[TableWriter]:
    """A writer of a new .csv, .csv.gz or .parquet file; at the end of the block the file is there, whole.

    Raises `InputError` where the target exists (unless `overwrite`), or its folder does not, or
    writing fails; `DataError` for another ending, or a column that a CSV file cannot hold. Leaving
    the block by any exception leaves no file.
    """
    kind = ending(target)
    if kind != ".parquet":
        _require_flat(schema, target)
    require_free(target, overwrite)
    partial = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        raw = _translated(target, lambda: partial.open("xb"))
        with _discarded_after_failure(raw.close):
            writer = (_Parquet if kind == ".parquet" else _Csv)(target, raw, schema)
            with _discarded_after_failure(writer.close):
                yield writer
                writer.close()
            _translated(target, lambda: _to_disk(raw))
        _translated(target, lambda: _rename(partial, target, overwrite))
    finally:
        partial.unlink(missing_ok=True)


def require_free(target: Path, overwrite: bool) -> None:
    """`InputError` where the target exists and may not be overwritten, or its folder does not exist."""
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}. Make it, or choose another one.")
    if target.is_dir():
        raise InputError(f"{target}: is a folder. Give the name of a file.")
    if not overwrite and (target.exists() or target.is_symlink()):
        raise _taken(target)


def _taken(target: Path) -> InputError:
    return InputError(
        f"{target}: exists already. A second draw is a second release and costs again: choose another "
        "name, or ask to overwrite."
    )


class _Csv:
    """CSV, gzipped where the name says so, with no time and no name in the gzip header."""

    def __init__(self, target: Path, raw: IO[bytes], schema: pa.Schema) -> None:
        self._target = target
        self._schema = pa.schema([(field.name, _flat(field.type)) for field in schema])
        self._stack = ExitStack()
        self._writer = _translated(target, lambda: self._begun(raw))

    def write(self, batch: pa.RecordBatch) -> None:
        _translated(self._target, lambda: self._writer.write_batch(self._flat(batch)))

    def close(self) -> None:
        _translated(self._target, self._stack.close)

    def _begun(self, raw: IO[bytes]) -> Any:
        stream: Any = raw
        if self._target.suffix.lower() == ".gz":
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
            stream = self._stack.enter_context(packed)
        return self._stack.enter_context(csv.CSVWriter(stream, self._schema))

    def _flat(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [column.cast(field.type) for column, field in zip(batch.columns, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


class _Parquet:
    """Parquet in row groups of one size, without statistics, with checksums."""

    def __init__(self, target: Path, raw: IO[bytes], schema: pa.Schema) -> None:
        self._target, self._schema = target, schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._writer = _translated(
            target,
            lambda: parquet.ParquetWriter(
                raw,
                schema,
                compression="zstd",
                write_statistics=False,
                write_page_checksum=True,
                dictionary_pagesize_limit=_DICTIONARY_BYTES,
            ),
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += batch.num_rows
        while self._rows >= ROW_GROUP_ROWS:
            _translated(self._target, self._write_group)

    def close(self) -> None:
        while self._rows:
            _translated(self._target, self._write_group)
        _translated(self._target, self._writer.close)

    def _write_group(self) -> None:
        """Write what waits, at most a group of it; what cannot be written does not wait any longer."""
        batches, self._waiting, rows, self._rows = self._waiting, [], self._rows, 0
        waiting = pa.Table.from_batches(batches, self._schema)
        self._writer.write_table(waiting.slice(0, ROW_GROUP_ROWS), row_group_size=ROW_GROUP_ROWS)
        self._waiting = waiting.slice(ROW_GROUP_ROWS).to_batches()
        self._rows = max(0, rows - ROW_GROUP_ROWS)


def _to_disk(raw: IO[bytes]) -> None:
    raw.flush()
    os.fsync(raw.fileno())
    raw.close()


def _rename(partial: Path, target: Path, overwrite: bool) -> None:
    """Give the whole file its name in one step that takes no other file's place unless it may."""
    if overwrite:
        partial.replace(target)
    else:
        try:
            target.hardlink_to(partial)
        except FileExistsError:
            raise _taken(target) from None
        except OSError:  # a file system without hard links
            require_free(target, overwrite)
            partial.replace(target)
    with suppress(OSError):  # not every system can bring a folder to the disk; the file itself is there
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _discarded_after_failure(close: Callable[[], None]) -> Iterator[None]:
    """After an exception close what is half written, whatever that raises: its file goes away."""
    try:
        yield
    except BaseException:
        with suppress(OSError, ValueError, pa.ArrowException):
            close()
        raise


def _translated(target: Path, work: Callable[[], T]) -> T:
    """What `work` returns; its errors in our own words."""

    def explained(failure: Exception) -> InputError:
        if isinstance(failure, OSError):
            return InputError(
                f"{target}: cannot be written ({failure.strerror or 'output error'}), and nothing was left "
                "there. Choose a folder that can be written to and has space."
            )
        return DataError(f"{target}: a public column has values that this kind of file cannot hold.")

    return translated(work, explained)


def _flat(given: pa.DataType) -> pa.DataType:
    """The type in which a column goes into a CSV file."""
    return pa.string() if pa.types.is_dictionary(given) or pa.types.is_string_view(given) else given


def _require_flat(schema: pa.Schema, target: Path) -> None:
    for field in schema:
        _require_csv(field, target)


def _require_csv(field: pa.Field, target: Path) -> None:
    column = pa.schema([(field.name, _flat(field.type))])

    def written() -> None:
        with csv.CSVWriter(io.BytesIO(), column) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays([pa.nulls(0, column.field(0).type)], schema=column))

    def explained(failure: Exception) -> DataError:
        del failure
        return DataError(
            f"{target}: a CSV file cannot hold column {field.name!r} of type {shown_type(field.type)}. "
            "Write a .parquet file, or drop the column.",
            column=field.name,
        )

    translated(written, explained)
