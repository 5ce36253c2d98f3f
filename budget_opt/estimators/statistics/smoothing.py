"""Functions that are singular at 0, of a share p that was estimated without bias with a standard error s.

A corrected cell may be negative, and -p log p and 1/p are not defined there. Nothing is cut off: with z =
p/s,

    -p log p  is estimated by  -p log s + s psi(z)
    psi(z) = -(z/2) log(z^2 + C) + (1 + C)/2 z / (z^2 + D) + (k0 + k1 z + k2 z^2 + k3 z^3) exp(-z^2 / 2B)

which is -p log p + s^2 / (2 p) for z beyond 8: the plug-in without its first-order bias (Miller 1955 where
s^2 is p (1-p) / n). The constants are the minimax fit of E psi(z + N(0, 1)) to -z log z over all z >= 0,
empty cells included, under |psi''| <= 2.2 (a larger bound lowers the bias and raises the variance): a cell's
bias is at most 0.14 s anywhere, where the plug-in of cells cut off at 0 has 0.5 s and more. That no
estimator is without bias near 0, and that smoothing by functions with known means is the remedy, is Jiao,
Venkat, Han and Weissman (2015).

    1/p  is estimated by  1/p+ ,  p+ = (p + sqrt(p^2 + 4 s^2)) / 2 > 0

whose mean is 1/p to the second order, because 1/p+ = 1/p - s^2/p^3 + ...
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import FloatArray

BoolArray = npt.NDArray[np.bool_]

_C, _D, _B = 6.0, 4.0, 6.0
_K0, _K1, _K2, _K3 = 0.7603, 1.0485, -0.7216, 0.0930
_STEEPEST = -0.89
"""Where psi has its largest slope; a share is not negative, so none below is believed to be flatter."""
_FAR = 60.0
_FEW_ERRORS = 4.0
LARGEST_BIAS, NEAR = 0.14, 6.0
"""The largest bias of psi of a normal z, and the z from which on it is below 0.05."""


def entropy_term(shares: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The estimates of -p log p, and their derivative by p, of shares with these standard errors.

    Where the error is 0 it is -p log p itself, and 0 at 0.
    """
    z = _in_errors(shares, errors)
    bump = np.exp(-z * z / (2 * _B))
    squares = shares * shares + _C * errors * errors
    known = squares > 0  # neither a share nor an error: the cell cannot be
    logarithm = np.log(np.where(known, squares, 1.0))
    correction = 0.5 * (1 + _C) * errors * errors / np.where(known, shares * shares + _D * errors * errors, 1)
    value = shares * (correction - 0.5 * logarithm) + errors * (_K0 + z * (_K1 + z * (_K2 + z * _K3))) * bump
    return value, _slope(np.maximum(z, _STEEPEST), shares, errors, known)


def positive_part(shares: FloatArray, errors: FloatArray) -> FloatArray:
    """p+ of shares with these standard errors; 0 where both are 0."""
    root = np.sqrt(shares * shares + 4 * errors * errors)
    # for negative p the difference cancels, the quotient does not
    below = 2 * errors * errors / np.where(root - shares > 0, root - shares, 1.0)
    return np.where(shares > 0, 0.5 * (shares + root), below)


def near_zero(shares: FloatArray, errors: FloatArray) -> BoolArray:
    """Those within 4 standard errors of 0; one that is known exactly is none."""
    return (errors > 0) & (shares < _FEW_ERRORS * errors)


def _slope(z: FloatArray, shares: FloatArray, errors: FloatArray, known: BoolArray) -> FloatArray:
    """psi'(z) - log s, written without log s where s is small or 0."""
    bump = np.exp(-z * z / (2 * _B))
    square = z * z
    smooth = -square / (square + _C) + 0.5 * (1 + _C) * (_D - square) / (square + _D) ** 2
    risen = _K1 + z * (2 * _K2 + z * 3 * _K3) - (_K0 + z * (_K1 + z * (_K2 + z * _K3))) * z / _B
    near = z * errors  # the share at which the slope is taken
    size = np.where(errors > 0, near * near + _C * errors * errors, shares * shares)
    far = np.abs(z) >= _FAR
    size = np.where(far, shares * shares + _C * errors * errors, size)
    logarithm = np.where(known, -0.5 * np.log(np.where(known, size, 1.0)), 0.0)
    slope: FloatArray = logarithm + smooth + risen * bump
    return slope


def _in_errors(shares: FloatArray, errors: FloatArray) -> FloatArray:
    """z = p/s, kept within 60, beyond which nothing changes."""
    quotient = np.abs(shares) >= _FAR * errors
    inside = shares / np.where(quotient, 1.0, errors)
    return np.where(quotient, _FAR * np.sign(shares), inside)
