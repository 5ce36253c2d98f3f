"""What a table of counts must be: whole numbers, sums that weights can have, and not too large."""

from __future__ import annotations

import math
from collections.abc import Sequence

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


def whole_numbers(counts: npt.ArrayLike) -> IntArray:
    """Counts made anywhere as 64-bit integers; `InputError` where they are none, or add up to 2^63."""
    try:
        table = np.asarray(counts)
        if table.dtype.kind == "f" and not hasattr(counts, "dtype"):
            table = np.asarray(counts, dtype=object)  # Python's integers beyond 64 bits among others
    except (ValueError, OverflowError):  # lists of different lengths
        table = np.empty(0)
    if table.dtype == object and all(type(count) is int for count in table.flat):
        total, least = sum(table.flat), min(table.flat, default=0)
    elif np.issubdtype(table.dtype, np.integer):
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
        raise InputError(f"counts: add up to {total:,} rows, at most {LARGEST_TOTAL:,} can be.")
    return table.astype(np.int64, copy=False)


def sums_of_weights(sums: npt.ArrayLike | None, what: str, most: float) -> FloatArray | None:
    """Sums of `what` as doubles; `InputError` unless they are numbers from 0 to `most`."""
    if sums is None:
        return None
    try:
        table = np.asarray(sums, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        table = np.array(math.nan)
    if not np.all((table >= 0) & (table <= most)):  # NaN is neither
        raise InputError(f"counts: the {what} must be numbers from 0 to {most:g}, one a cell.")
    return table


def require_axes(attributes: Sequence[str], axes: int, randomized_as: Sequence[str]) -> None:
    """`InputError` unless there is one distinct name an axis, and one digest or none at all."""
    if len(attributes) != axes:
        raise InputError(
            f"counts: {len(attributes)} attributes are named, the table has {axes} axes. "
            "Name one attribute an axis."
        )
    if any(not isinstance(name, str) for name in attributes) or len(set(attributes)) < axes:
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
