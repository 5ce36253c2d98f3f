"""From codes and uniform words to reports (DESIGN 2.8).

    d = min(u div q, r - 1);   report = (x + d + 1) mod r;   d = r - 1 leaves the truth

x is the code of a cell, u its word, r the number of categories. Nothing branches on x.

A column is randomized a chunk at a time in buffers that belong to one call: each step writes over what the
step before it left, nothing is allocated a chunk, nothing is shared by two threads or outlives the call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from budget_opt.errors import RandomSourceError
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.randomizer.words import Words, WordStream, empty_words
from budget_opt.tables.encoding import Codes

CHUNK_CELLS = 2**17
"""Cells that are randomized at a time: their words stay in a core's cache, and no report depends on it."""

Numbers: TypeAlias = npt.NDArray[Any]
"""Unsigned integers."""


@dataclass(frozen=True)
class Buffers:
    """Room for the cells of one chunk; the caller fills `words`, the rest is the kernel's."""

    words: Words
    sums: Numbers
    lesser: Numbers


class Kernel(ABC):
    """One attribute's matrix, ready to randomize codes."""

    def __init__(self, bits: int, q: int, cardinality: int) -> None:
        self.bits = bits
        self._wide = _type_for(2 * cardinality - 1)  # x + d + 1 is at most 2 r - 1
        self._largest, self._one = self._wide(cardinality - 1), self._wide(1)
        self._offsets = (
            _LongQuotient(q, cardinality) if bits == 128 else _Quotient(bits, q, cardinality, self._wide)
        )

    def buffers(self, cells: int) -> Buffers:
        """Room for chunks of at most so many cells."""
        sums, lesser = np.empty((2, cells), dtype=self._wide)
        return Buffers(empty_words(cells, self.bits), sums, lesser)

    @abstractmethod
    def report_into(self, codes: Codes, buffers: Buffers, reports: Codes) -> None:
        """Put the reports of these cells into `reports`; uses up the first words of the buffers.

        `reports` has the type and the length of `codes`; it may be the same array.
        """

    def report(self, codes: Codes, words: Words) -> Codes:
        """The reports of these cells, one word a cell; both arguments stay as they are.

        Raises `RandomSourceError` where there are more or fewer words than cells.
        """
        if len(words) != codes.size:
            raise RandomSourceError(f"there are {len(words)} words for {codes.size} cells.")
        buffers = self.buffers(codes.size)
        buffers.words[...] = words
        reports = np.empty(codes.shape, dtype=codes.dtype)
        self.report_into(codes, buffers, reports)
        return reports


class RandomizedResponse(Kernel):
    """The matrix of a sampler's integers."""

    def __init__(self, sampler: Sampler) -> None:
        super().__init__(sampler.bits, sampler.q, sampler.cardinality)

    def report_into(self, codes: Codes, buffers: Buffers, reports: Codes) -> None:
        """(x + d + 1) mod r for each cell."""
        sums, lesser = buffers.sums[: codes.size], buffers.lesser[: codes.size]
        self._offsets.put(sums, buffers.words[: codes.size])
        sums += codes
        # where x + d + 1 is below r, subtracting r wraps it round to a larger number, so that the lesser
        # of the two is always the remainder
        np.subtract(sums, self._largest, out=lesser)
        sums += self._one
        np.minimum(sums, lesser, out=reports, casting="unsafe")


class BlindReport(Kernel):
    """A uniform report that does not depend on the truth: retention 0, loss 0 (R36).

    With 64-bit words every category's probability is 1/r to within 2^-44 for r up to a million.
    """

    def __init__(self, cardinality: int) -> None:
        super().__init__(64, -(-(2**64) // cardinality), cardinality)

    def report_into(self, codes: Codes, buffers: Buffers, reports: Codes) -> None:
        """d for each cell; only the number of the codes is looked at."""
        sums = buffers.sums[: codes.size]
        self._offsets.put(sums, buffers.words[: codes.size])
        np.copyto(reports, sums, casting="unsafe")


def kernel_for(sampler: Sampler | None, cardinality: int) -> Kernel:
    """The kernel of a sampler, or of an attribute without one."""
    return BlindReport(cardinality) if sampler is None else RandomizedResponse(sampler)


def randomize_column(codes: Codes, stream: WordStream, kernel: Kernel) -> Codes:
    """The report of every cell; the words are the next ones of the stream, in the order of the rows."""
    reports: Codes = np.empty(codes.shape, dtype=codes.dtype)
    buffers = kernel.buffers(min(codes.size, CHUNK_CELLS))
    for start in range(0, codes.size, CHUNK_CELLS):
        chunk = codes[start : start + CHUNK_CELLS]
        stream.fill(buffers.words[: chunk.size])
        kernel.report_into(chunk, buffers, reports[start : start + CHUNK_CELLS])
    return reports


class _Quotient:
    """u -> min(u div q, r - 1) for words of 32 or 64 bits."""

    def __init__(self, bits: int, q: int, cardinality: int, wide: Any) -> None:
        word = np.uint32 if bits == 32 else np.uint64
        self._q = word(q)
        # numbers of few bytes are clipped faster, where that is early enough
        self._narrow_first = (2**bits - 1) // q <= np.iinfo(wide).max
        clipped = wide if self._narrow_first else word
        # typed numbers, and clip in place of minimum: the forms that numpy has vector code for
        self._ends = clipped(0), clipped(cardinality - 1)

    def put(self, offsets: Numbers, words: Words) -> None:
        """The offset d of every word into `offsets`; the words are overwritten."""
        np.floor_divide(words, self._q, out=words)
        if self._narrow_first:
            np.copyto(offsets, words, casting="unsafe")
            np.clip(offsets, *self._ends, out=offsets)
        else:
            np.clip(words, *self._ends, out=words)
            np.copyto(offsets, words, casting="unsafe")


class _LongQuotient:
    """u -> min(u div q, r - 1) for 128-bit words: how many of q, 2 q, …, (r - 1) q are at most u.

    The high halves decide except where they are equal to a threshold's; those few words are divided
    as Python integers. Room is taken for the words below the last threshold: at the large epsilons that
    need this width there are hardly any.
    """

    def __init__(self, q: int, cardinality: int) -> None:
        self._q, self._largest = q, cardinality - 1
        self._high = np.array([k * q >> 64 for k in range(1, cardinality)], dtype=np.uint64)

    def put(self, offsets: Numbers, words: Words) -> None:
        """The offset d of every word into `offsets`."""
        low, high = words[:, 0], words[:, 1]
        offsets[...] = self._largest
        sought = np.flatnonzero(high <= self._high[-1])
        found = np.searchsorted(self._high, high[sought])
        offsets[sought] = found
        for i in sought[self._high[found] == high[sought]]:
            word = (int(high[i]) << 64) | int(low[i])
            offsets[i] = min(word // self._q, self._largest)


def _type_for(largest: int) -> Any:
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32
