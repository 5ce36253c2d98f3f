"""What is randomized as one with its epsilon and sampler, and the columns that come of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import float_at_least, float_at_most
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import AnySampler, other_probabilities, truth_probabilities
from budget_opt.model.arrays import FloatArray
from budget_opt.model.attribute import Attribute
from budget_opt.model.backgrounds.background import Weights
from budget_opt.model.clusters.block import Block
from budget_opt.model.domain import Domain
from budget_opt.model.labels import Label


@dataclass(frozen=True)
class AllocatedBlock:
    """An attribute alone, or a cluster, with its one epsilon (nats) and the integers of its sampler.

    A cluster's sampler randomizes the joint code, row-major over the members (`Block`). Without a sampler the
    report does not depend on the truth: loss and retention are 0 and the columns are left out of a release
    unless asked for. `shadow_price` is the change of the objective's value per nat by which the pin or bound
    that holds epsilon is moved (`pricing`), None where no optimum is proved.
    """

    block: Block
    epsilon: float
    sampler: AnySampler | None
    shadow_price: float | None = None

    @classmethod
    def alone(cls, declared: Attribute, epsilon: float, sampler: AnySampler | None) -> AllocatedBlock:
        """The block of one attribute."""
        return cls(Block((declared,)), epsilon, sampler)

    @property
    def name(self) -> str:
        """The attribute's name, or those of all members: smoker + income."""
        return self.block.name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members, in the order of the joint code."""
        return self.block.names

    @property
    def members(self) -> tuple[Attribute, ...]:
        """The members as declared."""
        return self.block.members

    @property
    def is_cluster(self) -> bool:
        """True for two members and more."""
        return self.block.is_cluster

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of every member."""
        return self.block.shape

    @property
    def cardinality(self) -> int:
        """The number of (joint) categories."""
        return self.block.cardinality

    @property
    def is_released(self) -> bool:
        """True where the report depends on the truth; other columns are left out unless asked for."""
        return self.sampler is not None

    @cached_property
    def loss(self) -> float:
        """Privacy loss of the implemented matrix in nats, rounded up: of a change of any of the members."""
        return 0.0 if self.sampler is None else self.sampler.loss

    @property
    def has_retention(self) -> bool:
        """False where the matrix was chosen for a known source: no lambda says what it leaves of a moment."""
        return not isinstance(self.sampler, MatrixSampler)

    @cached_property
    def exact_retention(self) -> Fraction:
        """The implemented lambda; raises `InputError` without one (`has_retention`)."""
        if isinstance(self.sampler, MatrixSampler):
            raise InputError(
                f"attribute {self.name!r}: has no retention, as its matrix was chosen for a known source: "
                "its effect on a moment is no single factor. Ask for its `effect`, or remove the source."
            )
        return Fraction(0) if self.sampler is None else self.sampler.retention

    @property
    def retention(self) -> float:
        """The implemented lambda, rounded down; raises `InputError` without one (`has_retention`)."""
        return float_at_most(self.exact_retention)

    @cached_property
    def distortion(self) -> float | None:
        """The expected share of changed cells in the worst case that a known source leaves, rounded up.

        None of a block without a source, or without a sampler.
        """
        source = self.block.source
        if source is None or not isinstance(self.sampler, MatrixSampler):
            return None
        return float_at_least(self.sampler.matrix.distortion(source))

    @property
    def has_uniform_background(self) -> bool:
        """True where every member is replaced by a uniform draw."""
        return self.has_retention and self.block.background_weights is None

    @property
    def truth_probability(self) -> float | None:
        """P(report = truth), of a cluster that of all members at once; None if it depends on the truth."""
        return _truth(self, self.sampler, self.cardinality)

    @property
    def other_probability(self) -> float | None:
        """P(report = one given other (joint) category); None unless the background is uniform."""
        return _other(self, self.sampler, self.cardinality)

    @property
    def truth_range(self) -> tuple[float, float]:
        """The least and the largest P(report = truth), over all truths."""
        weights = self.block.background_weights
        return _truth_range(self.sampler, weights or (1,) * self.cardinality)

    def column_sampler(self, name: str) -> AnySampler | None:
        """The exact law of one member's column, as the sampler that would make it (DESIGN 2.9).

        The words that lead to each of the member's categories are those of its joint categories together, and
        the rest leaves the truth: lambda is that of the cluster.
        The columns of several members are not drawn by theirs: they are not independent.
        """
        if self.sampler is None or not self.is_cluster or isinstance(self.sampler, MatrixSampler):
            return self.sampler
        return self.sampler.marginal_of(self.names.index(name), self.shape)


@dataclass(frozen=True)
class AllocatedAttribute:
    """One attribute of an allocation: a column, and the `part` that it is randomized in.

    Epsilon, loss, retention and price are the part's: a change of one member of a cluster costs all of it.
    """

    declared: Attribute
    part: AllocatedBlock

    @property
    def name(self) -> str:
        """The attribute's name, also that of its column."""
        return self.declared.name

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.declared.domain

    @property
    def cardinality(self) -> int:
        """r, the number of categories."""
        return self.declared.cardinality

    @property
    def score_values(self) -> tuple[float, ...] | None:
        """f of each category by code, None for nominal categories."""
        return self.declared.score_values

    @property
    def marginal(self) -> tuple[float, ...] | None:
        """Public or assumed shares of the categories, None where the problem states none."""
        return self.declared.shares

    @property
    def cluster(self) -> tuple[str, ...]:
        """Names of all members of its cluster, () where it is randomized alone."""
        return self.part.names if self.part.is_cluster else ()

    @property
    def epsilon(self) -> float:
        """The epsilon of its part in nats."""
        return self.part.epsilon

    @property
    def sampler(self) -> AnySampler | None:
        """Its own sampler, None where nothing of it is released.

        Raises `InputError` for a member of a cluster: drawn on its own it would cost what nobody counted.
        """
        if self.part.is_cluster:
            raise InputError(
                f"attribute {self.name!r}: is randomized together with the others of {self.part.name} and "
                "has no sampler of its own. Take that of its block (allocation.block_of)."
            )
        return self.part.sampler

    @cached_property
    def column_sampler(self) -> AnySampler | None:
        """The exact law of this column alone, None where nothing of it is released: not to be drawn from."""
        return self.part.column_sampler(self.name)

    @property
    def is_released(self) -> bool:
        """True where the report depends on the truth; other columns are left out unless asked for."""
        return self.part.is_released

    @property
    def loss(self) -> float:
        """Privacy loss of the implemented matrix in nats, rounded up: of a change of this attribute."""
        return self.part.loss

    @property
    def exact_retention(self) -> Fraction:
        """The implemented lambda."""
        return self.part.exact_retention

    @property
    def retention(self) -> float:
        """The implemented lambda, rounded down."""
        return self.part.retention

    @property
    def has_retention(self) -> bool:
        """False where the matrix was chosen for a known source: no lambda says what it leaves of a moment."""
        return self.part.has_retention

    @property
    def is_correctable(self) -> bool:
        """True where a joint table with this column can be corrected: it is released, with a retention."""
        return self.is_released and self.has_retention

    @property
    def distortion(self) -> float | None:
        """The expected share of changed cells in the worst case of its source; None without one."""
        return self.part.distortion

    @cached_property
    def effect(self) -> tuple[Fraction, ...] | None:
        """(Q f)(x) = E[f(report) | truth x] by code, exactly, f the scores and Q a known source's matrix.

        With attributes S that are randomized beside this one, of retention R_S and centred scores Z,
        E f(Y) prod W = R_S E (Q f)(X) prod Z: f is replaced by Q f in every moment. None without scores, and
        for an attribute without a source or a sampler.
        """
        sampler = self.part.sampler
        if self.score_values is None or not isinstance(sampler, MatrixSampler):
            return None
        return sampler.matrix.expected(self.score_values)

    @property
    def shadow_price(self) -> float | None:
        """The price of the pin or bound that holds the part's epsilon, None where no optimum is proved."""
        return self.part.shadow_price

    @property
    def truth_probability(self) -> float | None:
        """P(report = truth) in this column; None unless the background of its part is uniform."""
        return _truth(self.part, self.column_sampler, self.cardinality)

    @property
    def other_probability(self) -> float | None:
        """P(report = one given other category) in this column; None if it depends on that."""
        return _other(self.part, self.column_sampler, self.cardinality)

    @property
    def truth_range(self) -> tuple[float, float]:
        """The least and the largest P(report = truth) in this column, over all truths."""
        weights = self.declared.background_weights
        return _truth_range(self.column_sampler, weights or (1,) * self.cardinality)

    @property
    def exact_laws(self) -> tuple[list[Fraction], list[Fraction]]:
        """P(report = v | truth v) and P(report = v | another truth) in this column, by v.

        Both are the background where the report does not depend on the truth. Raises `InputError` where the
        second is not one number a report: of a matrix that was chosen for a known source (`exact_matrix`).
        """
        sampler, r = self.column_sampler, self.cardinality
        if isinstance(sampler, MatrixSampler):
            raise InputError(
                f"attribute {self.name!r}: its matrix was chosen for a known source, and has another law for "
                "every truth. Ask for its matrix (exact_matrix)."
            )
        if sampler is not None:
            return truth_probabilities(sampler), other_probabilities(sampler)
        weights = self.declared.background_weights or (1,) * r
        blind = [Fraction(weight, sum(weights)) for weight in weights]
        return blind, blind

    @property
    def exact_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """P(report = y | truth x) in this column, exactly, rows the truth."""
        sampler = self.column_sampler
        if isinstance(sampler, MatrixSampler):
            return sampler.matrix.rows
        (truths, others), codes = self.exact_laws, range(self.cardinality)
        return tuple(tuple(truths[y] if y == x else others[y] for y in codes) for x in codes)

    @property
    def censored(self) -> tuple[Label | None, ...]:
        """The categories that are never reported; they stay in the declared domain of a release."""
        largest = self.reported_between[1]
        return tuple(label for label, most in zip(self.domain.labels, largest, strict=True) if most == 0)

    @property
    def reported_between(self) -> tuple[FloatArray, FloatArray]:
        """The least and the largest P(report = v) over all truths, by v, each (r,)."""
        sampler = self.column_sampler
        if isinstance(sampler, MatrixSampler):
            matrix = sampler.matrix.as_array()
            return matrix.min(axis=0), matrix.max(axis=0)
        return self.other_probabilities, self.truth_probabilities

    @property
    def truth_probabilities(self) -> FloatArray:
        """P(report = v | truth v) in this column by v, (r,), whatever the background."""
        if self.truth_probability is not None:
            return np.full(self.cardinality, self.truth_probability)
        return np.array([float(probability) for probability in self.exact_laws[0]])

    @property
    def other_probabilities(self) -> FloatArray:
        """P(report = v | another truth) in this column by v, (r,), whatever the background."""
        if self.other_probability is not None:
            return np.full(self.cardinality, self.other_probability)
        return np.array([float(probability) for probability in self.exact_laws[1]])


def _truth_range(sampler: AnySampler | None, weights: Weights) -> tuple[float, float]:
    """Of a block or a column; `weights` are those of its background, which is reported without a sampler."""
    if isinstance(sampler, Sampler):
        return float(sampler.truth_probability), float(sampler.truth_probability)
    if sampler is None:
        whole = sum(weights)
        return min(weights) / whole, max(weights) / whole
    words = 2**sampler.bits
    if isinstance(sampler, MatrixSampler):
        same = [row[code] for code, row in enumerate(sampler.counts)]
        return min(same) / words, max(same) / words
    return (min(sampler.counts) + sampler.kept) / words, (max(sampler.counts) + sampler.kept) / words


def _truth(part: AllocatedBlock, sampler: AnySampler | None, cardinality: int) -> float | None:
    if not part.has_uniform_background:
        return None
    return float(sampler.truth_probability if isinstance(sampler, Sampler) else Fraction(1, cardinality))


def _other(part: AllocatedBlock, sampler: AnySampler | None, cardinality: int) -> float | None:
    if not part.has_uniform_background:
        return None
    return float(sampler.other_probability if isinstance(sampler, Sampler) else Fraction(1, cardinality))


def product(factors: Iterable[Fraction]) -> Fraction:
    """The exact product of fractions, with one division at the end."""
    numerator, denominator = 1, 1
    for factor in factors:
        numerator, denominator = numerator * factor.numerator, denominator * factor.denominator
    return Fraction(numerator, denominator)
