"""Cells to codes and back, against the declared domain only, never the data (R12)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.model.domain import Domain
from budget_opt.tables.findings import SHOWN_ROWS, Findings
from budget_opt.tables.lookup import MISSING, NOT_A_NUMBER, UNSEEN, Positions, lookup_for, positions
from budget_opt.tables.translation import translated

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def code_type(cardinality: int) -> np.dtype[Any]:
    """The type of codes 0..r-1: uint8 up to r = 256, uint16 up to r = 65536, else uint32."""
    return np.dtype(np.uint8 if cardinality <= 2**8 else np.uint16 if cardinality <= 2**16 else np.uint32)


class Encoder:
    """Turns the cells of one column into codes.

    `released` cells are labels already: bins as their label's text, null as the missing category, and
    no cell falls to `other`. `text` cells come from a CSV file.
    """

    def __init__(self, domain: Domain, name: str, *, released: bool = False, text: bool = False) -> None:
        self._domain, self._name, self._released, self._text = domain, name, released, text
        self._lookup = lookup_for(domain, name, released=released, text=text)

    def codes(self, findings: Findings, column: pa.Array | pa.ChunkedArray, first_row: int = 0) -> Codes:
        """The code of every cell; faulty cells are recorded in `findings`: look there before any use.

        `first_row` is the row of the first cell. A column of the wrong type raises `DataError` at once.
        """
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        empty = np.empty(0, dtype=np.int32)
        found = np.concatenate([empty, *map(self._positions, chunks)])
        if self._domain.missing is not None:
            found[found == MISSING] = self._domain.missing
        if self._domain.other is not None and not self._released:
            found[found == UNSEEN] = self._domain.other
        if found.size and found.min() < 0:
            self._record(findings, found, first_row)
            found[found < 0] = 0
        return found.astype(code_type(self._domain.cardinality))

    def blank(self, rows: int) -> Codes:
        """Codes that stand for a column which is refused as a whole."""
        return np.zeros(rows, dtype=code_type(self._domain.cardinality))

    def _positions(self, cells: pa.Array) -> Positions:
        def unreadable(failure: Exception) -> DataError:
            return DataError(
                f"column {self._name!r}: has cells that cannot be read as their type says "
                f"({type(failure).__name__}). Make the column anew.",
                column=self._name,
            )

        return translated(lambda: positions(cells, self._lookup), unreadable)

    def _record(self, findings: Findings, found: Positions, first_row: int) -> None:
        for mark in (UNSEEN, MISSING, NOT_A_NUMBER):
            rows = np.flatnonzero(found == mark)
            if rows.size:
                what, way_out = _fault_of_release(mark) if self._released else self._fault(mark)
                shown = (first_row + rows[:SHOWN_ROWS]).tolist()
                findings.add(self._name, what, way_out, shown, rows.size)

    def _fault(self, mark: int) -> tuple[str, str]:
        """What is wrong with a cell of an original, and the way out."""
        domain = self._domain
        if mark == MISSING:
            what = "missing, which is not a declared category"
            return what, 'Declare "missing": "category" for the attribute, or fill the cells.'
        if mark == NOT_A_NUMBER:
            return "not a finite plain decimal number", "Correct them; empty those that mean missing."
        if domain.edges is not None:
            what = f"outside the bins from {domain.edges[0]!r} to {domain.edges[-1]!r}"
            return what, "Correct them, or open the outer bins with null."
        labels = domain.cardinality - (domain.missing is not None)
        spelling = _SPELLING[domain.kind if self._text else "text"]
        return (
            f"none of the {labels} declared categories ({spelling})",
            'Correct them, declare the category, or declare "other", a category that takes unseen values.',
        )


def encode(
    column: pa.Array | pa.ChunkedArray,
    domain: Domain,
    name: str,
    *,
    first_row: int = 0,
    released: bool = False,
    text: bool = False,
) -> Codes:
    """The codes of one column; see `Encoder`.

    Raises `DataError` with column, count and rows for cells outside the domain, and for a column of
    the wrong type.
    """
    findings = Findings()
    codes = Encoder(domain, name, released=released, text=text).codes(findings, column, first_row)
    findings.require_none()
    return codes


def decode(codes: Codes, domain: Domain) -> pa.Array:
    """The labels of codes: integers as int64, booleans as bool, text and bins as a dictionary array.

    The dictionary always is the declared labels in the declared order, whatever the codes (R12, R15);
    the missing category is null.
    """
    null = None if domain.missing is None else codes == domain.missing
    labels = [label for label in domain.labels if label is not None]
    if domain.kind in {"text", "bins"}:
        indices = pa.array(codes, type=_index_type(len(labels)), mask=null, safe=False)
        return pa.DictionaryArray.from_arrays(indices, pa.array(labels, type=pa.string()))
    # one entry more, for the code of the missing category
    plain = np.array([*labels, 0], dtype=np.int64 if domain.kind == "integer" else np.bool_)
    return pa.array(plain[codes], mask=null)


def label_type(domain: Domain) -> pa.DataType:
    """The Arrow type of `decode`."""
    return decode(np.empty(0, dtype=code_type(domain.cardinality)), domain).type


def _index_type(labels: int) -> pa.DataType:
    return pa.int8() if labels <= 2**7 else pa.int16() if labels <= 2**15 else pa.int32()


def _fault_of_release(mark: int) -> tuple[str, str]:
    """What is wrong with a released cell, and the way out."""
    what = "missing, which no report is" if mark == MISSING else "not a label of the released column"
    return what, "Was the table released under another allocation?"


_SPELLING = {
    "text": "type, case and blanks count",
    "integer": "plain decimal text such as 12: no blanks, no plus sign, no zeros in front",
    "boolean": "true and false, in small letters",
}
