"""Where a cell stands among the declared categories, or what keeps it from standing anywhere (R10, R11).

A cell equals a label when it has the label's type and the same value: text by code points (no trim,
no change of case, no Unicode normalization), integers from any integer type, booleans from booleans.
pandas holds integers with a gap as floating-point numbers, so an integer may stand as the number that
is exactly it: 1.0 is 1 and -0.0 is 0, while 1.5, the infinite, and what is so large that other integers
round to it are no integers, and NaN is missing. Bins take any real number, compared as the double that
it is. Nothing is ever converted in silence: a column of another type is refused, with the way to cast
it, unless all its cells are missing. A column's own dictionary says nothing.

Cells of a CSV file are text. There an integer is its decimal text ("1", never "01" or " 1"), a
boolean is "true" or "false", and a number for bins is a plain decimal ("12", "-0.5", "1e3").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from budget_opt.model.domain import Domain, Kind, Label
from budget_opt.tables.numbers import Doubles, as_numpy, doubles, holds_numbers, numbers_in, numbers_in_text
from budget_opt.tables.type_faults import type_fault
from budget_opt.tables.types import exact_below

Positions = npt.NDArray[np.int32]
"""The code of each cell, or one of the marks below."""

UNSEEN, MISSING, NOT_A_NUMBER = -1, -2, -3

_INT64, _UINT64 = (-(2**63), 2**63 - 1), (0, 2**64 - 1)


class Lookup(Protocol):
    """Finds the cells of one column, whose type must be the one of the declared categories."""

    @property
    def spellings(self) -> Sequence[str]:
        """The labels as text cells spell them; none where the cells are no text."""

    def of(self, values: pa.Array) -> Positions:
        """The positions of plain (not dictionary) cells; `DataError` for a column of another type."""


def lookup_for(domain: Domain, name: str, *, released: bool, text: bool) -> Lookup:
    """The lookup of column `name`; `released` bins are labels, `text` cells come from a CSV file."""
    if domain.edges is not None and not released:
        return _Bins(domain.edges, name, text)
    labels = [label for label in domain.labels if label is not None]
    if text:
        return _Labels([_csv_text(label) for label in labels], "text", name)
    return _Labels(labels, "text" if domain.kind == "bins" else domain.kind, name)


def positions(values: pa.Array, lookup: Lookup) -> Positions:
    """The position of every cell of a plain or dictionary array; where all are missing, of any type."""
    if _missing(values) == len(values):
        return np.full(len(values), MISSING, dtype=np.int32)
    if not pa.types.is_dictionary(values.type):
        return lookup.of(values)
    known = positions(values.dictionary, lookup)
    indices = values.indices.cast(pa.int64()).fill_null(len(known))
    # one entry more than the dictionary has, so that a null points to something
    found: Positions = np.append(known, np.int32(MISSING))[as_numpy(indices)]
    return found


class _Labels:
    """Cells that equal one of the labels."""

    def __init__(self, labels: Sequence[Label], kind: Kind, name: str) -> None:
        self._labels, self._kind, self._name = labels, kind, name
        self._sets: dict[pa.DataType, tuple[pa.Array, Positions]] = {}

    @property
    def spellings(self) -> Sequence[str]:
        """The labels where they are text."""
        return [label for label in self._labels if isinstance(label, str)]

    def of(self, values: pa.Array) -> Positions:
        if not _FITS[self._kind](values.type):
            raise type_fault(values.type, self._kind, self._labels, self._name)
        if pa.types.is_floating(values.type):
            return self._of_integral(values)
        values = values.cast(_wide(values.type))
        labels, codes = self._set(values.type)
        found: Positions = codes[as_numpy(pc.index_in(values, value_set=labels).fill_null(-1))]
        if values.null_count:
            found[as_numpy(values.is_null())] = MISSING
        return found

    def _of_integral(self, values: pa.Array) -> Positions:
        """The positions of integers that stand as floating-point numbers."""
        x = doubles(values)
        integral = (np.trunc(x) == x) & (np.abs(x) < exact_below(values.type))
        found = self.of(pa.array(np.where(integral, x, 0).astype(np.int64)))
        found[~integral] = NOT_A_NUMBER
        found[np.isnan(x)] = MISSING
        return found

    def _set(self, wide: pa.DataType) -> tuple[pa.Array, Positions]:
        """The labels that the type can hold, and their codes, with the mark of unseen cells last."""
        if wide not in self._sets:
            low, high = _UINT64 if wide == pa.uint64() else _INT64
            held = [
                code
                for code, label in enumerate(self._labels)
                if isinstance(label, str) or low <= label <= high
            ]
            labels = pa.array([self._labels[code] for code in held], type=wide)
            self._sets[wide] = labels, np.array([*held, UNSEEN], dtype=np.int32)
        return self._sets[wide]


class _Bins:
    """Numbers in bins: edge_i <= x < edge_{i+1}, the last bin closed."""

    spellings: Sequence[str] = ()

    def __init__(self, edges: Sequence[float], name: str, text: bool) -> None:
        self._edges, self._name, self._text = np.array(edges), name, text

    def of(self, values: pa.Array) -> Positions:
        x = self._numbers(values)
        first, last = self._edges[0], self._edges[-1]
        found = (np.searchsorted(self._edges, x, side="right") - 1).astype(np.int32)
        found[x == last] = self._edges.size - 2
        found[(x < first) | (x > last)] = UNSEEN
        found[np.isinf(x)] = NOT_A_NUMBER
        found[np.isnan(x)] = MISSING
        return found

    def _numbers(self, values: pa.Array) -> Doubles:
        if self._text:
            return numbers_in_text(values)
        if not _FITS["bins"](values.type):
            raise type_fault(values.type, "bins", (), self._name)
        return numbers_in(values)


_FITS = {
    "text": lambda given: given in {pa.string(), pa.large_string(), pa.string_view()},
    "integer": lambda given: pa.types.is_integer(given) or pa.types.is_floating(given),
    "boolean": pa.types.is_boolean,
    "bins": holds_numbers,
}


def _wide(given: pa.DataType) -> pa.DataType:
    """The type in which cells and labels are compared; every cell of the given type fits."""
    if pa.types.is_boolean(given):
        return pa.bool_()
    if pa.types.is_integer(given):
        return pa.uint64() if given == pa.uint64() else pa.int64()
    return pa.large_string()


def _csv_text(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _missing(values: pa.Array) -> int:
    """The number of nulls, and of NaN."""
    if pa.types.is_floating(values.type):
        return int(np.count_nonzero(np.isnan(doubles(values))))
    return int(values.null_count)
