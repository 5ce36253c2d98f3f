"""From codes and uniform words to reports (DESIGN 2.8).

    d = min(u div q, r - 1);   report = (x + d + 1) mod r;   d = r - 1 leaves the truth

x is the code of a cell, u its word, r the number of categories. Nothing branches on x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from budget_opt.mechanisms.sampler import Sampler
from budget_opt.randomizer.words import Words, WordStream
from budget_opt.tables.encoding import Codes

CHUNK_CELLS = 2**17
"""Cells that are randomized at a time; the reports do not depend on it."""

_Offsets = npt.NDArray[Any]
_Quotient: TypeAlias = "Callable[[Words], _Offsets]"


class Kernel(Protocol):
    """One attribute's matrix, ready to randomize codes."""

    bits: int

    def report(self, codes: Codes, words: Words) -> Codes:
        """The reports of these cells, one word a cell."""


class RandomizedResponse:
    """The matrix of a sampler's integers."""

    def __init__(self, sampler: Sampler) -> None:
        self.bits = sampler.bits
        self._cardinality = sampler.cardinality
        self._offset = _quotient(sampler.bits, sampler.q, sampler.cardinality)

    def report(self, codes: Codes, words: Words) -> Codes:
        """(x + d + 1) mod r for each cell."""
        r = self._cardinality
        wide = _type_for(2 * r - 1)
        shift = self._offset(words).astype(wide)
        shift += wide(1)
        total = np.add(codes, shift, dtype=wide)  # at most 2 r - 1
        # below r, total - r wraps round to a number above total, so the lesser one is total mod r
        return _as_codes(np.minimum(total, total - wide(r)), codes)


class BlindReport:
    """A uniform report that does not depend on the truth: retention 0, loss 0 (R36).

    With 64-bit words every category's probability is 1/r to within 2^-44 for r up to a million.
    """

    bits = 64

    def __init__(self, cardinality: int) -> None:
        self._offset = _quotient(self.bits, -(-(2**self.bits) // cardinality), cardinality)

    def report(self, codes: Codes, words: Words) -> Codes:
        """d for each cell; only the number and the type of the codes are looked at."""
        return _as_codes(self._offset(words), codes)


def kernel_for(sampler: Sampler | None, cardinality: int) -> Kernel:
    """The kernel of a sampler, or of an attribute without one."""
    return BlindReport(cardinality) if sampler is None else RandomizedResponse(sampler)


def randomize_column(codes: Codes, stream: WordStream, kernel: Kernel) -> Codes:
    """The report of every cell; the words are the next ones of the stream, in the order of the rows."""
    reports = np.empty_like(codes)
    for start in range(0, codes.size, CHUNK_CELLS):
        chunk = codes[start : start + CHUNK_CELLS]
        reports[start : start + chunk.size] = kernel.report(chunk, stream.take(chunk.size))
    return reports


def _quotient(bits: int, q: int, cardinality: int) -> _Quotient:
    """The function u -> min(u div q, r - 1) of words of this width."""
    if bits == 128:
        return _LongQuotient(q, cardinality)
    word = np.uint32 if bits == 32 else np.uint64

    def offset(words: Words) -> _Offsets:
        offsets: _Offsets = np.minimum(words // word(q), word(cardinality - 1))
        return offsets

    return offset


class _LongQuotient:
    """u -> min(u div q, r - 1) for 128-bit words: how many of q, 2 q, …, (r - 1) q are at most u.

    The high halves decide except where they are equal to a threshold's; those few words are divided
    as Python integers.
    """

    def __init__(self, q: int, cardinality: int) -> None:
        self._q, self._largest = q, cardinality - 1
        self._high = np.array([k * q >> 64 for k in range(1, cardinality)], dtype=np.uint64)

    def __call__(self, words: Words) -> _Offsets:
        low, high = words[:, 0], words[:, 1]
        offsets: _Offsets = np.searchsorted(self._high, high, side="left")
        undecided = np.searchsorted(self._high, high, side="right") > offsets
        for i in np.flatnonzero(undecided):
            word = (int(high[i]) << 64) | int(low[i])
            offsets[i] = min(word // self._q, self._largest)
        return offsets


def _as_codes(offsets: Any, codes: Codes) -> Codes:
    """Numbers below r in the type of the codes."""
    reports: Codes = offsets.astype(codes.dtype, copy=False)
    return reports


def _type_for(largest: int) -> Any:
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32
