"""CSV files as batches of text cells (RFC 4180, UTF-8, also gzipped).

Every cell is text, nothing is inferred. An empty field without quotation marks is a missing cell; an
empty field in quotation marks is the empty text, which no declared category equals. Blank lines are
no records, except in a file of one column, where they are missing cells. A byte order mark, CRLF and
line breaks in quotation marks are read as the standard says. What is not a whole table is refused: a
record with more or fewer fields than the header, a quotation mark that is never closed, bytes that
are not UTF-8, a broken or truncated gzip stream. Arrow's own messages quote records, so none is passed on.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
from pyarrow import csv

from budget_opt.errors import DataError
from budget_opt.tables.source import TableOnDisk, existing_file, plain_schema, without_first
from budget_opt.tables.translation import translated

T = TypeVar("T")

BLOCK_BYTES = 2**20
"""Bytes of text that are parsed at a time (Arrow reads some 30 blocks ahead); no record may be longer."""


class CsvSource(TableOnDisk):
    """A CSV file; see the module. Raises `DataError` where the header cannot be read."""

    text = True

    def __init__(self, path: Path, *, block_bytes: int = BLOCK_BYTES) -> None:
        super().__init__(existing_file(path))
        self._block_bytes = block_bytes

    @cached_property
    def schema(self) -> pa.Schema:
        """The names of the header, every type text."""
        ragged: list[_Ragged] = []

        def read() -> list[str]:
            with _Bytes(self._path) as stream:
                names: list[str] = self._opened(stream, csv.ConvertOptions(), 2, ragged).schema.names
                return names

        names = self._translated(read, ragged)
        return plain_schema(pa.schema([pa.field(name, pa.string()) for name in names]), self.title)

    def nested(self, column: str) -> str | None:
        """None: every cell is text."""
        del column
        return None

    def batches(self, columns: Sequence[str], skip: int = 0) -> Iterator[pa.RecordBatch]:
        """The records in their order, but for the first `skip`, which are read all the same."""
        return without_first(self._all(columns), skip)

    def _all(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        ragged: list[_Ragged] = []
        options = csv.ConvertOptions(
            column_types=self.schema,
            include_columns=list(columns),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )
        with self._translated(lambda: _Bytes(self._path), ragged) as stream:
            reader = self._translated(lambda: self._opened(stream, options, len(self.schema), ragged), ragged)
            while (batch := self._translated(lambda: _next(reader), ragged)) is not None:
                self._share = stream.share()
                yield batch
            self._share = 1.0
            if stream.quotation_marks % 2:
                raise DataError(
                    f"{self._path}: a quotation mark is opened and never closed, or stands inside a "
                    "field that is not in quotation marks. Is the file whole? Write it as RFC 4180 says."
                )

    def _opened(self, stream: _Bytes, options: Any, columns: int, ragged: list[_Ragged]) -> Any:
        def refuse(row: Any) -> str:
            # without the record's text; Arrow counts from 1 and counts the header
            ragged.append(_Ragged(row.number - 2, row.actual_columns, row.expected_columns))
            return "error"

        return csv.open_csv(
            stream,
            # one thread, so that Arrow knows the number of a ragged record
            read_options=csv.ReadOptions(use_threads=False, block_size=self._block_bytes),
            parse_options=csv.ParseOptions(
                newlines_in_values=True, ignore_empty_lines=columns > 1, invalid_row_handler=refuse
            ),
            convert_options=options,
        )

    def _translated(self, work: Callable[[], T], ragged: list[_Ragged]) -> T:
        return translated(work, lambda failure: self._explained(failure, ragged))

    def _explained(self, failure: Exception, ragged: list[_Ragged]) -> DataError:
        if isinstance(failure, EOFError | gzip.BadGzipFile | zlib.error):
            return DataError(f"{self._path}: is not a whole gzip file. Copy or write it again.")
        if isinstance(failure, OSError):
            return DataError(f"{self._path}: cannot be read ({failure.strerror or 'input error'}).")
        return self._not_csv(str(failure), ragged)

    def _not_csv(self, message: str, ragged: list[_Ragged]) -> DataError:
        if ragged and self._begins_as_utf16():
            return self._not_utf8()
        if ragged:
            record, fields, expected = ragged[0]
            return DataError(
                f"{self._path}: record {record} (the first is 0) has {fields} fields, the header "
                f"has {expected}. Correct the file; a field with a comma needs quotation marks.",
                count=1,
                rows=(record,),
            )
        if "Empty CSV" in message:
            return DataError(f"{self._path}: is empty. A table begins with a header.")
        if "straddling" in message:
            return DataError(
                f"{self._path}: a record is longer than {self._block_bytes:,} bytes. Is a quotation "
                "mark never closed?"
            )
        if "utf" in message.lower():
            return self._not_utf8()
        return DataError(f"{self._path}: is not a CSV file that can be read (RFC 4180, comma, UTF-8).")

    def _not_utf8(self) -> DataError:
        return DataError(f"{self._path}: is not text in UTF-8. Convert it, for instance with iconv.")

    def _begins_as_utf16(self) -> bool:
        with _Bytes(self._path) as stream:
            return stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class _Ragged(NamedTuple):
    """A record with another number of fields than the header; the first record is 0."""

    record: int
    fields: int
    expected: int


def _next(reader: Any) -> pa.RecordBatch | None:
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None


class _Bytes(io.RawIOBase):
    """The uncompressed bytes of a file, counting what is passed."""

    def __init__(self, path: Path) -> None:
        self._raw = path.open("rb")
        self._size = max(1, path.stat().st_size)
        self._file = gzip.GzipFile(fileobj=self._raw) if path.suffix.lower() == ".gz" else self._raw
        self.quotation_marks = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.quotation_marks += block.count(b'"')
        return block

    def share(self) -> float:
        return min(1.0, self._raw.tell() / self._size)

    def close(self) -> None:
        self._file.close()
        self._raw.close()
        super().close()
