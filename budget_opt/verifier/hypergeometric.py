"""Proved upper bounds on the tails of the hypergeometric distribution.

Of n rows `first` are marked in one way and `second` in another, independently and each row alike. Given
both numbers, the number k of rows marked in both ways is hypergeometric, whatever the two probabilities
are: so a wrong share of either does not show here, only that they go together.

The ratio P(k + 1) / P(k) falls as k grows, so a tail is at most its first term times a geometric series.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_ROUNDING = 1e-3
"""Of the tail, for the rounding of the logarithms of factorials (1e-5 at 1e10 rows)."""


def two_sided(both: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, rows: npt.ArrayLike) -> Any:
    """At most 1 and at least twice the smaller of P(X >= both) and P(X <= both); all arguments broadcast."""
    k, a, b, n = (np.asarray(of, dtype=np.float64) for of in (both, first, second, rows))
    term = _probability(k, a, b, n)
    # the lower tail of k is the upper tail of a - k, second marks taken the other way round
    tail = np.minimum(_series(k, a, b, n), _series(a - k, a, n - b, n))
    return np.minimum(1.0, 2 * (1 + _ROUNDING) * term * tail)


def _probability(k: Any, a: Any, b: Any, n: Any) -> Any:
    """P(X = k)."""
    from scipy.special import gammaln

    def ways(of: Any, chosen: Any) -> Any:
        return gammaln(of + 1) - gammaln(chosen + 1) - gammaln(of - chosen + 1)

    return np.exp(ways(a, k) + ways(n - a, b - k) - ways(n, b))


def _series(k: Any, a: Any, b: Any, n: Any) -> Any:
    """1 / (1 - P(k + 1) / P(k)), infinite where the next term is no smaller."""
    up, down = (a - k) * (b - k), (k + 1) * (n - a - b + k + 1)
    return np.divide(down, down - up, out=np.full(np.broadcast(up, down).shape, np.inf), where=down > up)
