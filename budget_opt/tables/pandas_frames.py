"""Data frames of pandas: the type of a released column, where pandas chooses types by the cells (R12).

pandas gives integers with a gap the type float64, booleans with a gap and a column that is nothing but
gaps the type object, text with a gap object or `str`. So where missing is a declared category, a column
of one of these types (object, `bool` and NumPy's integers among them) comes back in the one that pandas
gives to the declared labels and a gap: text as object (pandas 2) or `str` (pandas 3), integers as
float64, booleans as object. float32 and float16, and every type that the cells cannot choose (category,
`string`, the nullable types, Arrow's), are kept, and so is each type where a gap is refused. What other
code chose by the cells (`convert_dtypes`, `downcast`) cannot be told from what was chosen by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from budget_opt.model.domain import Domain
from budget_opt.tables.arrow_tables import label_column, public_column
from budget_opt.tables.label_types import Labels, number_type
from budget_opt.tables.object_cells import column_as_arrow
from budget_opt.tables.public import Order
from budget_opt.tables.types import nested_kind


class PandasFrame:
    """A `pandas.DataFrame`."""

    def __init__(self, frame: Any) -> None:
        self._frame, self._pandas = frame, nw.get_native_namespace(frame)

    def names(self) -> list[Any]:
        """The names of the columns."""
        return list(self._frame.columns)

    def read(self, name: str) -> Any:
        """One column as Arrow; None, NaN, NaT and NA are null or NaN."""
        return column_as_arrow(self._frame[name])

    def nested(self, name: str) -> str | None:
        """See `nested_kind`."""
        dtype = self._frame[name].dtype
        if (categories := getattr(dtype, "categories", None)) is not None:
            dtype = categories.dtype
        arrow = getattr(dtype, "pyarrow_dtype", None)
        return None if arrow is None else nested_kind(arrow)

    def rebuilt(self, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
        """See `FrameSource.rebuilt`."""
        return self._pandas.DataFrame(
            {
                name: self._labels(name, labels[name]) if name in labels else self._public(name, order)
                for name in names
            }
        )

    def _labels(self, name: str, labels: Labels) -> Any:
        pandas, dtype = self._pandas, self._frame[name].dtype
        if isinstance(dtype, pandas.ArrowDtype) and labels.domain.kind != "bins":
            column = label_column(labels, dtype.pyarrow_dtype)
            return pandas.Series(pandas.arrays.ArrowExtensionArray(column))
        target = self._type_like(dtype, labels.domain)
        known = pandas.Series(list(labels.domain.labels), dtype=target)
        return pandas.Series(known.array.take(labels.codes.astype(np.intp)), dtype=target)

    def _type_like(self, given: Any, domain: Domain) -> Any:
        """The type of the released labels of a column of type `given`."""
        pandas = self._pandas
        if domain.kind == "bins" or isinstance(given, pandas.CategoricalDtype):
            labels = [label for label in domain.labels if label is not None]
            ordered = domain.kind != "bins" and given.ordered
            return pandas.CategoricalDtype(labels, ordered=ordered)
        if isinstance(given, np.dtype):
            return self._numpy_like(given, domain)
        if domain.kind == "text" and isinstance(given, pandas.StringDtype):
            return given
        # nullable integers, floating-point numbers and booleans
        numpy = getattr(given, "numpy_dtype", np.dtype(object))
        if domain.kind == "boolean" and numpy.kind == "b":
            return given
        if domain.kind == "integer" and numpy.kind in "iuf":
            held = _number(numpy, domain)
            return f"{_NULLABLE[held.kind]}{8 * held.itemsize}"
        return self._chosen(domain)

    def _numpy_like(self, given: np.dtype[Any], domain: Domain) -> Any:
        if domain.kind == "integer" and given.kind in "iuf":
            if domain.missing is None or given in _NARROW_FLOATING:
                return _number(given, domain)
        elif given.kind == "O" and domain.missing is None:
            return given
        return self._chosen(domain)

    def _chosen(self, domain: Domain) -> Any:
        """The type that pandas chooses for the declared labels, and a gap where it is declared."""
        return self._pandas.Series(list(domain.labels)).dtype

    def _public(self, name: str, order: Order) -> Any:
        pandas, column = self._pandas, self._frame[name]
        if isinstance(column.dtype, pandas.ArrowDtype):
            chunked = pa.chunked_array(pa.array(column))
            return pandas.Series(pandas.arrays.ArrowExtensionArray(public_column(chunked, order)))
        values = column.array.take(order)
        if isinstance(values, pandas.Categorical):
            values = values.remove_unused_categories()
        # the type is told, because pandas 3 would turn objects that are text into `str`
        return pandas.Series(values, dtype=values.dtype if hasattr(values, "categories") else column.dtype)


_NULLABLE = {"i": "Int", "u": "UInt", "f": "Float"}
_NARROW_FLOATING = (np.dtype(np.float16), np.dtype(np.float32))


def _number(given: np.dtype[Any], domain: Domain) -> np.dtype[Any]:
    held: np.dtype[Any] = np.dtype(number_type(pa.from_numpy_dtype(given), domain).to_pandas_dtype())
    return held
