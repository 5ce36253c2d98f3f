"""The privacy loss of one block as a random variable with three values, from the sampler's integers.

A block is what is randomized as one: an attribute, or a cluster, whose code is that of all members (DESIGN
2.9). The loss of a report y is ln P(y | old value) - ln P(y | new value), y drawn under the old value. With
the implemented probabilities t = P(report = truth) and o = P(report = one given other category) it is

    L = ln(t / o) with probability t,    -L with probability o,    0 with probability (r - 2) o,

the same for every pair of different values, because the matrix is symmetric in its categories: a cluster's
values differ where one member does, so a change of that member alone has the whole loss.

**Another background** q (DESIGN 2.1): with K words that leave the truth and counts c of 2^b, a pair x, x' has

    ln((K + c_x) / c_x) with probability (K + c_x) / 2^b,   -ln((K + c_x') / c_x') with c_x' / 2^b,   else 0.

The hockey-stick divergence of order g is K + (1 - g) c_x for g >= 1 where that is positive, and for g < 1 it
is K + (1 - g)(2^b - K) + max((g - 1) c_x', -g K) (all over 2^b): it falls in c_x, and in c_x'. So every pair
is dominated, at all orders, by the pair for which both counts are the least one, t = (K + min c) / 2^b and
o = min c / 2^b: the law above with the effective cardinality for r. A composition of dominating pairs
dominates the composition (Zhu, Dong and Wang 2022, on dominating pairs), so all that is computed from it is
an upper bound: for one block the tight one for g >= 1, and for all where two categories are equally rare.

**A matrix chosen for a known source** has no such form. Of all mechanisms with likelihood ratio g, randomized
response of two categories, t = g / (1 + g) and o = 1 / (1 + g), dominates every pair at all orders (Kairouz,
Oh and Viswanath 2015): its law is the one used, so that what is computed from it is an upper bound.

Records that differ
in several blocks have the sum of independent such losses; leaving some of them equal is a marginal of
changing all, so changing all is the worst case of every divergence used here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.allocation.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.errors import InputError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.samplers import least_probability
from budget_opt.model.arrays import FloatArray


@dataclass(frozen=True)
class ThreePoint:
    """The loss of one block: `loss` = ln(truth / other) in nats, rounded up, and exact shares.

    `truth` = P(report = truth), `other` = P(report = one given other category); of a background that is not
    uniform, those of its rarest category.
    """

    loss: float
    truth: Fraction
    other: Fraction

    @property
    def between(self) -> tuple[float, float]:
        """Doubles that are, as binary numbers, below and above ln(truth / other), a few units apart.

        `loss` is the least double above it as a decimal, so it lies within one unit in the last place.
        """
        return math.nextafter(math.nextafter(self.loss, 0.0), 0.0), math.nextafter(self.loss, math.inf)

    @property
    def unchanged(self) -> Fraction:
        """The probability of a loss of 0, (r - 2) other with r the effective cardinality."""
        return 1 - self.truth - self.other


def three_point(block: AllocatedBlock) -> ThreePoint | None:
    """The loss of an allocated block; None where its report does not depend on the truth."""
    sampler = block.sampler
    if sampler is None:
        return None
    if isinstance(sampler, MatrixSampler):
        ratio = sampler.likelihood_ratio
        return ThreePoint(block.loss, ratio / (1 + ratio), 1 / (1 + ratio))
    other = least_probability(sampler)
    return ThreePoint(block.loss, other + sampler.retention, other)


def from_epsilon(epsilon: FloatArray, cardinality: FloatArray) -> tuple[ThreePoint, ...]:
    """The losses of the ideal matrices of these epsilons (nats) above 0 and effective cardinalities.

    For searches only: what is claimed of an allocation comes from its integers.
    """
    other = rr.other_probability(epsilon, cardinality)
    return tuple(
        ThreePoint(float(e), 1 - (Fraction(float(r)) - 1) * Fraction(float(o)), Fraction(float(o)))
        for e, r, o in zip(epsilon, cardinality, other, strict=True)
        if e > 0
    )


def three_points(allocation: Allocation, names: Iterable[str] | None = None) -> tuple[ThreePoint, ...]:
    """The losses of the blocks that the named attributes touch, of all by default.

    Blocks whose report says nothing are left out. Raises `InputError` for a name that is not in the
    allocation or stands twice.
    """
    return tuple(point for point in (three_point(block) for block in chosen(allocation, names)) if point)


def chosen(allocation: Allocation, names: Iterable[str] | None) -> tuple[AllocatedBlock, ...]:
    """The blocks of these distinct attributes, each once; all of them for None."""
    if names is None:
        return allocation.blocks
    wanted = (names,) if isinstance(names, str) else tuple(names)
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise InputError(f"names: {twice!r} stands twice in {wanted}; name every attribute once.")
    return allocation.touched(wanted)
