"""The correlation matrix nearest to a symmetric one (Higham 2002).

Alternating projections on the positive semidefinite matrices and on those with a diagonal of ones, with
Dykstra's correction on the first, without which they end at a matrix of both sets that is not the nearest.
"""

from __future__ import annotations

import numpy as np

from budget_opt.errors import NotSolvedError
from budget_opt.estimators.channels import FloatArray

_STEPS = 20_000
_TOLERANCE = 1e-10


def nearest_correlation(matrix: FloatArray) -> FloatArray:
    """The nearest in the sum of squares to a symmetric `matrix` (d, d): positive semidefinite, diagonal 1.

    Raises `NotSolvedError` where the projections have not settled after 20,000 steps.
    """
    point: FloatArray = (matrix + matrix.T) / 2
    correction = np.zeros_like(point)
    for _ in range(_STEPS):
        moved = point - correction
        projected = _semidefinite(moved)
        correction = projected - moved
        following = projected.copy()
        np.fill_diagonal(following, 1.0)
        change = np.abs(following - point).max()
        distance = np.abs(following - projected).max()
        point = following
        if max(change, distance) <= _TOLERANCE:
            return _of_ones(_semidefinite(point))
    raise NotSolvedError(
        f"nearest correlation matrix: has not settled after {_STEPS:,} steps, "
        f"the last one moved an entry by {change:.1g}. Name fewer attributes."
    )


def _semidefinite(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    projected: FloatArray = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return (projected + projected.T) / 2


def _of_ones(matrix: FloatArray) -> FloatArray:
    """The same scaled to a diagonal of exactly 1, which keeps it positive semidefinite."""
    root = np.sqrt(np.diag(matrix))
    scaled: FloatArray = np.clip(matrix / root[:, None] / root[None, :], -1, 1)
    np.fill_diagonal(scaled, 1.0)
    return scaled
