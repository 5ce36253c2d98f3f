"""What no split can meet, seen without solving."""

from __future__ import annotations

import numpy as np

from budget_opt.model.arrays import Arrays, IntArray
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.reduction import alive

_ROUNDING = 1e-12
"""On the sum of a moment's few logarithms."""


def passes_a_ceiling(arrays: Arrays) -> bool:
    """True where pins and lower bounds alone force a retention above its ceiling."""
    least = log_retentions(arrays, arrays.lower) - _ROUNDING
    ceilings = arrays.ceilings
    return bool(np.any(least[ceilings] > arrays.log_ceiling[ceilings]))


def unreleased(arrays: Arrays) -> IntArray:
    """Weighted moments of `min_variance` that no split releases: their variance is infinite."""
    if arrays.objective != "min_variance":
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(arrays.weight > alive(arrays))
