"""What a row is called in keyed mode: 96 bits, from its position or from a column of ids.

A name of an integer is its value in 64 bits and its sign in the other 32. A name of a text is 96 bits of
its BLAKE2b hash under a key derived from the release's, so that nobody without the key can make two ids
with one name; among n texts two have the same name with probability below n^2 / 2^97 (10^9 rows: 6e-12).
A text that is an integer of 64 bits, written plainly, has the integer's name, so that CSV and Parquet name
rows alike: "17" is 17, and "017", "+17", " 17" and "17.0" are other ids.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from budget_opt.allocation import Allocation
from budget_opt.errors import DataError
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.tables.findings import SHOWN_ROWS, Findings
from budget_opt.tables.public import without_dictionary
from budget_opt.tables.translation import translated
from budget_opt.tables.types import shown_type

RowNames = npt.NDArray[np.uint32]
"""Names of rows, shape (n, 3); little-endian words of 32 bits, the low ones first."""

NAME_WORDS = 3

_NAME = np.dtype("<u4")
_PURPOSE = ("row ids",)
_TEXTS = {pa.string(), pa.large_string(), pa.string_view()}

_PLAIN_INTEGERS = (
    (pa.uint64(), r"\A(?:0|[1-9][0-9]{0,18}|1[0-9]{19})\z", str(2**64 - 1)),
    (pa.int64(), r"\A-[1-9][0-9]{0,18}\z", str(-(2**63))),
)
"""Integers as text: their type, a pattern of those that may fit, the last that does among the longest."""

_LONGEST = 20
"""Characters of the longest integers of 64 bits; shorter ones of the pattern fit."""


def positions(first_row: int, rows: int) -> RowNames:
    """The names of `rows` rows from number `first_row` on, the first record being row 0."""
    return _of_integers(np.arange(first_row, first_row + rows, dtype=np.int64))


def unnamed(rows: int) -> RowNames:
    """Rows for words of which only the number is looked at: no memory, and nothing that names a row."""
    return np.empty((rows, 0), dtype=_NAME)


def require_row_id(row_id: str, columns: Container[str], allocation: Allocation) -> None:
    """`DataError` unless the column that names the rows is there, and is dropped or public.

    An id must be no attribute: a name must not depend on what it is to hide.
    """
    if row_id not in (*allocation.dropped, *allocation.public):
        raise DataError(
            f"column {row_id!r}: names the rows, so it must be listed under dropped in the problem (or under "
            "public, if the ids may be released). List it there and solve again, or leave row_id out.",
            column=row_id,
        )
    if row_id not in columns:
        raise DataError(
            f"column {row_id!r}: is to name the rows, and the table has no such column. Names must be equal, "
            "case and blanks included.",
            column=row_id,
        )


class Ids:
    """Names of 96 bits for the ids of a column of integers or text, under a key of 32 bytes.

    `role` and `lack` say in messages what the ids are for, and what a missing one does not do.
    """

    role = "names rows"
    lack = "names no row"

    def __init__(self, key: bytes, column_name: str) -> None:
        self.column_name, self._key = column_name, key

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.column_name!r})"

    def names(self, findings: Findings, column: pa.Array | pa.ChunkedArray, first_row: int) -> RowNames:
        """The name of every row's id; missing ids are recorded in `findings`: look there before any use.

        `first_row` is the number of the first row. A column of the wrong type raises `DataError` at once.
        """
        parts = [np.empty((0, NAME_WORDS), dtype=_NAME)]
        for plain, rows in self._plain(findings, column, first_row):
            parts.append(
                np.zeros((rows, NAME_WORDS), dtype=_NAME)
                if plain is None
                else translated(partial(self._of, plain), self._unreadable)
            )
        return parts[-1] if len(parts) == 2 else np.concatenate(parts)

    def check(self, findings: Findings, column: pa.Array | pa.ChunkedArray, first_row: int) -> None:
        """Record missing ids in `findings`, as `names` does, and name nothing."""
        for _ in self._plain(findings, column, first_row):
            pass

    def require_type(self, given: pa.DataType) -> None:
        """`DataError` for a column that holds neither integers nor text."""
        values = given.value_type if pa.types.is_dictionary(given) else given
        if pa.types.is_integer(values) or values in _TEXTS:
            return
        hint = (
            ' pandas turns integers with missing values into double: fill them, and use astype("int64").'
            if pa.types.is_floating(values)
            else ""
        )
        raise DataError(
            f"column {self.column_name!r} is of type {shown_type(given)}, and what {self.role} must be "
            f"integers or text, which are equal or not beyond doubt. Cast the column to one of them.{hint}",
            column=self.column_name,
        )

    def _plain(
        self, findings: Findings, column: pa.Array | pa.ChunkedArray, first_row: int
    ) -> Iterator[tuple[pa.Array | None, int]]:
        """Each chunk without a dictionary and its length; None where ids are missing, which are recorded."""
        self.require_type(column.type)
        for ids in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            # before nulls are looked for: a dictionary may have one among its values
            plain = translated(partial(without_dictionary, ids), self._unreadable)
            missing = np.flatnonzero(np.asarray(plain.is_null()))
            if missing.size:
                shown = (first_row + missing[:SHOWN_ROWS]).tolist()
                what = f"missing, and {self.lack}"
                findings.add(self.column_name, what, "Fill the cells.", shown, int(missing.size))
            yield (None if missing.size else plain), len(ids)
            first_row += len(ids)

    def _unreadable(self, failure: Exception) -> DataError:
        return DataError(
            f"column {self.column_name!r}: has cells that cannot be read as their type says "
            f"({type(failure).__name__}). Make the column anew.",
            column=self.column_name,
        )

    def _of(self, ids: pa.Array) -> RowNames:
        if pa.types.is_integer(ids.type):
            return _of_integers(np.asarray(ids))
        texts = ids.cast(pa.large_string())
        names, others = np.empty((len(texts), NAME_WORDS), dtype=_NAME), np.ones(len(texts), dtype=bool)
        for wide, pattern, last in _PLAIN_INTEGERS:
            plain = _plain_integers(texts, pattern, last)
            names[plain] = _of_integers(np.asarray(texts.filter(pa.array(plain)).cast(wide)))
            others &= ~plain
        names[others] = self._of_texts(texts.filter(pa.array(others)))
        return names

    def _of_texts(self, texts: pa.Array) -> RowNames:
        cells = texts.cast(pa.large_binary()).to_numpy(zero_copy_only=False)
        size = 4 * NAME_WORDS
        content = b"".join([blake2b(cell, digest_size=size, key=self._key).digest() for cell in cells])
        return np.frombuffer(content, dtype=_NAME).reshape(-1, NAME_WORDS)


class RowIds(Ids):
    """Names rows by a column of ids; can be pickled, and holds a derived key only."""

    def __init__(self, release: KeyedRelease, column_name: str) -> None:
        super().__init__(release.derived(column_name, _PURPOSE), column_name)


def _plain_integers(texts: pa.Array, pattern: str, last: str) -> npt.NDArray[np.bool_]:
    """Which texts are integers of the pattern up to `last`: texts of one length have the order of digits."""
    fitting = pc.or_(pc.less(pc.binary_length(texts), _LONGEST), pc.less_equal(texts, last))
    found: npt.NDArray[np.bool_] = np.asarray(pc.and_(pc.match_substring_regex(texts, pattern), fitting))
    return found


def _of_integers(values: npt.NDArray[np.integer[Any]]) -> RowNames:
    # two's complement: the cast wraps negative integers, and the sign tells them from large ones
    halves = values.astype("<u8").view(_NAME).reshape(-1, 2)
    names = np.empty((values.size, NAME_WORDS), dtype=_NAME)
    names[:, 0], names[:, 1], names[:, 2] = halves[:, 0], halves[:, 1], values < 0
    return names
