"""Bounds of a function on intervals, a function a row: which intervals are looked at again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def hull(s: FloatArray, kept: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """The least interval around the kept ones of each row; the first point twice where none is kept."""
    count, rows = kept.shape[1], np.arange(kept.shape[0])
    some = kept.any(axis=1)
    start = np.where(some, kept.argmax(axis=1), 0)
    end = np.where(some, count - kept[:, ::-1].argmax(axis=1), 0)
    return s[rows, start][:, np.newaxis], s[rows, end][:, np.newaxis]
