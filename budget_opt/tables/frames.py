"""Tables in memory: data frames of pandas and polars, tables and record batches of pyarrow.

The rows of a frame are its records in their order; a pandas index, `attrs` and all other metadata are
no part of the table. A released table is built anew in the kind of the original, and so is every column
in its type: text as the text, categories as categories with exactly the declared labels in the declared
order, integers and booleans as such. The type depends on the declared domain and on the original's
type alone, never on its cells (R12): `label_types` and `pandas_frames` state the law. Bins come back as
pandas category, polars Enum or Arrow dictionary of their labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import narwhals as nw
import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.tables.arrow_tables import ArrowBatch, ArrowTable
from budget_opt.tables.findings import Findings
from budget_opt.tables.label_types import Labels
from budget_opt.tables.pandas_frames import PandasFrame
from budget_opt.tables.polars_frames import PolarsFrame
from budget_opt.tables.public import Order
from budget_opt.tables.source import BATCH_ROWS, TABLE, require_names
from budget_opt.tables.translation import translated


class Frame(Protocol):
    """One table of one kind: how it names its columns, gives one, and is built anew."""

    def names(self) -> list[Any]:
        """The names of the columns, whatever they are."""

    def read(self, name: str) -> Any:
        """One column as Arrow."""

    def nested(self, name: str) -> str | None:
        """What kind of columns a column has inside, None for none."""

    def rebuilt(self, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
        """See `FrameSource.rebuilt`."""


class FrameSource:
    """A table in memory. Raises `DataError` where the object is no table that is read here.

    `otherwise` ends that message: what else could be given, or what to use instead.
    """

    text = False
    title = TABLE

    def __init__(self, frame: Any, otherwise: str = ". For a file use randomize_file.") -> None:
        self._native = frame
        self._frame = _opened(frame, otherwise)
        self.names = require_names(translated(self._frame.names, _no_names), TABLE)

    @property
    def rows(self) -> int:
        """The number of records, which is public."""
        return len(self._native)

    def column(self, name: str) -> pa.ChunkedArray:
        """One column as Arrow; None and NaN of pandas are null.

        Raises `DataError` for a column of mixed types.
        """

        def mixed(failure: Exception) -> DataError:
            del failure
            return DataError(
                f"column {name!r}: mixes types, or has a type or text that Arrow does not know. "
                "Cast the whole column to one type; text must be valid Unicode.",
                column=name,
            )

        return translated(lambda: _chunked(self._frame.read(name)), mixed)

    def nested(self, column: str) -> str | None:
        """What kind of columns a column has inside, None for none."""
        return self._frame.nested(column)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The records in their order, with these columns; `DataError` tells all that cannot be read."""
        findings, values = Findings(), []
        for name in columns:
            with findings.collecting(name):
                values.append(self.column(name))
        findings.require_none()
        yield from pa.Table.from_arrays(values, names=list(columns)).to_batches(max_chunksize=BATCH_ROWS)

    def rebuilt(self, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
        """A table of the same kind with the columns `names`.

        Those in `labels` are given, row by row as they are to stand; the others are the frame's own
        values at the rows of `order`. Raises `DataError` where these cannot be taken.
        """
        return translated(lambda: self._frame.rebuilt(names, labels, order), _not_taken)


def _opened(frame: Any, otherwise: str) -> Frame:
    if isinstance(frame, pa.Table):
        return ArrowTable(frame)
    if isinstance(frame, pa.RecordBatch):
        return ArrowBatch(frame)
    if nw.dependencies.is_pandas_dataframe(frame):
        return PandasFrame(frame)
    if nw.dependencies.is_polars_dataframe(frame):
        return PolarsFrame(frame)
    kind = type(frame).__name__
    if type(frame).__module__.partition(".")[0] == "pyspark":
        kind, otherwise = f"{kind} of pyspark", ". For one of Spark use budget_opt.engines.spark.randomize."
    if nw.dependencies.is_polars_lazyframe(frame):
        otherwise = ". Call collect() first."
    raise DataError(
        f"{TABLE}: is a {kind}, must be a pandas or polars DataFrame, a pyarrow Table or "
        f"RecordBatch{otherwise}"
    )


def _no_names(failure: Exception) -> DataError:
    del failure
    return DataError(f"{TABLE}: has column names that are not text. Name every column with text.")


def _not_taken(failure: Exception) -> DataError:
    return DataError(
        f"{TABLE}: the rows of a public column cannot be taken ({type(failure).__name__}). "
        "Cast the public columns to plain types, or list them under dropped."
    )


def _chunked(values: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
