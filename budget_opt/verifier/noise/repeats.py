"""Are the same words used again, however far apart? A generator that is seeded anew with every batch does so.

Two windows of L cells of noise that share no row are equal with probability c^L, c = sum_s P(s)^2;
windows of different attributes with laws P, P' with probability (sum P P')^L <= max(c, c')^L; windows of
whole rows with the product of c over what is randomized as one. With L = log(N^2 / 2 alarm) / -log c no two
of N windows are equal but with probability `alarm`. Windows that overlap are not compared: they are equal in
runs, which `runs` judges, and those of one cluster by design.

Memory is bounded: a window is remembered where a hash of what it holds begins with a number of zero bits,
so that equal windows are remembered together or not at all; when there are too many, one more bit is
asked for. What is remembered is 128 bits of BLAKE2b, which stand for the window: that two differ and
agree in them is not counted.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import AnyCodes
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block
from budget_opt.verifier.noise.content import equal_shifts
from budget_opt.verifier.noise.evidence import NoiseEvidence, count_in_words

Words = npt.NDArray[np.uint64]

REMEMBERED = 2**16
"""Windows of single attributes, and of whole rows, that are remembered."""
LONGEST = 2**14
"""Rows of a window up to which it is looked for."""
MOST_ROWS = 2**32
"""For which the length of a window is enough; no window after them is looked at."""
_KINDS = 2
_MISSES = 7
"""Times as many windows as one is remembered of: a block that holds them is missed with exp(-7) = 0.1 %."""
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD1342543DE82EF95)


def window_rows(log_equal: float, sequences: int, alarm: float) -> int:
    """L for `sequences` sequences of cells, each equal to another with probability exp(log_equal)."""
    if log_equal > -1e-12:
        return LONGEST + 1
    pairs = 2 * math.log(MOST_ROWS * sequences) - math.log(2)
    return math.ceil((pairs - math.log(alarm)) / -log_equal)


@dataclass
class Memory:
    """The windows that are remembered: by digest the hash, the sequence and the first row of one."""

    windows: dict[bytes, tuple[int, int, int]] = field(default_factory=dict)
    together: dict[int, int] = field(default_factory=dict)
    """Of a sequence the first one whose noise goes together with its own: a part of the same cluster."""
    bits: int = 0
    repeated: Counter[tuple[int, int]] = field(default_factory=Counter)

    def chosen(self, hashes: Words, least_bits: int) -> npt.NDArray[np.intp]:
        """Which of the windows with these hashes are to be remembered; makes room for them."""
        found = _with_zeros(hashes, max(self.bits, least_bits))
        while len(self.windows) + found.size > REMEMBERED:
            self.bits = max(self.bits, least_bits) + 1
            limit = 1 << (64 - self.bits)
            self.windows = {of: known for of, known in self.windows.items() if known[0] < limit}
            found = found[hashes[found] < np.uint64(limit)]
        return found

    def take(self, digest: bytes, known: tuple[int, int, int], length: int) -> None:
        """Remember a window, or note that it is the repetition of one that shares no row with it."""
        first = self.windows.setdefault(digest, known)
        apart = self._block(first[1]) != self._block(known[1])
        if apart or abs(known[2] - first[2]) >= length:
            self.repeated[first[1], known[1]] += 1

    def _block(self, sequence: int) -> int:
        return self.together.get(sequence, sequence)

    def noticed(self, length: int) -> int:
        """Rows of a repeated block that is noticed almost surely."""
        bits = max(self.bits, _least_bits(length))
        return length + (_MISSES * 2**bits if bits else 0)


@dataclass
class _Sequence:
    """The noise of one attribute, or of whole rows: its number, and the cells that a next window needs."""

    number: int
    length: int
    carried: list[AnyCodes] = field(default_factory=list)
    rows: int = 0

    def take(self, columns: Sequence[AnyCodes], memory: Memory) -> None:
        """Take the next cells, a column or all of them."""
        if self.length > LONGEST or self.rows >= MOST_ROWS:
            return
        if self.carried:
            before: Sequence[AnyCodes] = self.carried
            columns = [np.concatenate(parts) for parts in zip(before, columns, strict=True)]
        windows = columns[0].size - self.length + 1
        if windows > 0:
            hashes = window_hashes(_cell_words(columns), self.length)
            chosen = memory.chosen(hashes, _least_bits(self.length))
            first_rows, known = (chosen + self.rows).tolist(), hashes[chosen].tolist()
            for digest, row, of in zip(
                _digests(columns, chosen, self.length), first_rows, known, strict=True
            ):
                memory.take(digest, (of, self.number, row), self.length)
            self.rows += windows
        self.carried = [column[-(self.length - 1) :] if self.length > 1 else column[:0] for column in columns]


class RepeatTally:
    """Windows of the noise of every attribute, and of whole rows."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm / _KINDS
        of_cells = [math.log(equal_shifts(channel)) for channel in channels]
        self._single = [
            _Sequence(i, window_rows(one, len(channels), self._alarm)) for i, one in enumerate(of_cells)
        ]
        self._wholes = [i for i, channel in enumerate(channels) if channel.is_whole]
        of_rows = sum(of_cells[i] for i in self._wholes)
        self._whole = _Sequence(0, window_rows(of_rows, 1, self._alarm))
        blocks = [channel.block for channel in channels]
        self._of_single = Memory(together={i: blocks.index(block) for i, block in enumerate(blocks)})
        self._of_whole = Memory()

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        for sequence, shift in zip(self._single, block.shifts, strict=True):
            sequence.take([shift], self._of_single)
        self._whole.take([block.shifts[i] for i in self._wholes], self._of_whole)

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on these attributes, and where all are judged on whole rows."""
        repeated = [pair for pair in self._of_single.repeated if set(pair) <= set(judged)]
        yield self._told(
            "no noise of an attribute stands a second time in the same order, in it or in another one",
            [self._pair_in_words(*pair) for pair in repeated],
            [self._single[i] for i in judged],
            self._of_single,
        )
        if len(judged) == len(self._channels):
            found = ["the rows as a whole"] if self._of_whole.repeated else []
            claim = "no block of rows has the noise of another one in the same order"
            yield self._told(claim, found, [self._whole], self._of_whole)

    def _told(
        self, claim: str, found: list[str], sequences: Sequence[_Sequence], memory: Memory
    ) -> NoiseEvidence:
        shortest = min(sequence.length for sequence in sequences)
        if shortest > LONGEST:
            notices = "nothing: there is too little noise to know it again"
        elif not any(sequence.rows for sequence in sequences):
            notices = f"nothing: it takes {count_in_words(shortest, 'row')}, and there are fewer"
        else:
            notices = f"a repeated block of {count_in_words(memory.noticed(shortest), 'row')}"
        return NoiseEvidence(
            claim=claim,
            tests=1,
            # the length of a window was chosen for it
            least_tail=self._alarm if found else 1.0,
            alarm=self._alarm,
            suspects=tuple(found),
            notices=notices,
            source="collision probability of windows",
        )

    def _pair_in_words(self, a: int, b: int) -> str:
        if a == b:
            return self._channels[a].name
        return f"{self._channels[a].name} in {self._channels[b].name}"


def window_hashes(cells: Words, length: int) -> Words:
    """A hash of every window of `length` cells: sum of cell times powers of an odd base, mod 2^64.

    Windows of 1, 2, 4, … cells are put together to those of `length` by its binary digits.
    """
    windows = cells.size - length + 1
    part, size, power = cells, 1, int(_BASE)
    found: Words = np.zeros(windows, dtype=np.uint64)
    start = 0
    while True:
        if length & size:
            found = found * np.uint64(power) + part[start : start + windows]
            start += size
        if size * 2 > length:
            break
        part = part[:-size] * np.uint64(power) + part[size:]
        size, power = 2 * size, power * power % 2**64
    # the last bits of a product are good for little, the first depend on all
    found ^= (found >> np.uint64(32)) ^ _BASE
    return found * _MIX


def _digests(columns: Sequence[AnyCodes], starts: npt.NDArray[np.intp], length: int) -> Iterator[bytes]:
    """128 bits for each of the windows that begin at these rows."""
    windows = [np.lib.stride_tricks.sliding_window_view(column, length)[starts] for column in columns]
    parts = [window.view(np.uint8) for window in windows]
    width = sum(part.shape[1] for part in parts)
    data = np.concatenate(parts, axis=1).tobytes()
    for start in range(0, len(data), width):
        yield hashlib.blake2b(data[start : start + width], digest_size=16).digest()


def _least_bits(length: int) -> int:
    """Long windows are remembered in some rows only: of each row they would take too long."""
    return (length // 32).bit_length()


def _cell_words(columns: Sequence[AnyCodes]) -> Words:
    """A word of 64 bits for each row."""
    words = columns[0].astype(np.uint64)
    for column in columns[1:]:
        words = words * _MIX + column.astype(np.uint64)
        words ^= words >> np.uint64(31)
    return words


def _with_zeros(hashes: Words, bits: int) -> npt.NDArray[np.intp]:
    if bits == 0:
        return np.arange(hashes.size)
    return np.flatnonzero(hashes < np.uint64(1 << (64 - bits)))
