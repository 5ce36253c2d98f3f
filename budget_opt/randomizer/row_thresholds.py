"""From codes and uniform words to reports, where every truth has a law of its own (DESIGN 2.8).

Row x has the sums t_1 < ... < t_{k-1} of the counts of the k categories that are ever reported, all above 0
and below 2^b: a column of counts is all zero or all positive. The report of a word u is the category number
d = |{i: t_i <= u}| among them, found by halving: as many steps, and as many look-ups in each, for every cell,
whatever its code and its word.
"""

from __future__ import annotations

import numpy as np

from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.randomizer.offsets import Numbers, Places
from budget_opt.randomizer.words import Words
from budget_opt.tables.encoding import Codes

_PIECE = 2**14
"""Cells at a time: what a step leaves for the next stays in a near cache, which is three times as fast."""


class RowThresholds:
    """The sums of every row, and the categories between them; any thread may use it."""

    def __init__(self, sampler: MatrixSampler) -> None:
        reported = sampler.matrix.reported
        # the last of a row is 2^b, which no word reaches
        sums = [[row[code] for code in reported[:-1]] for row in sampler.thresholds]
        self._size = len(reported) - 1
        self._reported: Places = np.array(reported, dtype=np.intp)
        self._long, lead = sampler.bits == 128, min(sampler.bits, 64)
        word = np.uint32 if lead == 32 else np.uint64
        flat = [threshold for row in sums for threshold in row]
        self._leads: Numbers = np.array([t >> (sampler.bits - lead) for t in flat], dtype=word)
        self._lows: Numbers = np.array([t % 2**64 for t in flat] if self._long else [], dtype=np.uint64)

    def put(self, reports: Codes, codes: Codes, words: Words, places: Places) -> None:
        """The report of every cell into `reports`, which may be `codes`; the words stay."""
        for start in range(0, codes.size, _PIECE):
            rows = slice(start, start + _PIECE)
            self._put(reports[rows], codes[rows], words[rows], places[rows])

    def _put(self, reports: Codes, codes: Codes, words: Words, places: Places) -> None:
        # codes of one byte would not hold the product
        np.copyto(places, codes, casting="unsafe")
        places *= self._size
        start, left = places.copy(), self._size
        while left > 0:
            half = max(left // 2, 1)
            places += half * self._reached(places + (half - 1), words)
            left -= half
        places -= start
        np.copyto(reports, self._reported[places], casting="unsafe")

    def _reached(self, places: Places, words: Words) -> Numbers:
        """Whether each threshold is at most the word of its cell."""
        leads = self._leads[places]
        if not self._long:
            return np.asarray(leads <= words)
        high, low = words[:, 1], words[:, 0]
        return np.asarray((leads < high) | ((leads == high) & (self._lows[places] <= low)))
