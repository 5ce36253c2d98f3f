"""Released codes as cells with weights: the joint table where it is small, the rows themselves where not.

Every estimate is a weighted mean over cells of products of per-category numbers, so both give the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.errors import DataError, InputError
from budget_opt.tables.counting import AnyCodes, IntArray, joint_counts

FloatArray = npt.NDArray[np.float64]

LARGEST_TABLE = 2**20
"""Cells up to which the rows are counted into their joint table (8 MB) before anything else."""
_BLOCK = 2**17


@dataclass(frozen=True)
class Cells:
    """k attributes of n released rows: `codes`, k arrays of one length, and how often each stands.

    `weights` are counts >= 0, None for once each.
    """

    codes: tuple[AnyCodes, ...]
    weights: IntArray | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.codes[0].size if self.weights is None else int(self.weights.sum())

    def blocks(self) -> Iterator[tuple[tuple[AnyCodes, ...], FloatArray]]:
        """Slices of the codes with their weights, small enough for the processor's cache."""
        size = self.codes[0].size
        for start in range(0, size, _BLOCK):
            part = slice(start, start + _BLOCK)
            length = min(_BLOCK, size - start)
            weight = np.ones(length) if self.weights is None else self.weights[part].astype(np.float64)
            yield tuple(column[part] for column in self.codes), weight


def cells_of_codes(
    codes: Mapping[str, AnyCodes], cardinalities: Mapping[str, int], *, largest_table: int = LARGEST_TABLE
) -> Cells:
    """The cells of rows of codes; `cardinalities` names the attributes wanted, in their order.

    Counts them jointly where the table has at most `largest_table` cells and is smaller than the rows.
    Raises `DataError` for a code outside 0 .. r-1 (which column and how many rows, never the value),
    and `InputError` for columns of different lengths.
    """
    columns = tuple(codes[name] for name in cardinalities)
    sizes = {name: codes[name].size for name in cardinalities}
    if len(set(sizes.values())) != 1:
        raise InputError(
            f"codes: the columns have different numbers of rows, {sizes}. Give one table's columns."
        )
    for name, r in cardinalities.items():
        _check_range(codes[name], r, name)
    shape = tuple(cardinalities.values())
    if math.prod(shape) <= min(largest_table, columns[0].size):
        return cells_of_counts(joint_counts(columns, shape))
    return Cells(columns)


def cells_of_counts(counts: npt.ArrayLike) -> Cells:
    """The cells of a joint table of counts, shape (r_1, ..., r_k), that was made anywhere, of any size.

    Tables of parts of the rows add up. Raises `InputError` for a count that is negative or not whole.
    """
    table = np.asarray(counts)
    if not np.issubdtype(table.dtype, np.integer) or table.ndim == 0 or np.any(table < 0):
        raise InputError("counts: must be whole numbers >= 0, one axis an attribute.")
    present = np.nonzero(table)
    return Cells(present, table[present].astype(np.int64))


def _check_range(column: AnyCodes, r: int, name: str) -> None:
    if column.size and (int(column.min()) < 0 or int(column.max()) >= r):
        outside = int(np.count_nonzero((column < 0) | (column >= r)))
        raise DataError(
            f"column {name!r}: {outside} rows have a code outside 0 .. {r - 1}. "
            "Encode the column against the domain of the allocation.",
            column=name,
            count=outside,
        )
