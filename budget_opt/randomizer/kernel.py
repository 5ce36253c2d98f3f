"""From codes and uniform words to reports (DESIGN 2.8).

    d = min(u div q, r - 1);   report = (x + d + 1) mod r;   d = r - 1 leaves the truth

x is the code of a cell, u its word, r the number of categories; for another background than the uniform one

    d = how many of the counts' sums are at most u;   report = d;   d = r leaves the truth

and for a matrix that was chosen for a known source

    d = how many sums of the first counts of row x are at most u;   report = the category number d among those
    that are ever reported (`row_thresholds`: the same steps for every cell)

Nothing branches on x. A block is randomized a chunk at a time in buffers that belong to one call: each step
writes over what the step before it left, hardly anything is allocated a chunk, nothing is shared by two
threads or outlives the call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from budget_opt.errors import RandomSourceError
from budget_opt.mechanisms.background_sampler import BackgroundSampler, blind_counts
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.randomizer.block_cells import BlockCells
from budget_opt.randomizer.offsets import Numbers, Offsets, Places, Quotient, Thresholds
from budget_opt.randomizer.row_thresholds import RowThresholds
from budget_opt.randomizer.words import Words, WordStream, empty_words
from budget_opt.tables.encoding import Codes

CHUNK_CELLS = 2**17
"""Cells that are randomized at a time: their words stay in a core's cache, and no report depends on it."""


@dataclass(frozen=True)
class Buffers:
    """Room for the cells of one chunk; the caller fills `words`, the rest is the kernel's."""

    words: Words
    sums: Numbers
    lesser: Numbers
    places: Places


class Kernel(ABC):
    """One block's matrix, ready to randomize codes."""

    def __init__(self, bits: int, wide: Any, *, needs_places: bool) -> None:
        self.bits = bits
        self._wide, self._needs_places = wide, needs_places

    def buffers(self, cells: int) -> Buffers:
        """Room for chunks of at most so many cells."""
        sums, lesser = np.empty((2, cells), dtype=self._wide)
        places = np.empty(cells if self._needs_places else 0, dtype=np.intp)
        return Buffers(empty_words(cells, self.bits), sums, lesser, places)

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


class OffsetKernel(Kernel):
    """A matrix whose words say, whatever the truth, how far to go from it or what to report."""

    def __init__(self, bits: int, wide: Any, offsets: Offsets) -> None:
        super().__init__(bits, wide, needs_places=offsets.needs_places)
        self._offsets = offsets

    def _put_offsets(self, cells: int, buffers: Buffers) -> Numbers:
        """The offset of each of the first words, in the buffer of sums."""
        sums = buffers.sums[:cells]
        self._offsets.put(sums, buffers.words[:cells], buffers.places[:cells])
        return sums


class RandomizedResponse(OffsetKernel):
    """The matrix of a sampler's integers: uniform background."""

    def __init__(self, sampler: Sampler) -> None:
        r, q, bits = sampler.cardinality, sampler.q, sampler.bits
        wide = _type_for(2 * r - 1)  # x + d + 1 is at most 2 r - 1
        self._largest, self._one = wide(r - 1), wide(1)
        super().__init__(bits, wide, _quotients(bits, q, r, wide))

    def report_into(self, codes: Codes, buffers: Buffers, reports: Codes) -> None:
        """(x + d + 1) mod r for each cell."""
        sums, lesser = self._put_offsets(codes.size, buffers), buffers.lesser[: codes.size]
        sums += codes
        # where x + d + 1 is below r, subtracting r wraps it round to a larger number, so that the lesser
        # of the two is always the remainder
        np.subtract(sums, self._largest, out=lesser)
        sums += self._one
        np.minimum(sums, lesser, out=reports, casting="unsafe")


class BackgroundResponse(OffsetKernel):
    """The matrix of a sampler's counts: any background."""

    def __init__(self, sampler: BackgroundSampler) -> None:
        wide = _type_for(sampler.cardinality + 1)
        self._truth = wide(sampler.cardinality)
        super().__init__(sampler.bits, wide, Thresholds(sampler.bits, sampler.thresholds, wide))

    def report_into(self, codes: Codes, buffers: Buffers, reports: Codes) -> None:
        """d for each cell, x where d is r."""
        drawn = self._put_offsets(codes.size, buffers)
        keeps = buffers.lesser.view(np.bool_)[: codes.size]
        np.equal(drawn, self._truth, out=keeps)
        np.copyto(drawn, codes, where=keeps, casting="unsafe")
        np.copyto(reports, drawn, casting="unsafe")


class MatrixResponse(Kernel):
    """The matrix of a sampler's rows of counts, chosen for a known source."""

    def __init__(self, sampler: MatrixSampler) -> None:
        super().__init__(sampler.bits, _type_for(sampler.cardinality), needs_places=True)
        self._rows = RowThresholds(sampler)

    def report_into(self, codes: Codes, buffers: Buffers, reports: Codes) -> None:
        """The reported category of every word in the row of its code."""
        self._rows.put(reports, codes, buffers.words[: codes.size], buffers.places[: codes.size])


class BlindReport(OffsetKernel):
    """A report that does not depend on the truth: retention 0, loss 0 (R36)."""

    def report_into(self, codes: Codes, buffers: Buffers, reports: Codes) -> None:
        """d for each cell; only the number of the codes is looked at."""
        np.copyto(reports, self._put_offsets(codes.size, buffers), casting="unsafe")


def blind_report(cardinality: int, background: Sequence[int] | None) -> BlindReport:
    """A report drawn from a background: whole weights, or None for the uniform one.

    With 64-bit words every category's probability is within 2^-44 of 1/r, and of the share that another
    background gives it, for r up to a million.
    """
    wide = _type_for(cardinality)
    if background is None:
        offsets: Offsets = Quotient(64, -(-(2**64) // cardinality), cardinality, wide)
    else:
        # the sum of all counts is 2^64, which no word reaches
        *thresholds, _ = accumulate(blind_counts(background, 64))
        offsets = Thresholds(64, thresholds, wide)
    return BlindReport(64, wide, offsets)


def kernel_for(
    sampler: AnySampler | None, cardinality: int, background: Sequence[int] | None = None
) -> Kernel:
    """The kernel of a sampler, or of a block without one, whose reports come from its background alone."""
    if sampler is None:
        return blind_report(cardinality, background)
    if isinstance(sampler, MatrixSampler):
        return MatrixResponse(sampler)
    return RandomizedResponse(sampler) if isinstance(sampler, Sampler) else BackgroundResponse(sampler)


def randomize_block(cells: BlockCells, stream: WordStream, kernel: Kernel) -> None:
    """Report every cell of a block; the words are the next ones of the stream, in the order of the rows."""
    buffers = kernel.buffers(min(cells.rows, CHUNK_CELLS))
    for start in range(0, cells.rows, CHUNK_CELLS):
        rows = slice(start, min(start + CHUNK_CELLS, cells.rows))
        codes = cells.codes(rows)
        stream.fill(buffers.words[: codes.size])
        kernel.report_into(codes, buffers, cells.room(rows))
        cells.take(rows)


def _quotients(bits: int, q: int, cardinality: int, wide: Any) -> Offsets:
    """u -> min(u div q, r - 1), which is how many of q, 2 q, ..., (r - 1) q are at most u."""
    if bits == 128:
        return Thresholds(bits, [k * q for k in range(1, cardinality)], wide)
    return Quotient(bits, q, cardinality, wide)


def _type_for(largest: int) -> Any:
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32
