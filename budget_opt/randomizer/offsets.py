"""From uniform words to small numbers: how many of some thresholds a word reaches (DESIGN 2.8)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from budget_opt.randomizer.words import Words

Numbers: TypeAlias = npt.NDArray[Any]
"""Unsigned integers."""

Places: TypeAlias = npt.NDArray[np.intp]


class Offsets(Protocol):
    """Turns words into offsets; any thread may use it."""

    needs_places: bool
    """Whether `put` needs room for places."""

    def put(self, offsets: Numbers, words: Words, places: Places) -> None:
        """The offset of every word into `offsets`; the words are overwritten, or stay."""


class Quotient:
    """u -> min(u div q, r - 1) for words of 32 or 64 bits."""

    needs_places = False

    def __init__(self, bits: int, q: int, cardinality: int, wide: Any) -> None:
        word = np.uint32 if bits == 32 else np.uint64
        self._q = word(q)
        # numbers of few bytes are clipped faster, where that is early enough
        self._narrow_first = (2**bits - 1) // q <= np.iinfo(wide).max
        clipped = wide if self._narrow_first else word
        # typed numbers, and clip in place of minimum: the forms that numpy has vector code for
        self._ends = clipped(0), clipped(cardinality - 1)

    def put(self, offsets: Numbers, words: Words, places: Places) -> None:
        """The offset d of every word into `offsets`; the words are overwritten."""
        del places
        np.floor_divide(words, self._q, out=words)
        if self._narrow_first:
            np.copyto(offsets, words, casting="unsafe")
            np.clip(offsets, *self._ends, out=offsets)
        else:
            np.clip(words, *self._ends, out=words)
            np.copyto(offsets, words, casting="unsafe")


class Thresholds:
    """u -> how many of the thresholds are at most u, for words of any width.

    The leading 16 bits of a word decide where no threshold has the same; a table has the answer for each
    of them. The others are searched for among the leading halves (128 bits) or whole thresholds. Of 128 bits
    the few whose leading half equals a threshold's are compared as Python integers. Where hardly a word is
    below the last threshold there is no table, and those few are searched for.
    """

    needs_places = True

    def __init__(self, bits: int, thresholds: Sequence[int], wide: Any) -> None:
        """`thresholds` ascend, below 2^`bits`; `wide` is a type that holds one more than their number."""
        self._long, lead = bits == 128, min(bits, 64)
        self._shift = lead - _GUIDE_BITS
        leads = [threshold >> (bits - lead) for threshold in thresholds]
        self._leads: Numbers = np.array(leads, dtype=np.uint32 if lead == 32 else np.uint64)
        self._lows = np.array([t % 2**64 for t in thresholds] if self._long else [], dtype=np.uint64)
        self._all, self._open = wide(len(thresholds)), wide(len(thresholds) + 1)
        self._guide = self._answers(wide) if thresholds[-1] >= 2**bits >> _RARE_BITS else None

    def put(self, offsets: Numbers, words: Words, places: Places) -> None:
        """The number of thresholds at or below each word into `offsets`; the words stay."""
        leads = words[:, 1] if self._long else words
        marks = places.view(np.bool_)[: leads.size]
        if self._guide is None:
            offsets[...] = self._all
            np.less_equal(leads, self._leads[-1], out=marks)
        else:
            np.right_shift(leads, leads.dtype.type(self._shift), out=places, casting="unsafe")
            np.take(self._guide, places, out=offsets, mode="clip")
            np.equal(offsets, self._open, out=marks)
        sought = np.flatnonzero(marks)
        if self._long:
            offsets[sought] = self._reached_by_long(words[sought])
        else:
            offsets[sought] = np.searchsorted(self._leads, leads[sought], side="right")

    def _answers(self, wide: Any) -> Numbers:
        """By the leading bits of a word: the answer, or the mark of those that a threshold shares."""
        thresholds: Places = (self._leads >> self._leads.dtype.type(self._shift)).astype(np.intp)
        answers: Numbers = np.searchsorted(thresholds, np.arange(2**_GUIDE_BITS)).astype(wide)
        answers[thresholds] = self._open
        return answers

    def _reached_by_long(self, words: Words) -> Places:
        reached = np.searchsorted(self._leads, words[:, 1])
        equal = np.flatnonzero(self._leads[np.minimum(reached, self._leads.size - 1)] == words[:, 1])
        for i in equal:
            word = (int(words[i, 1]) << 64) | int(words[i, 0])
            reached[i] = bisect_right(range(self._leads.size), word, lo=int(reached[i]), key=self._threshold)
        return reached

    def _threshold(self, place: int) -> int:
        return (int(self._leads[place]) << 64) | int(self._lows[place])


_GUIDE_BITS = 16
_RARE_BITS = 4
"""Below 1 / 16 of all words a search beats the table."""
