"""Cells to codes and back, against the declared domain only, never the data (R12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.model.domain import Domain
from budget_opt.tables.findings import SHOWN_ROWS, Findings
from budget_opt.tables.look_alikes import look_alikes
from budget_opt.tables.lookup import MISSING, NOT_A_NUMBER, UNSEEN, Positions, lookup_for, positions
from budget_opt.tables.translation import translated

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]

SHOWN_LABELS = 12
"""Declared labels that are named in an error."""


def code_type(cardinality: int) -> np.dtype[Any]:
    """The type of codes 0..r-1: uint8 up to r = 256, uint16 up to r = 65536, else uint32."""
    return np.dtype(np.uint8 if cardinality <= 2**8 else np.uint16 if cardinality <= 2**16 else np.uint32)


class Encoder:
    """Turns the cells of one column into codes.

    `released` cells are labels already: bins as their label's text, null as the missing category, and
    no cell falls to `other`. `text` cells come from a CSV file. Cells of an original whose categories are
    merged are read as the declared ones, and have the code of what these go into.
    """

    def __init__(self, domain: Domain, name: str, *, released: bool = False, text: bool = False) -> None:
        self._domain, self._name, self._released, self._text = domain, name, released, text
        self._read = domain if released or domain.fine is None else domain.fine
        self._lookup = lookup_for(self._read, name, released=released, text=text)
        self._merged = None if self._read is domain else np.array(domain.codes, dtype=np.int32)

    def codes(self, findings: Findings, column: pa.Array | pa.ChunkedArray, first_row: int = 0) -> Codes:
        """The code of every cell; faulty cells are recorded in `findings`: look there before any use.

        `first_row` is the row of the first cell. A column of the wrong type raises `DataError` at once.
        """
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        empty = np.empty(0, dtype=np.int32)
        found = np.concatenate([empty, *map(self._positions, chunks)])
        if self._read.missing is not None:
            found[found == MISSING] = self._read.missing
        if self._read.other is not None and not self._released:
            found[found == UNSEEN] = self._read.other
        if found.size and found.min() < 0:
            self._record(findings, column, found, first_row)
            found[found < 0] = 0
        if self._merged is not None:
            found = self._merged[found]
        return found.astype(code_type(self._domain.cardinality))

    def blank(self, rows: int) -> Codes:
        """Codes that stand for a column which is refused as a whole."""
        return np.zeros(rows, dtype=code_type(self._domain.cardinality))

    def _positions(self, cells: pa.Array) -> Positions:
        return translated(lambda: positions(cells, self._lookup), self._unreadable)

    def _unreadable(self, failure: Exception) -> DataError:
        return DataError(
            f"column {self._name!r}: has cells that cannot be read as their type says "
            f"({type(failure).__name__}). Make the column anew.",
            column=self._name,
        )

    def _record(
        self, findings: Findings, column: pa.Array | pa.ChunkedArray, found: Positions, first_row: int
    ) -> None:
        for mark in (UNSEEN, MISSING, NOT_A_NUMBER):
            rows = np.flatnonzero(found == mark)
            if rows.size:
                what, way_out = self._fault_of_release(mark) if self._released else self._fault(mark)
                shown = (first_row + rows[:SHOWN_ROWS]).tolist()
                alike = self._alike(column, rows) if mark == UNSEEN else {}
                findings.add(self._name, what, way_out, shown, rows.size, alike)

    def _alike(self, column: pa.Array | pa.ChunkedArray, rows: npt.NDArray[np.intp]) -> Mapping[str, int]:
        """How many of the cells in these rows differ from a label only in spelling, by the way."""
        spellings = self._lookup.spellings
        if not spellings:
            return {}
        return translated(lambda: look_alikes(column, rows, spellings), self._unreadable)

    def _fault_of_release(self, mark: int) -> tuple[str, str]:
        """What is wrong with a cell of labels, and the way out: the labels that are declared."""
        what = "missing, which no report is" if mark == MISSING else "not a label of the released column"
        labels = [str(label) for label in self._domain.labels if label is not None]
        more = f" and {len(labels) - SHOWN_LABELS:,} more" if len(labels) > SHOWN_LABELS else ""
        return what, f"The labels of the allocation are: {'; '.join(labels[:SHOWN_LABELS])}{more}."

    def _fault(self, mark: int) -> tuple[str, str]:
        """What is wrong with a cell of an original, and the way out."""
        domain = self._read
        if mark == MISSING:
            what = "missing, which is not a declared category"
            return what, 'Declare "missing": "category" for the attribute, or fill the cells.'
        if mark == NOT_A_NUMBER and domain.kind == "integer":
            what = "no integer: a fraction, infinite, or so large that the column's type rounds it"
            return what, 'Correct them, or cast the column exactly, for instance with pandas astype("Int64").'
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


def decode(codes: Codes, domain: Domain, like: pa.DataType | None = None) -> pa.Array:
    """The labels of codes, as `label_type`, or as the Arrow type `like` that can hold them.

    A dictionary always is the declared labels in the declared order, whatever the codes (R12, R15);
    the missing category is null.
    """
    target = label_type(domain) if like is None else like
    null = None if domain.missing is None else codes == domain.missing
    if pa.types.is_dictionary(target):
        labels = np.arange(domain.cardinality - (domain.missing is not None))
        indices = pa.array(codes, type=target.index_type, mask=null, safe=False)
        dictionary = decode(labels.astype(code_type(labels.size)), domain, target.value_type)
        return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=target.ordered)
    if domain.kind in {"text", "bins"}:
        # through large text: Arrow's views of text cannot be taken
        return pa.array(domain.labels, type=pa.large_string()).take(pa.array(codes)).cast(target)
    # a value also for the code of the missing category, which stands for none
    plain = np.array([label or 0 for label in domain.labels], dtype=target.to_pandas_dtype())
    return pa.array(plain[codes], type=target, mask=null)


def label_type(domain: Domain) -> pa.DataType:
    """The Arrow type of labels by the domain alone: text and bins a dictionary, else int64 or bool."""
    if domain.kind in {"text", "bins"}:
        return pa.dictionary(index_type(domain.cardinality - (domain.missing is not None)), pa.string())
    return pa.int64() if domain.kind == "integer" else pa.bool_()


def index_type(labels: int) -> pa.DataType:
    """The type of a dictionary's indices by the number of labels."""
    return pa.int8() if labels <= 2**7 else pa.int16() if labels <= 2**15 else pa.int32()


_SPELLING = {
    "text": "type, case and blanks count",
    "integer": "plain decimal text such as 12: no blanks, no plus sign, no zeros in front",
    "boolean": "true and false, in small letters",
}
