"""Bounds of a probability by Clopper and Pearson, and of a loss by two of them, rounded outward.

Clopper, Pearson 1934: with X binomial (n, p) and L(k) the p at which P(X >= k) = a, P(L(X) > p) <= a.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

_OUTWARD = 1e-9
"""Relative; the inverse of the incomplete beta function is good to some 1e-12."""


def lower(k: npt.ArrayLike, n: npt.ArrayLike, error: float) -> Any:
    """A bound that is above p with probability at most `error`; 0 where k = 0 or n = 0. Broadcasts."""
    from scipy.special import betaincinv

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    bound = betaincinv(np.maximum(k, 1), np.maximum(n - k + 1, 1), error)
    return np.where(k <= 0, 0.0, bound * (1 - _OUTWARD))


def upper(k: npt.ArrayLike, n: npt.ArrayLike, error: float) -> Any:
    """A bound that is below p with probability at most `error`; 1 where k = n. Broadcasts."""
    from scipy.special import betainccinv

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    bound = betainccinv(np.minimum(k, n - 1) + 1, np.maximum(n - k, 1), error)
    return np.where(k >= n, 1.0, np.minimum(bound * (1 + _OUTWARD), 1.0))


def loss_at_least(more: tuple[int, int], fewer: tuple[int, int], error: float) -> float:
    """ln(P1 / P2) from counts (k, n) of one event under two inputs; too large with probability <= `error`.

    -inf where the event was not seen under the first input.
    """
    least, most = float(lower(*more, error / 2)), float(upper(*fewer, error / 2))
    return rounded_down(math.log(least) - math.log(most)) if least > 0 else -math.inf


def rounded_down(loss: float) -> float:
    """A loss in nats with what the rounding of logarithms may have added taken off."""
    return loss - 1e-12 * (1 + abs(loss))
