"""A privacy loss in words that people know: the factor by which it can change odds."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from budget_opt.mechanisms.exact import context, float_at_least

_DIGITS = 40


def largest_odds(loss: float) -> float:
    """exp(loss) >= 1, rounded up: no release changes the odds of anything about a record by more.

    `loss` >= 0 in nats; inf from 709 nats.
    """
    if loss >= 709:
        return math.inf
    if loss == 0:
        return 1.0
    digits = context(_DIGITS)
    # Decimal.exp is correctly rounded to nearest whatever the context says, so one step up is a bound
    return float_at_least(Fraction(digits.next_plus(digits.exp(Decimal(repr(float(loss)))))))


def odds_to_probability(prior: float, factor: float) -> float:
    """A probability `prior` in (0, 1) after its odds were multiplied by `factor` >= 1 (inf allowed)."""
    return 1.0 / (1.0 + (1.0 - prior) / (prior * factor))
