"""The order of the released rows: a uniform permutation that no cell has a part in (R15)."""

from __future__ import annotations

import numpy as np

from budget_opt.randomizer.context import row_order_context
from budget_opt.randomizer.kernel import CHUNK_CELLS
from budget_opt.randomizer.words import WordSource
from budget_opt.tables.public import Order


def same_order(rows: int) -> Order:
    """The order of the original."""
    return np.arange(rows, dtype=np.int64)


def shuffled_order(rows: int, source: WordSource) -> Order:
    """The rows sorted by one 128-bit word each: uniform up to equal words, of probability n^2 / 2^129."""
    stream = source.stream(row_order_context(), 128)
    keys = np.empty((rows, 2), dtype=np.uint64)
    for start in range(0, rows, CHUNK_CELLS):
        stop = min(rows, start + CHUNK_CELLS)
        keys[start:stop] = stream.take(stop - start)
    return np.lexsort((keys[:, 0], keys[:, 1])).astype(np.int64)
