"""The largest expected share of changed cells as a least retention (DESIGN 2.1).

Letters: D the limit, p the shares of an attribute's categories, q its background, a = sum p q the chance that
a replaced cell is what it was. A cell is unchanged with probability lambda + (1 - lambda) a, so that

    1 - (lambda + (1 - lambda) a) <= D   iff   lambda >= (1 - D - a) / (1 - a).

Uniform: a = 1/r whatever p is. Another background needs p: the stated marginal, else the worst case, in which
everybody is in the category that is drawn least, a = min q. Fractions of the stated decimals throughout.
"""

from __future__ import annotations

from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact

if TYPE_CHECKING:
    from budget_opt.model.declared import Declared

DIGITS = 12
"""Significant digits of the least epsilon, rounded up."""
SPARE = 1e-12
"""How far above the least epsilon is aimed, relatively, so that the integers of a sampler keep the limit."""


def unchanged_by_chance(attribute: Declared) -> Fraction:
    """a: the chance that a replaced cell is what it was."""
    weights, shares = attribute.background_weights, attribute.shares
    if weights is None:
        return Fraction(1, attribute.cardinality)
    if shares is None:
        return Fraction(min(weights), sum(weights))
    believed = [exact(share) for share in shares]
    met = sum((p * q for p, q in zip(believed, weights, strict=True)), Fraction(0))
    return met / (sum(believed, Fraction(0)) * sum(weights))


def distortion(attribute: Declared, retention: Fraction) -> Fraction:
    """The expected share of changed cells at this lambda, from 0 to 1."""
    return (1 - retention) * (1 - unchanged_by_chance(attribute))


def least_retention(attribute: Declared, largest: float) -> Fraction:
    """The least lambda at which at most the share `largest` of the cells is changed; 0 where any will do."""
    by_chance = unchanged_by_chance(attribute)
    return max(Fraction(0), (1 - exact(largest) - by_chance) / (1 - by_chance))


def epsilon_of_retention(retention: Fraction, cardinality: float) -> float:
    """The least epsilon (nats, 12 digits, rounded up) whose sampler keeps this lambda, below 1.

    `cardinality` is the effective one of the block that the attribute is randomized in.
    """
    if retention <= 0:
        return 0.0
    log_kept = np.log1p(-float(1 - retention)) if retention > Fraction(1, 2) else np.log(float(retention))
    epsilon = float(rr.epsilon_for_log_retention(log_kept, cardinality)) * (1 + SPARE)
    return float(Context(prec=DIGITS, rounding=ROUND_UP).create_decimal(Decimal(repr(epsilon))))
