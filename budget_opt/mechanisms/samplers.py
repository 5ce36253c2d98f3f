"""The sampler of a block whatever its background: the one place that tells the kinds apart.

A background is None where it is uniform, else its whole weights (`model.background`). A `MatrixSampler` draws
a matrix of any form, chosen for a known source: it has no background and no retention.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from budget_opt.mechanisms.background_sampler import (
    BackgroundSampler,
    background_sampler_for,
    background_sampler_of_width,
)
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler, sampler_for, sampler_of_width

RetainingSampler: TypeAlias = Sampler | BackgroundSampler
"""Those of lambda I + (1 - lambda) 1 q^T: a cell is kept, or replaced whatever it is."""
AnySampler: TypeAlias = RetainingSampler | MatrixSampler


def any_sampler_for(
    epsilon: float, cardinality: int, background: Sequence[int] | None, *, least_bits: int = 32
) -> RetainingSampler | None:
    """The sampler of the least width that serves `epsilon` (nats), as `sampler.sampler_for`."""
    if background is None:
        return sampler_for(epsilon, cardinality, least_bits=least_bits)
    return background_sampler_for(epsilon, background, least_bits=least_bits)


def any_sampler_as_stated(
    epsilon: float, cardinality: int, background: Sequence[int] | None, bits: int | None
) -> RetainingSampler | None:
    """The sampler that a file must state which names this width, or none (`bits` None)."""
    if epsilon == 0 or cardinality < 2:
        return None
    if bits is None:
        return any_sampler_for(epsilon, cardinality, background)
    if background is None:
        return sampler_of_width(epsilon, cardinality, bits)
    return background_sampler_of_width(epsilon, background, bits)


def least_probability(sampler: RetainingSampler) -> Fraction:
    """P(report = v | the truth is another category) of the rarest v of the background, exactly."""
    if isinstance(sampler, Sampler):
        return sampler.other_probability
    return Fraction(min(sampler.counts), 2**sampler.bits)


def replaced_shares(sampler: RetainingSampler) -> list[Fraction]:
    """The implemented background, exactly: P(report = v | the cell is replaced) by v; sum 1."""
    if isinstance(sampler, Sampler):
        return [Fraction(1, sampler.cardinality)] * sampler.cardinality
    return [Fraction(count, sampler.replaced) for count in sampler.counts]


def other_probabilities(sampler: RetainingSampler) -> list[Fraction]:
    """P(report = v | the truth is another category) by v, exactly."""
    if isinstance(sampler, Sampler):
        return [sampler.other_probability] * sampler.cardinality
    words = 2**sampler.bits
    return [Fraction(count, words) for count in sampler.counts]


def other_words(sampler: RetainingSampler) -> list[int]:
    """How many of the 2^b words lead to v where the truth is another category, by v."""
    if isinstance(sampler, Sampler):
        return [sampler.q] * sampler.cardinality
    return list(sampler.counts)


def truth_probabilities(sampler: RetainingSampler) -> list[Fraction]:
    """P(report = v | the truth is v) by v, exactly: lambda more than for another truth."""
    kept = sampler.retention
    return [other + kept for other in other_probabilities(sampler)]
