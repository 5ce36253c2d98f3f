"""Released rows as cells with weights, and joint tables of counts that add up.

Every estimate is a weighted mean over cells of numbers a category, so that rows, a joint table and a table of
weighted counts give the same. Letters: w the survey weight of a row (1 without), N, W1, W2 the sums over the
rows of a cell of 1, w and w^2. A mean of psi(y) of mean 0 has the variance sum W2 psi^2 / (sum W1)^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
    """k attributes of released rows: `codes`, k arrays of one length, and what stands in each place.

    `rows` are N >= 0, None for once each; `weights` W1 and `squares` W2, None where no row has a weight.
    """

    codes: tuple[AnyCodes, ...]
    rows: IntArray | None = None
    weights: FloatArray | None = None
    squares: FloatArray | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.codes[0].size if self.rows is None else int(self.rows.sum())

    @property
    def total(self) -> float:
        """sum w."""
        return float(self.n if self.weights is None else self.weights.sum())

    @property
    def effective(self) -> float:
        """(sum w)^2 / sum w^2 (Kish 1965): n where no row has a weight."""
        return float(self.n) if self.squares is None else self.total**2 / float(self.squares.sum())

    def blocks(self) -> Iterator[tuple[tuple[AnyCodes, ...], FloatArray, FloatArray]]:
        """Slices of the codes with W1 and W2, small enough for the processor's cache."""
        size = self.codes[0].size
        for start in range(0, size, _BLOCK):
            part = slice(start, start + _BLOCK)
            length = min(_BLOCK, size - start)
            rows = np.ones(length) if self.rows is None else self.rows[part].astype(np.float64)
            first = rows if self.weights is None else self.weights[part]
            second = rows if self.squares is None else self.squares[part]
            yield tuple(column[part] for column in self.codes), first, second


@dataclass(frozen=True)
class Counts:
    """The joint table of released rows: `rows` of shape (r_1, ..., r_k), an axis for each of `attributes`.

    `weights` and `squares` are the sums of the survey weights and of their squares in each cell, None
    without. Tables of parts of the rows add up: `first + second`. Raises `InputError` for counts that are
    negative or not whole, for one of `weights` and `squares` alone, for other shapes, and for names that
    are not one an axis.
    """

    attributes: tuple[str, ...]
    rows: IntArray
    weights: FloatArray | None = None
    squares: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "rows", _whole(self.rows))
        if len(self.attributes) != self.rows.ndim:
            raise InputError(
                f"counts: {len(self.attributes)} attributes are named, the table has {self.rows.ndim} axes. "
                "Name one attribute an axis."
            )
        if (self.weights is None) != (self.squares is None):
            raise InputError("counts: give both the sums of the weights and of their squares, or neither.")

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    def __add__(self, other: Counts) -> Counts:
        if self.attributes != other.attributes or self.rows.shape != other.rows.shape:
            raise InputError(
                f"counts: of {', '.join(self.attributes)} and of {', '.join(other.attributes)} do not add "
                "up. Count the same attributes of the same allocation in both parts."
            )
        if (self.weights is None) != (other.weights is None):
            raise InputError("counts: one part has survey weights and the other none. Count both alike.")
        if self.weights is None or other.weights is None:
            return Counts(self.attributes, self.rows + other.rows)
        return Counts(
            self.attributes,
            self.rows + other.rows,
            self.weights + other.weights,
            _both(self.squares) + _both(other.squares),
        )

    @property
    def first(self) -> FloatArray:
        """W1 of every cell."""
        return self.rows.astype(np.float64) if self.weights is None else self.weights

    @property
    def second(self) -> FloatArray:
        """W2 of every cell."""
        return self.rows.astype(np.float64) if self.squares is None else self.squares

    @property
    def shares(self) -> FloatArray:
        """The weighted share of every cell among the released rows; they add up to 1."""
        first = self.first
        shares: FloatArray = first / first.sum()
        return shares

    @property
    def effective(self) -> float:
        """(sum w)^2 / sum w^2 (Kish 1965)."""
        return float(self.first.sum() ** 2 / self.second.sum())

    @property
    def cells(self) -> Cells:
        """The cells that occur, as weighted rows."""
        present = np.nonzero(self.rows)
        weights = None if self.weights is None else self.weights[present]
        squares = None if self.squares is None else self.squares[present]
        return Cells(present, self.rows[present].astype(np.int64), weights, squares)


def _both(squares: FloatArray | None) -> FloatArray:
    if squares is None:
        raise InputError("counts: the sums of squares are missing.")
    return squares


def counts_of(cells: Cells, attributes: Sequence[str], shape: Sequence[int]) -> Counts:
    """The joint table of cells whose codes are in range, one attribute an axis."""
    rows = cells.rows
    if rows is None and cells.weights is None:
        return Counts(tuple(attributes), joint_counts(cells.codes, shape))
    index = np.ravel_multi_index(tuple(np.asarray(code, dtype=np.intp) for code in cells.codes), tuple(shape))
    size = math.prod(shape)

    def added(values: FloatArray | IntArray | None) -> FloatArray:
        return np.bincount(index, values, minlength=size).reshape(tuple(shape)).astype(np.float64)

    if rows is None:
        counted = joint_counts(cells.codes, shape)
    else:
        counted = np.zeros(size, dtype=np.int64)
        np.add.at(counted, index, rows)  # sums of doubles lose counts beyond 2^53
        counted = counted.reshape(tuple(shape))
    if cells.weights is None:
        return Counts(tuple(attributes), counted)
    return Counts(tuple(attributes), counted, added(cells.weights), added(cells.squares))


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

    Raises `InputError` for a count that is negative or not whole.
    """
    table = _whole(counts)
    present = np.nonzero(table)
    return Cells(present, table[present].astype(np.int64))


def _whole(counts: npt.ArrayLike) -> IntArray:
    table = np.asarray(counts)
    if not np.issubdtype(table.dtype, np.integer) or table.ndim == 0 or np.any(table < 0):
        raise InputError("counts: must be whole numbers >= 0, one axis an attribute.")
    return table


def _check_range(column: AnyCodes, r: int, name: str) -> None:
    if column.size and (int(column.min()) < 0 or int(column.max()) >= r):
        outside = int(np.count_nonzero((column < 0) | (column >= r)))
        raise DataError(
            f"column {name!r}: {outside} rows have a code outside 0 .. {r - 1}. "
            "Encode the column against the domain of the allocation.",
            column=name,
            count=outside,
        )
