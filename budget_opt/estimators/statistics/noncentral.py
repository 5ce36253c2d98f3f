"""Intervals for the noncentrality of a chi-square from one observation of it."""

from __future__ import annotations

import numpy as np
from scipy import special

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import normal_quantile

_FEW = 0.16
"""The upper end is at least that of the 16 % quantile under 0 (the power constraint of Cowan et al. 2011)."""
_LARGE = 1e4


def noncentrality_interval(
    observed: FloatArray, freedoms: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of the central interval of the noncentrality, each >= 0.

    `freedoms` > 0 need not be whole. It is exact for a noncentral chi-square: it covers in a share `level`,
    and 1/2 + level/2 for a noncentrality of 0 or so small that the power constraint binds, which keeps the
    interval from shrinking to nothing where the observation falls below what noise alone shows. Raises
    `InputError` for a level not in (0, 1).
    """
    tail = (1 - level) / 2
    reach = normal_quantile(level)
    observed, freedoms = np.broadcast_arrays(np.asarray(observed, float), np.asarray(freedoms, float))
    observed = np.maximum(observed, 0.0)
    least = 2 * special.gammaincinv(freedoms / 2, _FEW)
    low = _noncentrality(observed, freedoms, 1 - tail, -reach)
    high = _noncentrality(np.maximum(observed, least), freedoms, tail, reach)
    return low, high


def _noncentrality(x: FloatArray, freedoms: FloatArray, probability: float, reach: float) -> FloatArray:
    """The noncentrality at which P(chi-square <= x) is `probability`; 0 where none is small enough.

    Beyond 10^4 the chi-square is taken as normal with mean nu + l and variance 2 nu + 4 l, which moves the
    end by less than 1 % of a standard error.
    """
    above = np.maximum(x - freedoms, 0.0)
    root = np.sqrt(reach**2 * (4 * above + 4 * reach**2 + 2 * freedoms))
    normal = np.maximum(above + 2 * reach**2 + np.copysign(root, reach), 0.0)
    small = x <= _LARGE
    inside = np.where(small, x, 1.0)
    nu = np.where(small, freedoms, 1.0)
    reachable = special.chndtr(inside, nu, 0.0) > probability
    found = np.where(reachable, special.chndtrinc(inside, nu, probability), 0.0)
    return np.where(small, found, normal)
