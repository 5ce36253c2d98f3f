"""Prices of a weighted sum: its products of retentions as sums over blocks, by weighted means.

Of a moment k let every member have the share 1/|k| and a number theta_kj with sum_j theta_kj = 0; a block C
with t of its members has the share t/|k| and theta_kC, the sum of theirs. By the inequality of weighted means

    R_k = prod_C lambda_C  <=  sum_C (t/|k|) exp( (log lambda_C - theta_kC) |k|/t )

whatever the partition, equal where all the terms are alike: theta makes them so at the split of the
partition that gives the prices. With a price mu of every budget the bound is a sum of blocks' worths, as in
`prices`; a worth is the maximum of an increasing function less a linear one, taken from above on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.box import cap_at_least
from budget_opt.certificate.partitions.choice import Blocks, Choice, Partition
from budget_opt.certificate.prices.multipliers import stationary
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions

_GRID = 384
"""Intervals of a block's epsilon."""
_AT_ONCE = 2_000_000
"""Numbers of a grid that are evaluated at a time."""
_LEAST = -8.0
"""A logarithm of lambda below which theta does not follow: such a term would be huge elsewhere."""
_ROUNDING = 1e-12
_DAMPED = (0.0, 0.5, 1.0)
"""How far theta follows the split: the farther, the better near it, and the worse elsewhere."""
_SCALED = (0.7, 1.0, 1.4)
"""Of the price of the budgets."""


@dataclass(frozen=True, eq=False)
class SummedPrices:
    """Prices of a weighted sum: `budgets` (J,) with the `constant` that they cost, and theta (K, M)."""

    choice: Choice
    weight: FloatArray
    constant: float
    budgets: FloatArray
    theta: FloatArray

    def worth(self, blocks: Blocks) -> FloatArray:
        """As `prices.Prices.worth`."""
        exponents, amounts = self._terms(blocks)
        price = blocks.paid @ self.budgets
        found = np.full(len(blocks.listed), np.inf)
        some = np.flatnonzero(np.isfinite(blocks.upper))
        step = max(1, _AT_ONCE // (_GRID * max(1, exponents.size)))
        for start in range(0, some.size, step):
            rows = some[start : start + step]
            found[rows] = _highest(blocks, rows, price[rows], exponents, amounts[rows])
        return found

    def score(self, worth: FloatArray) -> FloatArray:
        """As `prices.Prices.score`: the logarithm; -inf where lower bounds leave a sum below 0, so no split.

        Worths below 0 are prices of lower bounds, which sum to at most the constant where there is a split.
        """
        total = self.constant + worth + _ROUNDING * (self.constant + np.abs(worth))
        with np.errstate(divide="ignore"):
            logarithm: FloatArray = np.log(np.maximum(total, 0.0))
        return logarithm

    def _terms(self, blocks: Blocks) -> tuple[FloatArray, FloatArray]:
        """The exponents |k|/t that occur (X,), and every block's coefficients of those powers (n, X)."""
        orders = np.array([len(members) for members in self.choice.members], dtype=np.float64)
        with np.errstate(divide="ignore"):
            exponent = np.where(blocks.counted > 0, orders / blocks.counted, 0.0)
        shift = blocks.member.astype(np.float64) @ self.theta.T
        with np.errstate(divide="ignore", invalid="ignore"):
            amount = np.where(exponent > 0, self.weight / exponent * np.exp(-shift * exponent), 0.0)
        exponents = np.unique(exponent[exponent > 0])
        amounts = np.stack(
            [np.sum(np.where(exponent == one, amount, 0.0), axis=1) for one in exponents], axis=1
        )
        return exponents, amounts


def _highest(
    blocks: Blocks,
    rows: IntArray,
    price: FloatArray,
    exponents: FloatArray,
    amounts: FloatArray,
) -> FloatArray:
    """max over epsilon from above: in an interval the powers of its end, and the price of its beginning."""
    low, high, r = (part[rows][:, None] for part in (blocks.lower, blocks.upper, blocks.cardinality))
    ends = low + (high - low) * np.linspace(0.0, 1.0, _GRID + 1)[None, :]
    kept = rr.log_retention(ends[:, 1:], np.broadcast_to(r, (rows.size, _GRID)))
    gained = np.zeros_like(kept)
    for x, exponent in enumerate(exponents):
        gained += amounts[:, [x]] * np.exp(exponent * kept)
    best: FloatArray = np.max(gained * (1.0 + _ROUNDING) - price[:, None] * ends[:, :-1], axis=1)
    return best


def summed_prices(
    choice: Choice, arrays: Arrays, epsilon: FloatArray, partition: Partition
) -> list[SummedPrices]:
    """Prices by the split (M,) of a partition: some that suit partitions like it, some that suit others."""
    mu = _budget_prices(arrays, epsilon)
    full = _theta(choice, arrays, epsilon, partition)
    caps = np.array([cap_at_least(budget.cap) for budget in arrays.budgets])
    # a moment of public columns alone is kept whole
    whole = math.fsum(w for w, members in zip(arrays.weight, choice.members, strict=True) if not members)
    return [
        SummedPrices(choice, arrays.weight, float(scale * mu @ caps) + whole, scale * mu, damped * full)
        for damped in _DAMPED
        for scale in _SCALED
    ]


def _theta(choice: Choice, arrays: Arrays, epsilon: FloatArray, partition: Partition) -> FloatArray:
    """theta (K, attributes) that makes the terms of every moment alike at the split."""
    kept = np.maximum(rr.log_retention(epsilon, arrays.cardinality), _LEAST)
    block_of = {i: n for n, block in enumerate(partition) for i in block}
    theta = np.zeros((arrays.moments, choice.size))
    for k, members in enumerate(choice.members):
        inside = [block_of[i] for i in members]
        own = np.array([kept[n] / inside.count(n) for n in inside])
        if own.size:
            theta[k, list(members)] = own - math.fsum(own) / own.size
    return theta


def _budget_prices(arrays: Arrays, epsilon: FloatArray) -> FloatArray:
    """The multipliers (J,) of the budgets at an optimum, per nat; value / cap where there are none."""
    value = float(arrays.weight @ np.exp(log_retentions(arrays, epsilon)))
    found = stationary(arrays, epsilon)
    mu = np.zeros(len(arrays.budgets))
    if found is not None:
        active = found.conditions.active
        mu[active.budgets] = value * found.theta[active.cuts[1] : active.cuts[2]]
    if not np.any(mu > 0):
        caps = np.array([cap_at_least(budget.cap) for budget in arrays.budgets])
        mu = value / caps / max(1, caps.size)
    return mu
