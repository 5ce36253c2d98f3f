"""The expected error of a corrected moment, the power of its test, and the rows that both need (DESIGN 2.3).

Letters: V = prod Var f over the attributes S of a moment, g = mu_S / sqrt(V) its standardized value, VI the
variance inflation prod (1 + tau a + tau (1 + tau) b). Under independence, and divided by V,

    n Var = VI - g^2      from the population        (one attribute: VI, its mean is what is estimated)
    n Var = VI - 1        from the original table    (only the randomization is random)

VI - 1 is carried by itself, with all digits where the randomization costs next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from scipy.optimize import brentq
from scipy.special import exprel

from budget_opt.estimators.estimate import Target

LARGEST_ROWS = 10**15
"""Nobody has more rows; up to here every count is a double."""
_NORMAL = NormalDist()


def excess_of(log_inflation: float) -> float | None:
    """VI - 1 from log VI, with all digits near 0; None where no double can carry it."""
    excess = log_inflation * float(exprel(log_inflation))
    return excess if math.isfinite(excess) else None


def sampling_variance(order: int, guess: float) -> float:
    """n Var / V of the same moment of unrandomized rows: 1 - g^2, of a mean 1.

    Where g > 1, which no pair has, independence is no guide to E prod (f - mu)^2 >= mu_S^2: 0.
    """
    return 1.0 if order == 1 else max(1.0 - guess * guess, 0.0)


def relative_variance(excess: float, order: int, guess: float, target: Target) -> float:
    """n Var / V of the corrected moment; `excess` is VI - 1 >= 0."""
    return excess + (sampling_variance(order, guess) if target == "population" else 0.0)


def relative_error(excess: float, order: int, guess: float, target: Target, n: int) -> float:
    """The standard error in units of sqrt(V)."""
    return math.sqrt(relative_variance(excess, order, guess, target) / n)


def largest_excess(error: float, order: int, guess: float, target: Target, n: int) -> float:
    """The VI - 1 at which the standard error is `error`; not positive where no randomization reaches it."""
    return n * error * error - relative_variance(0.0, order, guess, target)


def least_rows_of(order: int) -> int:
    """An estimate with an error needs so many rows (as `moment` demands)."""
    return max(2, order + 1)


def power(guess: float, error: float, level: float) -> float:
    """The chance that the two-sided test at `level` (0.95) finds the guess; `error` is in the same unit."""
    if error == 0:
        return 1.0 if guess else 1.0 - level
    return _power(abs(guess) / error, level)


def _power(distance: float, level: float) -> float:
    critical = _NORMAL.inv_cdf(0.5 + level / 2)
    return _NORMAL.cdf(distance - critical) + _NORMAL.cdf(-distance - critical)


def distance_for(wanted: float, level: float) -> float:
    """How many standard errors from 0 a moment must be to be found with the `wanted` power."""
    if wanted <= 1 - level:
        return 0.0
    top = _NORMAL.inv_cdf(0.5 + level / 2) + _NORMAL.inv_cdf(wanted) + 1.0
    return float(brentq(lambda distance: _power(distance, level) - wanted, 0.0, max(top, 1.0), xtol=1e-14))


def rows_for_error(error: float, excess: float, order: int, guess: float, target: Target) -> int | None:
    """The least rows at which the standard error is at most `error`; None beyond `LARGEST_ROWS`."""
    variance = relative_variance(excess, order, guess, target)
    return _least(
        lambda n: relative_error(excess, order, guess, target, n) <= error, variance / error / error, order
    )


def rows_for_power(wanted: float, level: float, excess: float, order: int, guess: float) -> int | None:
    """The least rows at which `guess` is found with the `wanted` power; None where no number of rows does."""
    distance = distance_for(wanted, level)
    if distance == 0:
        return least_rows_of(order)
    if guess == 0:
        return None
    variance = relative_variance(excess, order, guess, "population")
    root = distance / abs(guess)

    def found(n: int) -> bool:
        return math.sqrt(variance / n) * root <= 1.0

    return _least(found, variance * root * root, order)


def _least(enough: Callable[[int], bool], near: float, order: int) -> int | None:
    """The least n that is enough, given a number within a few of it."""
    if not near <= LARGEST_ROWS:
        return None
    n = max(math.ceil(near), least_rows_of(order))
    while n > least_rows_of(order) and enough(n - 1):
        n -= 1
    while not enough(n):
        n += 1
    return n
