"""Joint codes of several columns, and joint tables: how often each stands in the rows, with what weight.

Columns of shape (r_1, ..., r_k) with codes c_1, ..., c_k have the joint code
(...(c_1 r_2 + c_2) r_3 + ...) r_k + c_k: mixed radix, row-major, the last column fastest, as numpy's
`ravel_multi_index` has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

AnyCodes = npt.NDArray[np.integer[Any]]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_BLOCK = 2**17  # rows at a time: the index of a block stays in the processor's cache


def index_type(cells: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds the numbers 0 .. cells - 1: the least memory to move."""
    return np.min_scalar_type(max(0, cells - 1))


def join_into(joint: AnyCodes, columns: Sequence[AnyCodes], shape: Sequence[int]) -> None:
    """Put the joint code of every row into `joint`, of the type that holds as many codes as there are cells.

    The codes of column m lie in 0 .. shape[m] - 1.
    """
    kind = joint.dtype
    np.copyto(joint, columns[0], casting="unsafe")
    for column, r in zip(columns[1:], shape[1:], strict=True):
        # a length of 256 wraps to 0 in 8 bits only where the code is 0 still: the others have length 1
        np.multiply(joint, np.asarray(r).astype(kind), out=joint)
        np.add(joint, column, out=joint, casting="unsafe", dtype=kind)


def split_into(
    columns: Sequence[AnyCodes], joint: AnyCodes, shape: Sequence[int], room: Sequence[AnyCodes]
) -> None:
    """Put the codes of the columns of every joint code into `columns`; uses up `joint`.

    `room` are two arrays of the type and the length of `joint`; every length in `shape` is at least 2.
    """
    quotients, products = room
    for column, r in zip(reversed(columns[1:]), reversed(shape[1:]), strict=True):
        length = joint.dtype.type(r)
        np.floor_divide(joint, length, out=quotients)
        np.multiply(quotients, length, out=products)
        np.subtract(joint, products, out=column, casting="unsafe")
        joint, quotients = quotients, joint
    np.copyto(columns[0], joint, casting="unsafe")


def joint_counts(columns: Sequence[AnyCodes], shape: Sequence[int]) -> IntArray:
    """The counts of the rows' codes, shape `shape`; the codes of column m lie in 0 .. shape[m] - 1.

    Tables of parts of the rows add up to the table of the whole.
    """
    cells = math.prod(shape)
    total = np.zeros(cells, dtype=np.int64)
    for _, index in _indices(columns, shape):
        total += np.bincount(index, minlength=cells)
    return total.reshape(tuple(shape))


def joint_sums(
    columns: Sequence[AnyCodes], shape: Sequence[int], values: Sequence[npt.NDArray[Any]]
) -> tuple[IntArray, tuple[FloatArray, ...]]:
    """The counts, and the sums of each of `values` (one number a row) over the rows of every cell."""
    cells = math.prod(shape)
    counts = np.zeros(cells, dtype=np.int64)
    sums = tuple(np.zeros(cells) for _ in values)
    for rows, index in _indices(columns, shape):
        counts += np.bincount(index, minlength=cells)
        for total, one in zip(sums, values, strict=True):
            np.add(total, np.bincount(index, one[rows], minlength=cells), out=total)
    shaped = tuple(shape)
    return counts.reshape(shaped), tuple(total.reshape(shaped) for total in sums)


def _indices(columns: Sequence[AnyCodes], shape: Sequence[int]) -> Iterator[tuple[slice, AnyCodes]]:
    """The number of the cell of every row (its joint code), a block at a time."""
    cells = math.prod(shape)
    kind = index_type(cells)
    step = max(_BLOCK, cells)
    for start in range(0, columns[0].size, step):
        rows = slice(start, start + step)
        parts = [column[rows] for column in columns]
        index = np.empty(parts[0].size, dtype=kind)
        join_into(index, parts, shape)
        yield rows, index
