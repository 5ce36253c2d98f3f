"""Joint tables of codes: how often each combination of categories stands in the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

AnyCodes = npt.NDArray[np.integer[Any]]
IntArray = npt.NDArray[np.int64]

_BLOCK = 2**17  # rows at a time: the index of a block stays in the processor's cache


def joint_counts(columns: Sequence[AnyCodes], shape: Sequence[int]) -> IntArray:
    """The counts of the rows' codes, shape `shape`; the codes of column m lie in 0 .. shape[m] - 1.

    Tables of parts of the rows add up to the table of the whole.
    """
    cells = math.prod(shape)
    total = np.zeros(cells, dtype=np.int64)
    step = max(_BLOCK, cells)
    for start in range(0, columns[0].size, step):
        index = columns[0][start : start + step].astype(np.intp)
        for column, r in zip(columns[1:], shape[1:], strict=True):
            index *= r
            index += column[start : start + step]
        total += np.bincount(index, minlength=cells)
    return total.reshape(tuple(shape))
