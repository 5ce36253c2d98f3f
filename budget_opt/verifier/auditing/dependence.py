"""Whether two columns of flags go together: an exact bound of the tail, whatever their probabilities.

Given how many of n pairs have the first flag (a) and the second (b), and independent pairs of independent
flags, the number with both is hypergeometric. Its tail is at most exp(-a KL(x / a || b / n)) (Hoeffding 1963,
theorems 1 and 4: drawing without replacement). The same event can be told by the pairs without one flag or
the other, so the least of the four bounds is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def together(both: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, n: npt.ArrayLike) -> Any:
    """A bound of the log of P(as many or more with both flags), given the other counts. Broadcasts."""
    x, a, b, n = (np.asarray(count, dtype=np.float64) for count in (both, first, second, n))
    # pairs with both flags, and pairs with neither, are many or few together
    views = [
        _log_tail(x, a, b, n),
        _log_tail(x, b, a, n),
        _log_tail(n - a - b + x, n - a, n - b, n),
        _log_tail(n - a - b + x, n - b, n - a, n),
    ]
    return np.minimum.reduce(views)


def apart(both: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, n: npt.ArrayLike) -> Any:
    """The same for as few or fewer with both flags."""
    x, a, b, n = (np.asarray(count, dtype=np.float64) for count in (both, first, second, n))
    return together(a - x, a, n - b, n)


def either(both: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, n: npt.ArrayLike) -> Any:
    """The smaller of both: as many or more, as few or fewer. Each side has half of the error."""
    return np.minimum(together(both, first, second, n), apart(both, first, second, n))


def often(count: npt.ArrayLike, trials: npt.ArrayLike, of: npt.ArrayLike) -> Any:
    """A bound of the log of P(as many or more) in independent trials of chance 1 / of. Broadcasts."""
    x, n, r = (np.asarray(number, dtype=np.float64) for number in (count, trials, of))
    return _log_tail(x, n, np.asarray(1.0), r)


def _log_tail(
    x: npt.NDArray[Any], a: npt.NDArray[Any], b: npt.NDArray[Any], n: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """log of the bound of P(X >= x) for a draws from n of which b count; 0 at and below the mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share, mean = x / a, b / n
        divergence = _times_log(share, share / mean) + _times_log(1 - share, (1 - share) / (1 - mean))
    above = (a > 0) & (share > mean)
    return np.where(above, -a * np.where(above, divergence, 0.0), 0.0)


def _times_log(weight: npt.NDArray[Any], ratio: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """weight log ratio, 0 at weight 0."""
    return np.where(weight > 0, weight * np.log(np.where(weight > 0, ratio, 1.0)), 0.0)
