"""Dense symmetric systems of the Newton step, scaled to a unit diagonal; triangles are lower, by columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve

from budget_opt.model.arrays import FloatArray

_SHIFTS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)
"""Added to the unit diagonal until the factor exists."""
_BENT_SHARES = (1.0, 0.95, 0.8, 0.5)
"""Of the non-convex part that is tried, before it is left out."""


class Rows(Protocol):
    """What a coupling needs of its rows."""

    def gram(self, weight: FloatArray) -> FloatArray:
        """The lower triangle of rows^T D(weight) rows."""


@dataclass(frozen=True)
class Coupling:
    """D(slope) rows^T D(weight) rows D(slope), with D a diagonal matrix."""

    incidence: Rows
    weight: FloatArray
    slope: FloatArray


@dataclass(frozen=True)
class Factor:
    """N^-1 by `inverse`, that of N scaled to a unit diagonal."""

    scale: FloatArray
    inverse: Callable[[FloatArray], FloatArray]

    def solve(self, right: FloatArray) -> FloatArray:
        """N^-1 right, for (n,) or (n, k)."""
        by = self.scale if right.ndim == 1 else self.scale[:, None]
        unscaled: FloatArray = self.inverse(right * by) * by
        return unscaled


def positive_factor(curvature: FloatArray, couplings: Sequence[Coupling]) -> Factor | None:
    """The factor of D(curvature) + couplings, with the least shift that makes one exist; None without one."""
    if not couplings:
        return Factor(1.0 / np.sqrt(curvature), lambda right: right) if _positive(curvature) else None
    for shift in _SHIFTS:
        assembled = _scaled(curvature, couplings)
        if assembled is None:
            return None
        matrix, scale = assembled
        np.fill_diagonal(matrix, 1.0 + shift)
        try:
            parts = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return Factor(scale, partial(cho_solve, parts, check_finite=False))
    return None


def _positive(diagonal: FloatArray) -> bool:
    return bool(np.all(np.isfinite(diagonal)) and np.all(diagonal > 0))


def _scaled(curvature: FloatArray, couplings: Sequence[Coupling]) -> tuple[FloatArray, FloatArray] | None:
    """The triangle of D(curvature) + couplings with a unit diagonal, and its scale; None unless positive."""
    grams = [coupling.incidence.gram(coupling.weight) for coupling in couplings]
    diagonal = curvature.copy()
    for gram, coupling in zip(grams, couplings, strict=True):
        diagonal += gram.diagonal() * coupling.slope**2
    if not _positive(diagonal):
        return None
    scale = 1.0 / np.sqrt(diagonal)
    for gram, coupling in zip(grams, couplings, strict=True):
        np.multiply(gram, coupling.slope * scale, out=gram)
        np.multiply(gram, (coupling.slope * scale)[:, None], out=gram)
    total = sum(grams[1:], start=grams[0] if grams else np.zeros((scale.size, scale.size)))
    np.fill_diagonal(total, 1.0)
    return total, scale


def bent_factor(
    curvature: FloatArray, couplings: Sequence[Coupling], bent: FloatArray, folded_caps: FloatArray
) -> Factor | None:
    """A factor of the matrix less the largest share of its non-convex part with which the step descends.

    It descends where the matrix is positive along the caps, that is, together with `folded_caps`. `bent` is a
    triangle.
    """
    assembled = _scaled(curvature, couplings)
    if assembled is None:
        return None
    matrix, scale = assembled
    both = scale[:, None] * scale
    for share in _BENT_SHARES:
        trial = matrix - share * bent * both
        try:
            cho_factor(trial + folded_caps * both, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        whole = np.tril(trial) + np.tril(trial, -1).T + 1e-14 * np.eye(scale.size)
        return Factor(scale, partial(lu_solve, lu_factor(whole, check_finite=False), check_finite=False))
    return positive_factor(curvature, couplings)
