"""Whether any originals can lead to a joint table of reports, by Bernstein's bound.

The corrected share of a cell is the mean over the rows of g = prod (1{y = v} - p) / lambda, with p the
probability of the report v where it is wrong and lambda the retention of an attribute. Its expectation is a
share of the originals, whatever they are, and thus >= 0; with E[g^2 | x] <= prod max(k (1-p)^2 + (1-k) p^2, p
(1-p)) / lambda^2, k = p + lambda, for the v for which that is largest, the bound says how far below 0 chance
takes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.tables.binomial import Probabilities
from budget_opt.tables.counting import FloatArray, IntArray


@dataclass(frozen=True)
class LeastShare:
    """The smallest corrected share of a table, and how far below 0 it may be by chance.

    `lowest` is the smallest number that a corrected share can be at all.
    """

    share: float
    tolerance: float
    lowest: float

    @property
    def is_possible(self) -> bool:
        """Whether chance explains the share."""
        return self.share >= -self.tolerance


def least_share(table: IntArray, kept: Sequence[tuple[Probabilities, float]], alarm: float) -> LeastShare:
    """Of a table with at least one row; `kept` are p, one for all v or (r,), and lambda > 0 of every axis.

    Where the rows were randomized independently, whatever the originals, the share is not possible with
    probability at most `alarm`, in (0, 1).
    """
    n = int(table.sum())
    corrected: FloatArray = table / n
    low = high = bound = 1.0
    for axis, (others, retention) in enumerate(kept):
        other = np.atleast_1d(others)
        truth = other + retention
        along = other.reshape([-1 if i == axis else 1 for i in range(table.ndim)])
        corrected = (corrected - along * corrected.sum(axis=axis, keepdims=True)) / retention
        largest = np.maximum(truth * (1 - other) ** 2 + (1 - truth) * other**2, other * (1 - other))
        bound *= float(largest.max()) / retention**2
        values = -float(other.max()), 1 - float(other.min())
        ends = [end * value / retention for end in (low, high) for value in values]
        low, high = min(ends), max(ends)
    log_term = math.log(table.size / alarm)
    linear = (high - low) * log_term / 3
    tolerance = (linear + math.sqrt(linear**2 + 2 * n * bound * log_term)) / n
    return LeastShare(float(corrected.min()), tolerance, low)
