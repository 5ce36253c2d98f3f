"""Released rows as cells with weights, and joint tables of counts that add up.

Every estimate is a weighted mean over cells of numbers a category, so that rows, a joint table and a table of
weighted counts give the same. Letters: w the survey weight of a row (1 without), N, W1, W2 the sums over the
rows of a cell of 1, w and w^2. A mean of psi(y) of mean 0 has the variance sum W2 psi^2 / (sum W1)^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.errors import DataError, InputError
from budget_opt.estimators.releases.count_checks import (
    LARGEST_SQUARES,
    LARGEST_SUM,
    LARGEST_TOTAL,
    require_agreement,
    require_axes,
    require_size,
    sums_of_weights,
    texts,
    whole_numbers,
)
from budget_opt.estimators.unchanging import hold_arrays
from budget_opt.tables.counting import AnyCodes, IntArray, index_type, joint_counts, joint_sums

FloatArray = npt.NDArray[np.float64]

LARGEST_TABLE = 2**20
"""Cells up to which the rows are counted into their joint table (8 MB) before anything else."""
_BLOCK = 2**17
_EXACT = 2**53  # whole numbers up to here are doubles


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


@dataclass(frozen=True, eq=False)
class Counts:
    """The joint table of released rows: `rows` of shape (r_1, ..., r_k), an axis for each of `attributes`.

    Codes along an axis are in the order of the allocation's categories. `weights` and `squares` are the sums
    of the survey weights and of their squares in each cell, None without. `randomized_as` tells how each
    attribute was randomized, and in which cluster, where that is known, so that releases under different
    parameters are never added; `weighted_by` is the column of weights. The arrays are copies that nobody can
    write to. Tables of parts of the rows add up: `first + second`, or `sum`; `to_dict` and `from_dict` carry
    them from one machine to another. Raises `InputError` for counts that are negative or not whole (any
    integers will do, lists as well) or add up to 2^63 rows, for one of `weights` and `squares` alone, for
    sums that no weights have, for other shapes, for masked cells, and for names that are not one an axis.
    """

    attributes: tuple[str, ...]
    rows: IntArray
    weights: FloatArray | None = None
    squares: FloatArray | None = None
    randomized_as: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    weighted_by: str | None = None

    def __post_init__(self) -> None:
        for name, value in (
            ("attributes", texts(self.attributes, "attributes")),
            ("rows", whole_numbers(self.rows)),
            ("weights", sums_of_weights(self.weights, "weights", LARGEST_SUM)),
            ("squares", sums_of_weights(self.squares, "squares", LARGEST_SQUARES)),
            ("randomized_as", texts(self.randomized_as, "randomized_as")),
            ("notes", texts(self.notes, "notes")),
        ):
            object.__setattr__(self, name, value)
        hold_arrays(self)
        if self.weighted_by is not None and not isinstance(self.weighted_by, str):
            raise InputError("counts: weighted_by must be the name of a column, or None.")
        require_axes(self.attributes, self.rows.ndim, self.randomized_as)
        require_agreement(self.rows, self.weights, self.squares)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        self._require_same_kind(other)
        return replace(
            self,
            rows=self.rows + other.rows,
            weights=_sum(self.weights, other.weights),
            squares=_sum(self.squares, other.squares),
            randomized_as=self.randomized_as or other.randomized_as,
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
            weighted_by=self.weighted_by or other.weighted_by,
        )

    def __radd__(self, other: object) -> Counts:
        # sum() begins with 0
        return self if type(other) is int and other == 0 else NotImplemented

    def _require_same_kind(self, other: Counts) -> None:
        """`InputError` unless the two tables can be of parts of one release."""
        if self.attributes != other.attributes or self.rows.shape != other.rows.shape:
            raise InputError(
                f"counts: of {', '.join(self.attributes)} and of {', '.join(other.attributes)} do not add "
                "up. Count the same attributes of the same allocation in both parts."
            )
        if (self.weights is None) != (other.weights is None):
            raise InputError("counts: one part has survey weights and the other none. Count both alike.")
        if self.weighted_by and other.weighted_by and self.weighted_by != other.weighted_by:
            raise InputError(
                f"counts: one part has the weights {self.weighted_by!r} and the other {other.weighted_by!r}. "
                "Count both alike."
            )
        if self.randomized_as and other.randomized_as and self.randomized_as != other.randomized_as:
            raise InputError(
                "counts: the parts were released under allocations that differ in these attributes. Estimate "
                "from each by itself; their estimates may be combined, their counts may not."
            )
        if self.n + other.n > LARGEST_TOTAL:
            raise InputError(
                f"counts: the parts have {self.n + other.n:,} rows, at most {LARGEST_TOTAL:,} can be."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        stated = ("attributes", "randomized_as", "weighted_by")
        return all(getattr(self, name) == getattr(other, name) for name in stated) and all(
            _same(getattr(self, name), getattr(other, name)) for name in ("rows", "weights", "squares")
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash; mypy knows no other way to say so

    def marginal(self, *names: str) -> Counts:
        """The table of some of the attributes, in the order given; raises `InputError` for others."""
        for name in names:
            if name not in self.attributes:
                raise InputError(
                    f"counts: {name!r} is not counted; they are of {', '.join(self.attributes)}."
                )
        if not names or len(set(names)) < len(names):
            raise InputError(
                f"counts: the names are {names}, must be distinct, at least one. Name each once."
            )
        places = [self.attributes.index(name) for name in names]
        others = tuple(axis for axis in range(self.rows.ndim) if axis not in places)
        kept = sorted(places)
        axes = [kept.index(place) for place in places]

        def reduced(table: Any) -> Any:
            return np.ascontiguousarray(table.sum(axis=others).transpose(axes))

        return replace(
            self,
            attributes=names,
            rows=reduced(self.rows),
            weights=None if self.weights is None else reduced(self.weights),
            squares=None if self.squares is None else reduced(self.squares),
            randomized_as=tuple(self.randomized_as[place] for place in places) if self.randomized_as else (),
        )

    def unweighted(self) -> Counts:
        """The same rows without their survey weights."""
        return replace(self, weights=None, squares=None, weighted_by=None)

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
        present = np.flatnonzero(self.rows)
        codes = codes_of(present, self.rows.shape)
        weights = None if self.weights is None else self.weights.reshape(-1)[present]
        squares = None if self.squares is None else self.squares.reshape(-1)[present]
        return Cells(codes, self.rows.reshape(-1)[present], weights, squares)

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values for JSON; integers above 2^53 are decimal strings."""
        from budget_opt.estimators.releases.count_documents import document_of

        return document_of(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Counts:
        """The counts of a parsed document; raises `InputError` for one that `to_dict` did not make."""
        from budget_opt.estimators.releases.count_documents import counts_of_document

        return counts_of_document(document)


def _sum(one: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
    return None if one is None or other is None else one + other


def _same(one: Any, other: Any) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def codes_of(index: npt.NDArray[np.integer[Any]], shape: Sequence[int]) -> tuple[AnyCodes, ...]:
    """The code along every axis of cells given by their number, in the types of codes."""
    columns: list[AnyCodes] = []
    for r in reversed(shape):
        index, code = np.divmod(index, r)
        columns.append(code.astype(index_type(r)))
    return tuple(reversed(columns))


def counts_of(cells: Cells, attributes: Sequence[str], shape: Sequence[int]) -> Counts:
    """The joint table of cells whose codes are in range, one attribute an axis.

    Raises `InputError` where the table would take too much memory, with its cells and bytes.
    """
    notes = require_size(attributes, shape, 1 if cells.weights is None else 3)
    summed = () if cells.weights is None or cells.squares is None else (cells.weights, cells.squares)
    counted, sums = joint_sums(cells.codes, shape, summed)
    if cells.rows is not None and cells.n < _EXACT:
        counted = joint_sums(cells.codes, shape, (cells.rows,))[1][0].astype(np.int64)
    elif cells.rows is not None:
        counted = np.zeros(tuple(shape), dtype=np.int64)
        np.add.at(counted, tuple(code.astype(np.intp) for code in cells.codes), cells.rows)
    first, second = sums or (None, None)
    return Counts(tuple(attributes), counted, first, second, notes=notes)


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
    table = whole_numbers(counts)
    present = np.flatnonzero(table)
    return Cells(codes_of(present, table.shape), table.reshape(-1)[present])


def _check_range(column: AnyCodes, r: int, name: str) -> None:
    if column.size and (int(column.min()) < 0 or int(column.max()) >= r):
        outside = int(np.count_nonzero((column < 0) | (column >= r)))
        raise DataError(
            f"column {name!r}: {outside} rows have a code outside 0 .. {r - 1}. "
            "Encode the column against the domain of the allocation.",
            column=name,
            count=outside,
        )
