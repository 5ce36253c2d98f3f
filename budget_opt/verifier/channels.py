"""One attribute's implemented matrix, rebuilt from the file's integers, acting on one axis of a table.

P = lambda I + (1 - lambda) 1 q^T with q uniform (DESIGN 2.1, 2.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.allocation import AllocatedAttribute
from budget_opt.verifier.matrices import Matrix

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Channel:
    """The matrix of `name` over r = `cardinality` categories; `other` is the probability of each wrong one.

    `scores` has shape (r,), None for nominal categories.
    """

    name: str
    cardinality: int
    other: Fraction
    scores: FloatArray | None

    @property
    def changed(self) -> Fraction:
        """P(report != truth)."""
        return (self.cardinality - 1) * self.other

    @property
    def retention(self) -> Fraction:
        """lambda, the weight of the identity."""
        return 1 - self.cardinality * self.other

    def expectation(self, of: Any, axis: int = 0) -> FloatArray:
        """E[g(y) | x] for g given along `axis`: lambda g(x) + (1 - lambda) mean g."""
        kept = float(self.retention)
        mean = np.mean(of, axis=axis, keepdims=True)
        expected: FloatArray = kept * of + (1 - kept) * mean
        return expected


def channel_of(attribute: AllocatedAttribute) -> Channel:
    """The channel of an allocated attribute; without a sampler every category is reported alike (R36)."""
    scores = attribute.score_values
    return Channel(
        attribute.name,
        attribute.cardinality,
        Matrix.of(attribute).other,
        None if scores is None else np.array(scores, dtype=np.float64),
    )
