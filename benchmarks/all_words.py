"""Counts the reports of a truth under every one of the 2^32 words, through the kernel of the releases (R1).

    python -m benchmarks.all_words --categories 5 --epsilon 1 > benchmarks/results/all_words.txt

A counter stands in place of the key stream: each word comes once. The counts must be what the sampler's
integers say, to the last one: q for every other category, 2^32 - (r - 1) q for the truth. Any difference is
printed, and the exit code is then 1. About 6 seconds a truth on a core.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import numpy.typing as npt

from budget_opt.mechanisms.sampler import Sampler, sampler_of_width
from budget_opt.randomizer.block_cells import block_cells
from budget_opt.randomizer.kernel import CHUNK_CELLS, Kernel, RandomizedResponse, randomize_block
from budget_opt.randomizer.words import Words
from budget_opt.tables.encoding import Codes, code_type

BITS = 32
COLUMN_CELLS = 2**24 + 1
"""Cells of one call: not a multiple of a chunk, so that chunks end at ever other words."""


class CountingWords:
    """0, 1, 2, … in place of a key stream."""

    def __init__(self) -> None:
        self._next = 0

    def fill(self, words: Words) -> None:
        """Put the next numbers into the array."""
        words[...] = np.arange(self._next, self._next + len(words), dtype=np.uint32)
        self._next += len(words)

    def take(self, count: int) -> Words:
        """The next numbers."""
        words = np.empty(count, dtype=np.uint32)
        self.fill(words)
        return words


def counted(kernel: Kernel, truth: int, r: int) -> npt.NDArray[np.int64]:
    """How often each category is reported of a truth."""
    words, counts = CountingWords(), np.zeros(r, dtype=np.int64)
    column: Codes = np.full(COLUMN_CELLS, truth, dtype=code_type(r))
    for start in range(0, 2**BITS, COLUMN_CELLS):
        cells = block_cells([column[: 2**BITS - start]], (r,), CHUNK_CELLS)
        randomize_block(cells, words, kernel)
        counts += tally(cells.reports[0], r)
    return counts


def tally(reports: Codes, r: int) -> npt.NDArray[np.int64]:
    """Cells of each category; a report beyond the last would be seen in the sum."""
    if r > 32:
        return np.bincount(reports, minlength=r)[:r]
    return np.array([np.count_nonzero(reports == category) for category in range(r)])


def claimed(sampler: Sampler, truth: int) -> npt.NDArray[np.int64]:
    """What the integers say of 2^32 words."""
    counts = np.full(sampler.cardinality, sampler.q, dtype=np.int64)
    counts[truth] = 2**BITS - (sampler.cardinality - 1) * sampler.q
    return counts


def main() -> None:
    """Count each truth that was asked for, and compare."""
    parser = argparse.ArgumentParser(description="All 2^32 words through the kernel.")
    parser.add_argument("--categories", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--truth", type=int, action="append", help="a code; all of them unless given")
    asked = parser.parse_args()
    r: int = asked.categories
    truths: list[int] = asked.truth or list(range(r))
    if not all(0 <= truth < r for truth in truths):
        parser.error(f"--truth: a code is from 0 to {r - 1}")
    sampler = sampler_of_width(asked.epsilon, r, BITS)
    if sampler is None:
        sys.exit(f"{r} categories at epsilon {asked.epsilon:g} need words of more than {BITS} bits.")
    kernel = RandomizedResponse(sampler)
    print(f"{r} categories, epsilon {asked.epsilon:g}, 2^{BITS} words, q = {sampler.q}")
    wrong = 0
    for truth in truths:
        started = time.process_time()
        counts, expected = counted(kernel, truth, r), claimed(sampler, truth)
        differences = np.flatnonzero(counts != expected)
        wrong += differences.size
        print(
            f"truth {truth}: reported {counts[truth]} times, each other "
            f"{np.delete(counts, truth).min()} to {np.delete(counts, truth).max()} times; "
            f"{differences.size} counts differ from the integers; {time.process_time() - started:.0f} s",
            flush=True,
        )
        for category in differences[:5]:
            print(f"  category {category}: {counts[category]}, the integers say {expected[category]}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
