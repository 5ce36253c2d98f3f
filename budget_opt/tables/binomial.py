"""Exact tails of the binomial distribution, by the regularized incomplete beta function.

P(X >= k) = I_p(k, n - k + 1) (Abramowitz and Stegun 26.5.24). All arguments broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Probabilities = float | npt.NDArray[np.float64]


def at_least(k: npt.ArrayLike, n: npt.ArrayLike, p: Probabilities) -> Any:
    """P(X >= k) for X binomial (n, p), 0 <= p <= 1, any integers k and n >= 0."""
    from scipy.special import betainc

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = betainc(np.clip(k, 1, np.maximum(n, 1)), np.maximum(n - k + 1, 1), p)
    return np.where(k <= 0, 1.0, np.where(k > n, 0.0, inside))


def at_most(k: npt.ArrayLike, n: npt.ArrayLike, p: Probabilities) -> Any:
    """P(X <= k) for X binomial (n, p), 0 <= p <= 1; small tails keep their digits."""
    from scipy.special import betaincc

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = betaincc(np.maximum(k + 1, 1), np.maximum(n - k, 1), p)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, inside))


def two_sided(k: npt.ArrayLike, n: npt.ArrayLike, p: Probabilities) -> Any:
    """Twice the smaller of P(X >= k) and P(X <= k), at most 1: at most a with probability at most a."""
    return np.minimum(1.0, 2 * np.minimum(at_least(k, n, p), at_most(k, n, p)))


def acceptance(n: int, p: float, tail: float) -> tuple[int, int]:
    """The counts from low to high that a test with `tail` on each side accepts, 0 < tail < 1/2.

    P(X < low) <= tail and P(X > high) <= tail, the shortest such range.
    """
    low = _first(n, lambda k: bool(at_most(k, n, p) > tail))
    high = _first(n, lambda k: bool(at_least(k + 1, n, p) <= tail))
    return low, high


def least_of_possible(
    counts: npt.NDArray[np.integer[Any]], fewest: Probabilities, most: Probabilities
) -> float:
    """How likely the oddest of the counts of r categories is at most, if each share lies from fewest to most.

    `counts` has shape (r,), and so may the limits. In the stochastic order the number of a category is at
    least binomial (n, fewest) and at most binomial (n, most), so the least of these 2 r tails,
    times 2 r, is at most a with probability at most a (Bonferroni), whatever the shares within those limits.
    """
    n = counts.sum()
    tails = np.concatenate([at_most(counts, n, fewest), at_least(counts, n, most)])
    return min(1.0, float(tails.min()) * tails.size)


def _first(n: int, true_from: Any) -> int:
    """The least k in 0 .. n for which the monotone condition holds; it holds at n."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if true_from(middle) else (middle + 1, high)
    return low
