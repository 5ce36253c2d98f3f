"""What a table of counts must be: whole numbers, sums that weights can have, and not too large."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Real

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError
from budget_opt.tables.counting import FloatArray, IntArray

LARGEST_TOTAL = 2**63 - 1
"""Rows that a table of counts may have."""
LARGEST_BYTES = 10**9
"""Bytes that one joint table may take: 125 million cells, or 41 million with survey weights."""
NOTED_BYTES = 10**8
"""Bytes from which on the size of a joint table is said."""
LARGEST_SUM, LARGEST_SQUARES = 1e130, 1e260
"""Sums of survey weights and of their squares in a cell: those of 2^63 weights up to 1e100 are smaller."""
ROUNDING = 1e-9
"""Relative error that sums of weights may have, wherever they were added up."""
_TOLD = 10**40  # the digits of a larger number say nothing, and Python does not write those of the largest


def texts(value: object, what: str) -> tuple[str, ...]:
    """The texts of a list; `InputError` for one text, whose letters are no items, and for anything else."""
    unordered = isinstance(value, str | bytes | Mapping | AbstractSet)
    listed = tuple(value) if isinstance(value, Iterable) and not unordered else (None,)
    if not all(isinstance(one, str) for one in listed):
        raise InputError(f'counts: {what} must be a list of texts, such as ["smoker", "income"].')
    return tuple(str(one) for one in listed)


def whole_numbers(counts: npt.ArrayLike) -> IntArray:
    """Counts made anywhere as 64-bit integers; `InputError` where they are none, or add up to 2^63."""
    _require_no_gaps(counts)
    try:
        # the items of lists as they are: a truth value, or an integer beyond 64 bits, would be made a number
        table = np.asarray(counts) if hasattr(counts, "dtype") else np.asarray(counts, dtype=object)
    except (ValueError, OverflowError):  # lists of different lengths
        table = np.empty(0)
    if table.dtype == object and all(map(_is_whole, table.flat)):
        total, least = sum(map(int, table.flat)), min(map(int, table.flat), default=0)
    elif table.dtype.kind in "iu":
        # the sum of doubles says whether that of integers can be trusted
        rough = float(table.sum(dtype=np.float64))
        total = int(table.sum()) if rough < LARGEST_TOTAL / 2 else sum(map(int, table.flat))
        least = int(table.min(initial=0))
    else:
        raise InputError(
            "counts: must be whole numbers >= 0, one axis an attribute. Give an array of integers, for "
            "instance "
            'with astype("int64").'
        )
    if least < 0 or table.ndim == 0:
        raise InputError("counts: must be whole numbers >= 0, one axis an attribute.")
    if total > LARGEST_TOTAL:
        told = f"{total:,}" if total < _TOLD else "more than 1e40"
        raise InputError(f"counts: add up to {told} rows, at most {LARGEST_TOTAL:,} can be.")
    return table.astype(np.int64, copy=False)


def _is_whole(count: object) -> bool:
    return type(count) is int or (isinstance(count, np.integer) and not isinstance(count, np.timedelta64))


def _require_no_gaps(table: object) -> None:
    if np.ma.is_masked(table):
        raise InputError(
            "counts: some cells are masked, and every cell must have its number. Fill them: "
            "counts.filled(0) where no row stands there."
        )


def sums_of_weights(sums: npt.ArrayLike | None, what: str, most: float) -> FloatArray | None:
    """Sums of `what` as doubles; `InputError` unless they are numbers from 0 to `most`."""
    if sums is None:
        return None
    _require_no_gaps(sums)
    try:
        table = np.asarray(sums)
        real = table.dtype.kind in "iuf" or (table.dtype == object and all(map(_is_real, table.flat)))
        table = np.asarray(table if real else math.nan, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        table = np.array(math.nan)
    if not np.all((table >= 0) & (table <= most)):  # NaN is neither
        raise InputError(f"counts: the {what} must be numbers from 0 to {most:g}, one a cell.")
    return table


def _is_real(number: object) -> bool:
    return isinstance(number, Real | Decimal) and not isinstance(number, bool)


def require_axes(attributes: Sequence[str], axes: int, randomized_as: Sequence[str]) -> None:
    """`InputError` unless there is one distinct name an axis, and one digest or none at all."""
    if len(attributes) != axes:
        raise InputError(
            f"counts: {len(attributes)} attributes are named, the table has {axes} axes. "
            "Name one attribute an axis."
        )
    if len(set(attributes)) < axes:
        raise InputError("counts: the attributes must be distinct names. Name each axis once.")
    if randomized_as and len(randomized_as) != axes:
        raise InputError("counts: randomized_as must have one text an attribute, or none at all.")


def require_agreement(rows: IntArray, weights: FloatArray | None, squares: FloatArray | None) -> None:
    """`InputError` where no weights >= 0 of these numbers of rows have these sums and sums of squares.

    With N weights >= 0 in a cell, W2 <= W1^2 <= N W2 (Cauchy-Schwarz); without rows there is no weight.
    """
    if weights is None and squares is None:
        return
    if weights is None or squares is None:
        raise InputError("counts: give both the sums of the weights and of their squares, or neither.")
    if not weights.shape == squares.shape == rows.shape:
        raise InputError(
            f"counts: the rows have shape {rows.shape}, the weights {weights.shape}, their squares "
            f"{squares.shape}. Give one of each a cell."
        )
    square, most = weights**2, rows * squares
    faulty = (
        (square > most * (1 + ROUNDING)) | (squares > square * (1 + ROUNDING)) | ((rows == 0) & (weights > 0))
    )
    if np.any(faulty):
        raise InputError(
            f"counts: in {np.count_nonzero(faulty)} cells no weights of so many rows have this sum and this "
            "sum of squares. Give for each cell the number of rows, the sum of w and the sum of w^2."
        )


def require_size(attributes: Sequence[str], shape: Sequence[int], tables: int) -> tuple[str, ...]:
    """What is to be said of so many tables of doubles or counts; `InputError` where they are too large."""
    cells = math.prod(shape)
    size = 8 * cells * tables
    told = f"the joint table of {' x '.join(attributes)} has {cells:,} cells and takes {size:,} bytes"
    if size > LARGEST_BYTES:
        raise InputError(
            f"{told}; at most {LARGEST_BYTES:,} bytes are allowed. Ask for fewer attributes at a time: no "
            "release of ordinary size tells anything about so many cells."
        )
    return (told,) if size >= NOTED_BYTES else ()
