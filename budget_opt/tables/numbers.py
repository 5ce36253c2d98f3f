"""The numbers in a column as doubles, read from cells of numbers or from the text of a CSV file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_PLAIN_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"

Doubles = npt.NDArray[np.float64]


def holds_numbers(given: pa.DataType) -> bool:
    """Whether cells of this type are numbers: integers, floating-point numbers or decimals."""
    return bool(pa.types.is_integer(given) or pa.types.is_floating(given) or pa.types.is_decimal(given))


def numbers_in_text(values: pa.Array) -> Doubles:
    """The doubles of text cells such as "12", "-0.5" or "1e3"; other text is infinite, null is NaN."""
    plain = pc.match_substring_regex(values, _PLAIN_NUMBER)
    return doubles(pc.if_else(plain, values, "inf").cast(pa.float64()))


def numbers_in(values: pa.Array) -> Doubles:
    """The nearest doubles of cells of a type that `holds_numbers`; null is NaN."""
    if pa.types.is_decimal(values.type):
        # through text: Arrow's own conversion of decimals is not correctly rounded
        return doubles(values.cast(pa.string()).cast(pa.float64()))
    return doubles(values.cast(pa.float64(), safe=False))


def doubles(values: pa.Array) -> Doubles:
    """Floating-point cells as doubles, which hold them exactly; null is NaN."""
    return as_numpy(values).astype(np.float64)


def as_numpy(values: pa.Array) -> npt.NDArray[Any]:
    """The cells as an array of numpy, copied where they must be."""
    return np.asarray(values.to_numpy(zero_copy_only=False))
