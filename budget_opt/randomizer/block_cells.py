"""The cells of one block as one code each: a column's own, or the joint codes of a cluster (DESIGN 2.9).

Both give the codes of some rows, have room for their reports, and take those into the columns that they are
of. The columns of the originals stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from budget_opt.randomizer.offsets import Numbers
from budget_opt.tables.counting import join_into, split_into
from budget_opt.tables.encoding import Codes, code_type


class BlockCells(Protocol):
    """The truths of one block's columns, and their reports."""

    reports: tuple[Codes, ...]
    """A column for each member, in their order; whole when all rows were taken."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    def codes(self, rows: slice) -> Codes:
        """The codes of these rows."""

    def room(self, rows: slice) -> Codes:
        """Where the reports of these rows go; it may be what `codes` has given."""

    def take(self, rows: slice) -> None:
        """Take the reports of these rows from the room."""


def block_cells(truths: Sequence[Codes], shape: Sequence[int], chunk: int) -> BlockCells:
    """The cells of a block of these columns, at most `chunk` rows at a time; `shape` are their categories."""
    return _Alone(truths[0]) if len(truths) == 1 else _Together(truths, shape, chunk)


class _Alone:
    """One column: nothing is copied."""

    def __init__(self, truth: Codes) -> None:
        self._truth, self._report = truth, np.empty_like(truth)
        self.reports: tuple[Codes, ...] = (self._report,)

    @property
    def rows(self) -> int:
        return self._truth.size

    def codes(self, rows: slice) -> Codes:
        return self._truth[rows]

    def room(self, rows: slice) -> Codes:
        return self._report[rows]

    def take(self, rows: slice) -> None:
        """The reports are where they belong."""


class _Together:
    """The columns of a cluster, joined and split a chunk at a time in buffers of one call."""

    def __init__(self, truths: Sequence[Codes], shape: Sequence[int], chunk: int) -> None:
        self._truths, self._shape = tuple(truths), tuple(shape)
        self.reports: tuple[Codes, ...] = tuple(np.empty_like(truth) for truth in truths)
        kind = code_type(math.prod(self._shape))
        self._joint: Codes
        self._joint, *self._rest = np.empty((3, min(self.rows, chunk)), dtype=kind)

    @property
    def rows(self) -> int:
        return self._truths[0].size

    def codes(self, rows: slice) -> Codes:
        parts = [truth[rows] for truth in self._truths]
        joint = self._joint[: parts[0].size]
        join_into(joint, parts, self._shape)
        return joint

    def room(self, rows: slice) -> Codes:
        return self._joint[: rows.stop - rows.start]

    def take(self, rows: slice) -> None:
        columns = [report[rows] for report in self.reports]
        length = columns[0].size
        room: list[Numbers] = [part[:length] for part in self._rest]
        split_into(columns, self._joint[:length], self._shape, room)
