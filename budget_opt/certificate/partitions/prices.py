"""Prices: the multipliers of one partition's split, which bound every other partition at once.

In logarithms every convex objective and constraint is a sum over blocks: log R_k and a moment's log variance
inflation over the blocks that it touches, a budget over those that it counts. So is the Lagrangian, and for
any multipliers y, mu >= 0 and linearization (DESIGN 2.5) weak duality holds whatever the partition P:

    objective of P  <=  constant + sum over the blocks C of P of  max_e [ c_C log lambda(e, r_C) - mu_C e ]

with c_C the prices of the moments that C touches, mu_C those of the budgets that count it. A block's worth,
the maximum, is computed once and serves all partitions with that block; the best partition's sum bounds them
all. Ceilings are left out: it is a bound of the problem without them.

Scores are what is maximized: the logarithm of a maximized objective, minus that of `min_variance`, minus
epsilon for `min_epsilon`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from budget_opt.certificate.box import cap_at_least
from budget_opt.certificate.lagrangian import maxima
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions.choice import Blocks, Choice
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray, Objective
from budget_opt.model.objectives import log_spread_at

_ROUNDING = 1e-13
"""Relative to the sum of absolute values: far above what the sums of a few hundred terms round."""
_POINTS, _CLOSER = 33, 3
"""Epsilons at which a block's variances are tried, and how often again around the best."""
_LEAST = 1e-6
"""Of the largest epsilon: the least that is tried."""


class Prices(Protocol):
    """What one solved partition says about all others."""

    def worth(self, blocks: Blocks) -> FloatArray:
        """What a block can add at most, (n,); inf where nothing limits it."""

    def score(self, worth: FloatArray) -> FloatArray:
        """The upper bound of the scores of partitions whose blocks' worths sum to these."""


@dataclass(frozen=True, eq=False)
class LinearPrices:
    """Prices of a convex objective.

    `gain` (K,) are the prices of log R_k, `shares` (K,) those of the log inflations of `min_variance`,
    `budgets` (J,) those of the budgets, `cost` that of every epsilon; `size` is what was summed into the
    constant, for rounding. `multipliers` are what they were made of, with the shares.
    """

    choice: Choice
    multipliers: Multipliers
    constant: float
    size: float
    gain: FloatArray
    shares: FloatArray
    budgets: FloatArray
    cost: float

    @classmethod
    def of(
        cls, choice: Choice, arrays: Arrays, found: Multipliers, shares: FloatArray | None = None
    ) -> LinearPrices:
        """The prices by the multipliers of a certificate, and by `shares` (K,) of `min_variance`.

        Any will do: those that the theorem does not admit are replaced by the nearest that it does.
        """
        clean = found.sanitized(arrays)
        parts = [-float(y * f) for y, f in zip(clean.floors, arrays.log_floor, strict=True) if y > 0]
        parts += [
            float(mu) * cap_at_least(budget.cap)
            for mu, budget in zip(clean.budgets, arrays.budgets, strict=True)
        ]
        gain = clean.floors.copy()
        if arrays.objective == "geometric_mean":
            gain = gain + arrays.weight / np.sum(arrays.weight)
            parts.append(arrays.log_scale)
        elif arrays.objective == "max_min":
            gain = gain + clean.moments
            parts.append(-float(clean.moments @ np.log(arrays.target)))
        if arrays.objective != "min_variance" or shares is None:
            shares = np.zeros(arrays.moments)
        else:
            shares = _summing_to_one(arrays, shares)
            parts.append(_entropy(arrays, shares))
        cost = float(arrays.objective == "min_epsilon")
        size = summed(map(abs, parts))
        return cls(
            choice,
            clean,
            summed(parts) if math.isfinite(size) else math.inf,
            size,
            gain,
            shares,
            clean.budgets,
            cost,
        )

    def worth(self, blocks: Blocks) -> FloatArray:
        """As `Prices.worth`."""
        return self.attained(blocks)[0]

    def attained(self, blocks: Blocks) -> tuple[FloatArray, FloatArray]:
        """The worths (n,), and the epsilons at which they are attained, nearly."""
        touched = (blocks.counted > 0).astype(np.float64)
        kept = touched @ self.gain
        price = self.cost + blocks.paid @ self.budgets
        if np.any(self.shares) and not self.choice.plain:
            pairs = [self._varied(blocks, n, kept[n], price[n]) for n in range(len(blocks.listed))]
            return np.array([worth for worth, _ in pairs]), np.array([epsilon for _, epsilon in pairs])
        kept = kept + 2.0 * (touched @ self.shares)
        best = maxima(kept, np.zeros_like(kept), price, blocks.cardinality, blocks.lower, blocks.upper)
        return best.value + best.allowance, best.epsilon

    def score(self, worth: FloatArray) -> FloatArray:
        """As `Prices.score`."""
        total: FloatArray = self.constant + worth
        allowed: FloatArray = _ROUNDING * (self.size + np.abs(worth) + np.abs(total))
        return total + allowed

    def _varied(self, blocks: Blocks, n: int, kept: float, price: float) -> tuple[float, float]:
        """The worth of one block whose moments' variances differ, by tangents in log tau; and where it is."""
        shares, a, b = self._spreads(blocks, n)
        r, low, high = blocks.cardinality[n], blocks.lower[n], blocks.upper[n]
        if not shares.size or not 0 < high < math.inf:
            only = maxima(*(np.array([x]) for x in (kept, 0.0, price, r, low, high)))
            return float(only.value[0] + only.allowance[0]), float(only.epsilon[0])
        point = self._tried(shares, a, b, (kept, price, r, low, high))
        log_tau = float(rr.log_tau(np.array([point]), np.array([r]))[0])
        spread = log_spread_at(a, b, np.full(a.size, log_tau))
        linear = np.exp(np.log(a + b) + log_tau - spread)
        with np.errstate(divide="ignore"):
            slope = linear + 2.0 * np.exp(np.log(b) + 2.0 * log_tau - spread)
        pull = float(shares @ slope)
        best = maxima(*(np.array([x]) for x in (kept, pull, price, r, low, high)))
        at_point = -float(shares @ spread) + pull * log_tau
        rounding = 1e-12 * (1.0 + float(shares @ np.abs(spread)) + abs(pull * log_tau))
        return float(best.value[0] + best.allowance[0]) + at_point + rounding, point

    def _spreads(self, blocks: Blocks, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The shares of the moments that have members of this block, and their a and b."""
        block = blocks.listed[n]
        found = [
            (self.shares[k], *self.choice.spread_of(int(k), block))
            for k in np.flatnonzero((self.shares > 0) & (blocks.counted[n] > 0))
        ]
        listed = np.array(found).reshape(-1, 3)
        return listed[:, 0], listed[:, 1], listed[:, 2]

    @staticmethod
    def _tried(shares: FloatArray, a: FloatArray, b: FloatArray, of: tuple[float, ...]) -> float:
        """An epsilon near the block's best; any will do for a bound."""
        kept, price, r, low, high = of
        first, last = max(low, _LEAST * high), high
        best = high
        for _ in range(_CLOSER):
            tried = np.geomspace(first, last, _POINTS)
            cardinality = np.full(tried.size, r)
            spread = log_spread_at(a[:, None], b[:, None], rr.log_tau(tried, cardinality)[None, :])
            value = kept * rr.log_retention(tried, cardinality) - shares @ spread - price * tried
            at = int(np.argmax(value))
            best = float(tried[at])
            first, last = tried[max(at - 1, 0)], tried[min(at + 1, tried.size - 1)]
        return best


def shares_at(arrays: Arrays, log_inflation: FloatArray) -> FloatArray:
    """The shares (K,) of the moments in the variance that these log inflations (K,) give."""
    used = arrays.weight > 0
    terms = np.full(arrays.moments, -np.inf)
    terms[used] = np.log(arrays.weight[used] * arrays.variance[used]) + log_inflation[used]
    share = np.exp(terms - np.max(terms))
    shares: FloatArray = share / np.sum(share)
    return shares


def _summing_to_one(arrays: Arrays, shares: FloatArray) -> FloatArray:
    """The shares of the weighted moments, made to sum to 1; equal ones in place of nothing."""
    used = arrays.weight > 0
    given = np.where(used & np.isfinite(shares), np.maximum(shares, 0.0), 0.0)
    given = given / max(np.max(given), np.finfo(np.float64).tiny)
    found: FloatArray = given if np.sum(given) > 0 else used.astype(np.float64)
    return found / np.sum(found)


def summed(numbers: Iterable[float]) -> float:
    """The sum of the numbers; inf where it is beyond the largest double."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.inf


def _entropy(arrays: Arrays, shares: FloatArray) -> float:
    """H with -log sum_k w_k v_k VI_k <= H - sum_k q_k log VI_k for shares q (Gibbs); equal at their split."""
    inside = shares > 0
    scale = np.log(arrays.weight[inside] * arrays.variance[inside])
    return float(shares[inside] @ (np.log(shares[inside]) - scale))


def bound_score(objective: Objective, bound: float) -> float:
    """The score of a bound of the objective, rounded outward."""
    score = score_of(objective, bound)
    return score + 2**-50 * (1.0 + abs(score)) if math.isfinite(score) else score


def score_of(objective: Objective, value: float) -> float:
    """The score of a value of the objective; -inf for the worst there is."""
    if objective == "min_epsilon":
        return -value
    with np.errstate(divide="ignore"):
        logarithm = float(np.log(value))
    return -logarithm if objective in MINIMIZED else logarithm
