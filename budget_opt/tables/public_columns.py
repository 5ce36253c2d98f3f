"""Public columns of a release as what analysts need: categories in codes, or finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from budget_opt.errors import DataError, InputError
from budget_opt.model.domain import Label
from budget_opt.tables.findings import SHOWN_ROWS, Findings
from budget_opt.tables.numbers import Doubles, as_numpy, doubles, holds_numbers, numbers_in, numbers_in_text
from budget_opt.tables.public import without_dictionary
from budget_opt.tables.translation import translated
from budget_opt.tables.types import exact_below, nested_kind, shown_type

MOST_CATEGORIES = 1_000
"""Distinct values that a public column may have as categories; a missing cell counts as one."""
LARGEST_WEIGHT, SMALLEST_WEIGHT = 1e100, 1e-100
"""Survey weights of any unit lie between; their squares, added up, are doubles then."""

PublicCodes = npt.NDArray[np.uint16]


class PublicCategories:
    """The distinct values of a column, numbered as they come; `sorted` tells their order in the end.

    Values are text, integers or booleans; dates and the like are taken as text, and a missing cell is None.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: dict[Label | None, int] = {}

    def codes(self, column: pa.Array) -> PublicCodes:
        """The numbers of the values of these cells; raises `DataError` for numbers that are not whole.

        Raises `InputError` where there are more than `MOST_CATEGORIES` values.
        """
        plain = translated(lambda: self._values(column), self._unreadable)
        encoded = plain.dictionary_encode(null_encoding="encode")
        for value in encoded.dictionary.to_pylist():
            self._numbers.setdefault(value, len(self._numbers))
        if len(self._numbers) > MOST_CATEGORIES:
            raise InputError(
                f"public column {self._name!r}: has more than {MOST_CATEGORIES:,} distinct values, too many "
                "for categories. Put its values into groups in the release, or use it as a number."
            )
        own = np.array([self._numbers[value] for value in encoded.dictionary.to_pylist()], dtype=np.uint16)
        return own[as_numpy(encoded.indices)] if len(own) else np.empty(0, dtype=np.uint16)

    def sorted(self) -> tuple[tuple[Label | None, ...], PublicCodes]:
        """The values in order, None last, and the place there of each number that was given."""
        labels = sorted(self._numbers, key=lambda value: (value is None, value if value is not None else 0))
        places = np.empty(len(labels), dtype=np.uint16)
        places[[self._numbers[label] for label in labels]] = np.arange(len(labels))
        return tuple(labels), places

    def _values(self, column: pa.Array) -> pa.Array:
        plain = without_dictionary(column)
        if nested_kind(plain.type):
            raise DataError(
                f"public column {self._name!r}: is of type {shown_type(plain.type)}, must have plain values.",
                column=self._name,
            )
        if pa.types.is_floating(plain.type):
            return self._whole(plain)
        if pa.types.is_integer(plain.type) or pa.types.is_boolean(plain.type) or pa.types.is_null(plain.type):
            return plain
        return plain.cast(pa.large_string())

    def _whole(self, values: pa.Array) -> pa.Array:
        """Integers that stand as floating-point numbers, as pandas writes them beside a gap."""
        x = doubles(values)
        missing = np.isnan(x)
        whole = missing | ((np.trunc(x) == x) & (np.abs(x) < exact_below(values.type)))
        if not whole.all():
            raise DataError(
                f"public column {self._name!r}: {np.count_nonzero(~whole)} cells are numbers that are not "
                "whole, which are no categories. Put them into groups in the release, or use the column as a "
                "number.",
                column=self._name,
                count=int(np.count_nonzero(~whole)),
            )
        return pa.array(np.where(missing, 0, x).astype(np.int64), mask=missing)

    def _unreadable(self, failure: Exception) -> DataError:
        return DataError(
            f"public column {self._name!r}: has cells that cannot be read as categories "
            f"({type(failure).__name__}). Cast the column to text.",
            column=self._name,
        )


def finite_numbers(column: pa.Array, name: str, findings: Findings, first_row: int, *, text: bool) -> Doubles:
    """The numbers of a public column; cells that are none, or not finite, go to `findings`.

    Raises `DataError` for a column of another type. `text` cells come from a CSV file.
    """
    x = _numbers(column, name, text)
    way_out = "Correct them, or leave their rows out if the allocation's public columns say why."
    _record(~np.isfinite(x), name, "not a finite number", way_out, findings, first_row)
    return x


def survey_weights(column: pa.Array, name: str, findings: Findings, first_row: int, *, text: bool) -> Doubles:
    """The weights in a public column; cells that are no number from 0 to 1e100 go to `findings`, as 0."""
    x = _numbers(column, name, text)
    # a comparison with NaN is false
    faulty = ~((x >= 0) & (x <= LARGEST_WEIGHT))
    what = f"no weight, which is a finite number from 0 to {LARGEST_WEIGHT:g}"
    way_out = "Correct them; give 0 to rows that stand for nobody."
    _record(faulty, name, what, way_out, findings, first_row)
    return np.where(faulty, 0.0, x)


def _numbers(column: pa.Array, name: str, text: bool) -> Doubles:
    def unreadable(failure: Exception) -> DataError:
        return DataError(
            f"column {name!r}: has cells that cannot be read as their type says ({type(failure).__name__}). "
            "Make the column anew.",
            column=name,
        )

    return translated(lambda: _numbers_of(without_dictionary(column), name, text), unreadable)


def _numbers_of(values: Any, name: str, text: bool) -> Doubles:
    if pa.types.is_null(values.type):
        return np.full(len(values), np.nan)
    if text:
        return numbers_in_text(values)
    if pa.types.is_boolean(values.type):
        return numbers_in(values.cast(pa.int8()))
    if not holds_numbers(values.type):
        raise DataError(
            f"column {name!r}: is of type {shown_type(values.type)}, must hold numbers. Cast it, for "
            "instance with "
            'pandas astype("float64").',
            column=name,
        )
    return numbers_in(values)


def _record(
    faulty: npt.NDArray[np.bool_], name: str, what: str, way_out: str, findings: Findings, first_row: int
) -> None:
    rows = np.flatnonzero(faulty)
    if rows.size:
        findings.add(name, what, way_out, (first_row + rows[:SHOWN_ROWS]).tolist(), rows.size)
