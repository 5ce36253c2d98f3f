"""k-ary randomized response of one attribute in floating point (Ruiz 2026, eq. 1-7; DESIGN 2.1).

Letters: e epsilon in nats, r the effective cardinality (1 / least background share, real, >= 2),
a = r - 1, x = exp(-e), lambda (`retention`) the weight of the identity matrix,
tau = 1 / lambda - 1 = r / (exp(e) - 1).

All functions take scalars or arrays that broadcast, return doubles, and neither overflow nor warn
for e in 1e-300 .. 1e4 and r in 2 .. 1e12; at e = 0 they take their limits (log lambda = -inf).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Real = npt.ArrayLike
_LN2 = 0.6931471805599453


def _log_expm1_neg(epsilon: FloatArray) -> Any:
    """log(1 - exp(-e)), accurate for small and for large e; -inf at 0."""
    with np.errstate(divide="ignore"):
        return np.where(
            epsilon < _LN2,
            np.log(-np.expm1(-np.minimum(epsilon, _LN2))),
            np.log1p(-np.exp(-np.maximum(epsilon, _LN2))),
        )


def _pair(epsilon: Real, cardinality: Real) -> tuple[FloatArray, FloatArray]:
    return np.asarray(epsilon, dtype=np.float64), np.asarray(cardinality, dtype=np.float64)


def retention(epsilon: Real, cardinality: Real) -> Any:
    """lambda, the share of every centred moment that survives, in [0, 1) (Ruiz 2026, eq. 4)."""
    e, r = _pair(epsilon, cardinality)
    return -np.expm1(-e) / (1.0 + (r - 1.0) * np.exp(-e))


def log_retention(epsilon: Real, cardinality: Real) -> Any:
    """log lambda <= 0, concave and increasing in epsilon."""
    e, r = _pair(epsilon, cardinality)
    return _log_expm1_neg(e) - np.log1p((r - 1.0) * np.exp(-e))


def log_complement(epsilon: Real, cardinality: Real) -> Any:
    """log(1 - lambda): log r - e - log1p((r - 1) exp(-e)), with all digits at small epsilon too."""
    e, r = _pair(epsilon, cardinality)
    kept = retention(e, r)
    return np.where(
        kept < 0.5,
        np.log1p(-np.minimum(kept, 0.5)),
        np.log(r) - e - np.log1p((r - 1.0) * np.exp(-e)),
    )


def log_tau(epsilon: Real, cardinality: Real) -> Any:
    """log(1 / lambda - 1), convex and decreasing in epsilon; +inf at 0."""
    e, r = _pair(epsilon, cardinality)
    return np.log(r) - e - _log_expm1_neg(e)


def log_tau_of(log_kept: Real) -> Any:
    """log(1 / lambda - 1) from log lambda <= 0; +inf at -inf, -inf at 0."""
    kept = np.asarray(log_kept, dtype=np.float64)
    return _log_expm1_neg(-kept) - kept


def tau(epsilon: Real, cardinality: Real) -> Any:
    """1 / lambda - 1 = r / (exp(e) - 1) (DESIGN 2.3); +inf where it exceeds the largest double."""
    e, r = _pair(epsilon, cardinality)
    root = np.exp(-e / 2)  # exp(-e) alone would underflow before tau does
    with np.errstate(divide="ignore", over="ignore"):
        return r * root / -np.expm1(-e) * root


def log_retention_slope(epsilon: Real, cardinality: Real) -> Any:
    """d log lambda / d epsilon = r exp(e) / ((exp(e) - 1)(exp(e) + r - 1)); +inf at 0."""
    e, r = _pair(epsilon, cardinality)
    x = np.exp(-e)
    with np.errstate(divide="ignore", over="ignore"):
        return r * x / (-np.expm1(-e) * (1.0 + (r - 1.0) * x))


def epsilon_for_log_retention_slope(slope: Real, cardinality: Real) -> Any:
    """The e at which d log lambda / d e = slope > 0, with all digits at small e too (DESIGN 2.5)."""
    s, r = _pair(slope, cardinality)
    with np.errstate(divide="ignore", over="ignore"):
        share = r / s
        far = np.log(r) - np.log(s)  # where share is beyond every double; inf at slope 0
    # d = exp(e) - 1 solves d^2 + (r - share) d - share = 0; hypot does not square what is large
    half = 0.5 * np.abs(r - share)
    root = half + np.hypot(half, np.sqrt(share))
    near = r > share
    d = np.where(near, share, root) / np.where(near, root, 1.0)
    return np.where(np.isinf(share), far, np.log1p(d))


def log_retention_curvature(epsilon: Real, cardinality: Real) -> Any:
    """d2 log lambda / d epsilon2 < 0; -inf where it exceeds the largest double (e below 1e-154)."""
    e, r = _pair(epsilon, cardinality)
    x = np.exp(-e)
    with np.errstate(divide="ignore", over="ignore"):
        return -log_retention_slope(e, r) * (x / -np.expm1(-e) + 1.0 / (1.0 + (r - 1.0) * x))


def retention_slope(epsilon: Real, cardinality: Real) -> Any:
    """d lambda / d epsilon = r exp(e) / (exp(e) + r - 1)^2."""
    e, r = _pair(epsilon, cardinality)
    x = np.exp(-e)
    return r * x / (1.0 + (r - 1.0) * x) ** 2


def epsilon_for_retention(kept: Real, cardinality: Real) -> Any:
    """e = log((1 + (r - 1) lambda) / (1 - lambda)) for lambda in [0, 1); inf at 1 (Ruiz, eq. 3)."""
    k, r = _pair(kept, cardinality)
    with np.errstate(divide="ignore"):
        return np.log1p(r * k / (1.0 - k))


def epsilon_for_log_retention(log_kept: Real, cardinality: Real) -> Any:
    """The epsilon with this log lambda <= 0, with all digits where lambda is near 1 or near 0."""
    kept, r = _pair(log_kept, cardinality)
    # e = softplus(log r + logit lambda), and logit lambda = log lambda - log(1 - lambda)
    with np.errstate(divide="ignore"):
        return np.logaddexp(0.0, np.log(r) + kept - _log_expm1_neg(-kept))


def truth_probability(epsilon: Real, cardinality: Real) -> Any:
    """P(report = truth) under the uniform background, r = number of categories."""
    e, r = _pair(epsilon, cardinality)
    return 1.0 / (1.0 + (r - 1.0) * np.exp(-e))


def other_probability(epsilon: Real, cardinality: Real) -> Any:
    """P(report = one given other category) under the uniform background."""
    e, r = _pair(epsilon, cardinality)
    x = np.exp(-e)
    return x / (1.0 + (r - 1.0) * x)


def transition_matrix(kept: float, background: Real) -> FloatArray:
    """P = lambda I + (1 - lambda) 1 q^T, rows the truth, columns the report (DESIGN 2.1).

    `kept` is lambda in [0, 1]; `background` is q, shape (r,), positive, summing to one.
    """
    q = np.asarray(background, dtype=np.float64)
    return kept * np.eye(q.size) + (1.0 - kept) * np.broadcast_to(q, (q.size, q.size))


def effective_cardinality(background: Real) -> float:
    """1 / min q: the cardinality that gives the price of a background (DESIGN 2.1)."""
    return float(1.0 / np.min(np.asarray(background, dtype=np.float64)))
