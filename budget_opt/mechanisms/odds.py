"""A privacy loss in words that people know: the factor by which it can change odds."""

from __future__ import annotations

import math


def largest_odds(loss: float) -> float:
    """exp(loss) >= 1: no release changes the odds of anything about a record by more; inf from 709 nats."""
    return math.exp(loss) if loss < 709 else math.inf


def odds_to_probability(prior: float, factor: float) -> float:
    """A probability `prior` in (0, 1) after its odds were multiplied by `factor` >= 1 (inf allowed)."""
    return 1.0 / (1.0 + (1.0 - prior) / (prior * factor))
