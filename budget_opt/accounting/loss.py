"""The privacy loss of one attribute as a random variable with three values, from the sampler's integers.

The loss of a report y is ln P(y | old value) - ln P(y | new value), y drawn under the old value. With the
implemented probabilities t = P(report = truth) and o = P(report = one given other category) it is

    L = ln(t / o) with probability t,    -L with probability o,    0 with probability (r - 2) o,

the same for every pair of different values, because the matrix is symmetric in its categories. Records that
differ in several attributes have the sum of independent such losses; leaving some of them equal is a
marginal of changing all, so changing all is the worst case of every divergence used here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.allocation.allocation import AllocatedAttribute, Allocation
from budget_opt.errors import InputError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class ThreePoint:
    """The loss of one attribute: `loss` = ln(truth / other) in nats, rounded up, and exact shares.

    `truth` = P(report = truth), `other` = P(report = one given other category), `cardinality` = r >= 2.
    """

    loss: float
    truth: Fraction
    other: Fraction
    cardinality: int

    @property
    def between(self) -> tuple[float, float]:
        """Doubles that are, as binary numbers, below and above ln(truth / other), a few units apart.

        `loss` is the least double above it as a decimal, so it lies within one unit in the last place.
        """
        return math.nextafter(math.nextafter(self.loss, 0.0), 0.0), math.nextafter(self.loss, math.inf)

    @property
    def unchanged(self) -> Fraction:
        """The probability of a loss of 0, (r - 2) other."""
        return (self.cardinality - 2) * self.other


def three_point(attribute: AllocatedAttribute) -> ThreePoint | None:
    """The loss of an allocated attribute; None where its report does not depend on the truth."""
    sampler = attribute.sampler
    if sampler is None:
        return None
    return ThreePoint(
        attribute.loss, sampler.truth_probability, sampler.other_probability, attribute.cardinality
    )


def from_epsilon(epsilon: FloatArray, cardinality: IntArray) -> tuple[ThreePoint, ...]:
    """The losses of the ideal matrices of these epsilons (nats) above 0, to the digits of doubles.

    For searches only: what is claimed of an allocation comes from its integers.
    """
    other = rr.other_probability(epsilon, cardinality)
    return tuple(
        ThreePoint(float(e), 1 - (int(r) - 1) * Fraction(float(o)), Fraction(float(o)), int(r))
        for e, r, o in zip(epsilon, cardinality, other, strict=True)
        if e > 0
    )


def three_points(allocation: Allocation, names: Iterable[str] | None = None) -> tuple[ThreePoint, ...]:
    """The losses of the named attributes, of all by default; those whose report says nothing are left out.

    Raises `InputError` for a name that is not in the allocation or stands twice.
    """
    return tuple(
        point for point in (three_point(attribute) for attribute in chosen(allocation, names)) if point
    )


def chosen(allocation: Allocation, names: Iterable[str] | None) -> tuple[AllocatedAttribute, ...]:
    """The attributes of these distinct names, all of them for None."""
    if names is None:
        return allocation.attributes
    wanted = (names,) if isinstance(names, str) else tuple(names)
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise InputError(f"names: {twice!r} stands twice in {wanted}; name every attribute once.")
    return tuple(allocation[name] for name in wanted)
