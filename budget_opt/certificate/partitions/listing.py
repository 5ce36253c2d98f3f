"""All partitions of the attributes into admissible blocks; of those that differ by swaps of equals one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.partitions.choice import Block, Partition, no_check, ordered
from budget_opt.model.arrays import BoolArray, FloatArray, IntArray

LARGEST = 60
"""Attributes whose blocks are bits of a number; more have too many partitions anyway."""
_STRIDE = 2_000
"""Rows between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class Listing:
    """Partitions as rows of indices of their blocks, (N, M); what is left of a row is -1.

    The blocks of a row stand in the order of their first members. `stands_for` is how many partitions there
    are, N where no attributes are alike.
    """

    blocks: tuple[Block, ...]
    rows: IntArray
    stands_for: int

    @property
    def size(self) -> int:
        """N."""
        return len(self.rows)

    def partition(self, n: int) -> Partition:
        """The n-th."""
        return ordered(self.blocks[i] for i in self.rows[n] if i >= 0)

    def positions(self, partitions: Sequence[Partition]) -> list[int | None]:
        """Where each of them is listed; None for one that another stands for."""
        block = {one: i for i, one in enumerate(self.blocks)}
        row = {one.tobytes(): n for n, one in enumerate(self.rows)}
        width = self.rows.shape[1]
        wanted = [[block[one] for one in partition] for partition in partitions]
        padded = np.array([[*one, *[-1] * (width - len(one))] for one in wanted], dtype=self.rows.dtype)
        return [row.get(one.tobytes()) for one in padded.reshape(len(wanted), width)]

    def sums(self, worth: FloatArray) -> FloatArray:
        """The worths (n,) of the blocks summed over every partition, (N,)."""
        summed: FloatArray = np.append(worth, 0.0)[self.rows].sum(axis=1)
        return summed


def listed(
    blocks: Sequence[Block],
    size: int,
    most: int,
    alike: Sequence[Sequence[int]] = (),
    check: Callable[[], None] = no_check,
) -> Listing | None:
    """Every partition of `size` attributes into these blocks; None where there are more than `most`.

    With a block there are all its parts among them. Of partitions that differ only by a permutation within
    the classes `alike` the first stands for all. `check` is called now and then, and may raise to end it.
    """
    if size > LARGEST:
        return None
    known = np.array([sum(1 << i for i in block) for block in blocks], dtype=np.int64)
    order = np.argsort(known)
    found = np.zeros((1, size), dtype=np.int64)
    for i in range(size):
        check()
        places = list(_places(found, i, known[order]))
        if sum(int(np.sum(mask)) for mask in places) > most:
            return None
        found = _extended(found, i, places)
    rows = np.where(found > 0, order[np.searchsorted(known[order], found) % len(known)], -1)
    return Listing(tuple(blocks), _first_of_kinds(rows, blocks, alike, check), len(rows))


def _places(found: IntArray, i: int, known: IntArray) -> Iterator[BoolArray]:
    """For each column, which partitions (N, M) of the attributes before i may have i in the block there.

    A block is a number with the bits of its members, and 0 where a row has no further block; `known` rise.
    """
    bit = 1 << i
    for column in range(i + 1):
        larger = found[:, column] | bit
        begun = found[:, column] > 0
        # alone it stands at the first place that is free
        first = ~begun if column == 0 else ~begun & (found[:, column - 1] > 0)
        place = np.minimum(np.searchsorted(known, larger), known.size - 1)
        yield (known[place] == larger) & (begun | first)


def _extended(found: IntArray, i: int, places: Sequence[BoolArray]) -> IntArray:
    """The partitions with i in each of these places."""
    extended = [found[mask] for mask in places]
    for column, rows in enumerate(extended):
        rows[:, column] |= 1 << i
    return np.vstack(extended)


def _first_of_kinds(
    rows: IntArray, blocks: Sequence[Block], alike: Sequence[Sequence[int]], check: Callable[[], None]
) -> IntArray:
    if not alike:
        return rows
    classes = {member: c for c, members in enumerate(alike) for member in members}
    kinds: dict[object, int] = {}
    for n, row in enumerate(rows):
        if n % _STRIDE == 0:
            check()
        kinds.setdefault(_kind([blocks[i] for i in row if i >= 0], classes), n)
    return rows[list(kinds.values())]


def _kind(blocks: Sequence[Block], classes: dict[int, int]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The blocks with classes in place of members: the same for partitions that differ by swaps of equals."""
    return tuple(
        sorted(tuple(sorted((0, classes[i]) if i in classes else (1, i) for i in block)) for block in blocks)
    )
