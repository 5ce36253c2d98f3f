"""Tables in memory: pandas and polars data frames through narwhals, pyarrow tables and record batches.

The rows of a frame are its records in their order; a pandas index, `attrs` and all other metadata are
no part of the table. A released table is built anew in the kind of the original. Text labels and bins
come back as pandas Categorical, polars Enum or Arrow dictionary with exactly the declared labels;
integers and booleans as such, in pandas in the nullable types where missing is a declared category.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.tables.findings import Findings
from budget_opt.tables.public import Gatherer, Order
from budget_opt.tables.source import BATCH_ROWS, require_names
from budget_opt.tables.translation import translated
from budget_opt.tables.types import nested_kind

_TITLE = "the table"


class Labels(NamedTuple):
    """A released column of labels, and whether missing is one of its categories."""

    values: pa.Array
    may_be_missing: bool


class FrameSource:
    """A table in memory. Raises `DataError` where the object is no table that is read here."""

    text = False
    title = _TITLE

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._kind = _kind_of(frame)
        self.names = require_names(translated(lambda: list(self._kind.names(frame)), _no_names), _TITLE)

    @property
    def rows(self) -> int:
        """The number of records, which is public."""
        return len(self._frame)

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

        return translated(lambda: _chunked(self._kind.read(self._frame, name)), mixed)

    def nested(self, column: str) -> str | None:
        """What kind of columns a column has inside, None for none."""
        return self._kind.nested(self._frame, column)

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
        return translated(lambda: self._kind.rebuild(self._frame, names, labels, order), _not_taken)


@dataclass(frozen=True)
class _Kind:
    """How one kind of table names its columns, gives one as Arrow, says what is in it, and is built anew."""

    names: Callable[[Any], Iterable[Any]]
    read: Callable[[Any, str], Any]
    nested: Callable[[Any, str], str | None]
    rebuild: Callable[[Any, Sequence[str], Mapping[str, Labels], Order], Any]


def _kind_of(frame: Any) -> _Kind:
    if isinstance(frame, pa.Table):
        return _TABLE
    if isinstance(frame, pa.RecordBatch):
        return _BATCH
    if nw.dependencies.is_pandas_dataframe(frame):
        return _PANDAS
    if nw.dependencies.is_polars_dataframe(frame):
        return _POLARS
    hint = " Call collect() first." if nw.dependencies.is_polars_lazyframe(frame) else ""
    raise DataError(
        f"{_TITLE}: is a {type(frame).__name__}, must be a pandas or polars DataFrame, a pyarrow Table or "
        f"RecordBatch, or the path of a .csv, .csv.gz or .parquet file.{hint}"
    )


def _no_names(failure: Exception) -> DataError:
    del failure
    return DataError(f"{_TITLE}: has column names that are not text. Name every column with text.")


def _not_taken(failure: Exception) -> DataError:
    return DataError(
        f"{_TITLE}: the rows of a public column cannot be taken ({type(failure).__name__}). "
        "Cast the public columns to plain types, or list them under dropped."
    )


def _chunked(values: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def _read_series(frame: Any, name: str) -> Any:
    return nw.from_native(frame[name], series_only=True).to_arrow()


def _nested_in_pandas(frame: Any, name: str) -> str | None:
    dtype = frame[name].dtype
    if (categories := getattr(dtype, "categories", None)) is not None:
        dtype = categories.dtype
    arrow = getattr(dtype, "pyarrow_dtype", None)
    return None if arrow is None else nested_kind(arrow)


def _nested_in_polars(frame: Any, name: str) -> str | None:
    dtype = frame.schema[name]
    return str(dtype.base_type()).lower() if dtype.is_nested() else None


def _nested_in_arrow(frame: Any, name: str) -> str | None:
    return nested_kind(frame.schema.field(name).type)


def _pandas(frame: Any, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
    pandas = nw.get_native_namespace(frame)

    def label_values(values: pa.Array, may_be_missing: bool) -> Any:
        # decided by the domain: a type that depended on the cells would tell whether one is missing
        nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
        return values.to_pandas(types_mapper=nullable.get if may_be_missing else None)

    def public_values(name: str) -> Any:
        if isinstance(frame[name].dtype, pandas.ArrowDtype):
            return pandas.arrays.ArrowExtensionArray(_public(_chunked(pa.array(frame[name])), order))
        values = frame[name].array.take(order)
        return values.remove_unused_categories() if isinstance(values, pandas.Categorical) else values

    return pandas.DataFrame(
        {name: label_values(*labels[name]) if name in labels else public_values(name) for name in names}
    )


def _polars(frame: Any, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
    polars = nw.get_native_namespace(frame)

    def label_series(name: str) -> Any:
        array = labels[name].values
        if not pa.types.is_dictionary(array.type):
            return polars.Series(name, polars.from_arrow(array))
        text = polars.Series(name, polars.from_arrow(array.cast(pa.string())))
        return text.cast(polars.Enum(array.dictionary.to_pylist()))

    def public_series(name: str) -> Any:
        values = frame[name].gather(order)
        if values.dtype == polars.Categorical:
            return values.cast(polars.String).cast(values.dtype)
        if values.dtype == polars.Enum:
            used = set(values.unique())
            kept = [category for category in values.dtype.categories if category in used]
            return values.cast(polars.String).cast(polars.Enum(kept))
        return values

    return polars.DataFrame([label_series(name) if name in labels else public_series(name) for name in names])


def _table(frame: Any, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> pa.Table:
    columns = [
        labels[name].values if name in labels else _public(frame.column(name), order) for name in names
    ]
    return pa.Table.from_arrays(columns, names=list(names))


def _batch(frame: Any, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> pa.RecordBatch:
    table = _table(pa.Table.from_batches([frame]), names, labels, order).combine_chunks()
    columns = [pa.concat_arrays(column.chunks) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, names=list(names))


def _public(column: pa.ChunkedArray, order: Order) -> pa.ChunkedArray:
    """The values in the new order; a dictionary lists no more than them."""
    values = pa.chunked_array(Gatherer(column).slices(order))
    return values.dictionary_encode().cast(column.type) if pa.types.is_dictionary(column.type) else values


def _column(frame: Any, name: str) -> Any:
    return frame.column(name)


_PANDAS = _Kind(lambda frame: frame.columns, _read_series, _nested_in_pandas, _pandas)
_POLARS = _Kind(lambda frame: frame.columns, _read_series, _nested_in_polars, _polars)
_TABLE = _Kind(lambda frame: frame.schema.names, _column, _nested_in_arrow, _table)
_BATCH = _Kind(lambda frame: frame.schema.names, _column, _nested_in_arrow, _batch)
