"""The rows of a release in blocks of a fixed size, with their noise, whatever batches they come in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import AnyCodes
from budget_opt.tables.encoding import Codes, code_type
from budget_opt.verifier.channels import Channel

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

LARGEST_BLOCK = 2**16
_CELLS = 2**22
_SMALLEST_BLOCK = 2**11


@dataclass(frozen=True)
class Block:
    """Consecutive rows from number `first_row` on; a list entry or a matrix row for each attribute."""

    first_row: int
    channels: tuple[Channel, ...]
    truths: list[Codes]
    reports: list[Codes]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.truths[0].size)

    @cached_property
    def shifts(self) -> list[Codes]:
        """(report - truth) mod r of each attribute."""
        return [
            shift_of(x, y, one.cardinality)
            for one, x, y in zip(self.channels, self.truths, self.reports, strict=True)
        ]

    @cached_property
    def changed(self) -> BoolArray:
        """Which cells are reported wrong, shape (attributes, rows)."""
        return np.stack([shift != 0 for shift in self.shifts])

    @cached_property
    def records(self) -> npt.NDArray[np.uint64]:
        """A hash of what each row says, see `record_hashes`."""
        return record_hashes(self.truths)

    @cached_property
    def whole_rows(self) -> BoolArray:
        """Which rows are left as they were, in every attribute: of a cluster the block says all."""
        rows: BoolArray = ~np.any(self.changed[[one.is_whole for one in self.channels]], axis=0)
        return rows


def record_hashes(truths: Sequence[AnyCodes]) -> npt.NDArray[np.uint64]:
    """64 bits for each row, equal where all truths are; the first bits depend on all of them."""
    known = np.zeros(truths[0].size, dtype=np.uint64)
    for truth in truths:
        # the multiplier of Knuth's MMIX generator; products wrap around
        known = (known + truth.astype(np.uint64) + np.uint64(1)) * np.uint64(6364136223846793005)
        known ^= known >> np.uint64(29)
    return known


def shift_of(truth: Codes, report: Codes, cardinality: int) -> Codes:
    """(report - truth) mod r in the type of the codes, which wraps around where r does not fit it."""
    shift = report - truth
    shift[report < truth] += shift.dtype.type(cardinality % (np.iinfo(shift.dtype).max + 1))
    return shift


def block_rows(attributes: int) -> int:
    """Rows of a block: a power of two, smaller where there are many attributes."""
    rows = LARGEST_BLOCK
    while rows > _SMALLEST_BLOCK and rows * attributes > _CELLS:
        rows //= 2
    return rows


class Blocks:
    """Cuts batches into blocks; what is left waits, and is given out by `rest`."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        self._channels = tuple(channels)
        self._types = [code_type(channel.cardinality) for channel in channels]
        self._size = block_rows(len(channels))
        self._waiting: list[tuple[list[Codes], list[Codes]]] = []
        self._rows = self._first_row = 0

    def of(self, original: Sequence[AnyCodes], released: Sequence[AnyCodes]) -> Iterator[Block]:
        """The whole blocks, once this batch is there too."""
        rows = original[0].size
        start = 0
        while start < rows:
            stop = min(rows, start + self._size - self._rows)
            self._keep(original, released, slice(start, stop))
            start = stop
            if self._rows == self._size:
                yield self._block()

    def rest(self) -> Iterator[Block]:
        """The rows that are no whole block, if there are any."""
        if self._rows:
            yield self._block()

    def _keep(self, original: Sequence[AnyCodes], released: Sequence[AnyCodes], part: slice) -> None:
        sides = [
            # copied: a caller may use its arrays again
            [np.array(column[part], dtype=of) for column, of in zip(side, self._types, strict=True)]
            for side in (original, released)
        ]
        self._waiting.append((sides[0], sides[1]))
        self._rows += part.stop - part.start

    def _block(self) -> Block:
        originals, reports = (
            [np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*side, strict=True)]
            for side in zip(*self._waiting, strict=True)
        )
        block = Block(self._first_row, self._channels, originals, reports)
        self._first_row += self._rows
        self._waiting, self._rows = [], 0
        return block
