"""The answer that is kept: epsilons, what the sampler makes of them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, float_at_least, float_at_most, multiple_at_least
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.arrays import FloatArray, Objective
from budget_opt.model.attribute import Attribute
from budget_opt.model.domain import Domain
from budget_opt.model.moment import CrossMoment, Unit
from budget_opt.model.problem import Problem

Status = Literal["optimal", "feasible", "given"]
"""`optimal`: the bound proves the gap tolerance; `feasible`: it does not; `given`: not a solver's split."""


@dataclass(frozen=True)
class AllocatedAttribute:
    """One attribute with its epsilon (nats) and the integers of its sampler.

    Without a sampler the report does not depend on the truth: loss and retention are 0 and the column
    is left out of a release unless asked for. `shadow_price` is the change of the objective's value per nat
    by which the pin or bound that holds epsilon is moved (`pricing`), None where no optimum is proved.
    """

    declared: Attribute
    epsilon: float
    sampler: Sampler | None
    shadow_price: float | None = None

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
        return self.declared.marginal

    @cached_property
    def loss(self) -> float:
        """Privacy loss of the implemented matrix in nats, rounded up."""
        return 0.0 if self.sampler is None else self.sampler.loss

    @cached_property
    def exact_retention(self) -> Fraction:
        """The implemented lambda."""
        return Fraction(0) if self.sampler is None else self.sampler.retention

    @property
    def retention(self) -> float:
        """The implemented lambda, rounded down."""
        return float_at_most(self.exact_retention)

    @property
    def truth_probability(self) -> float:
        """P(report = truth)."""
        return float(
            Fraction(1, self.cardinality) if self.sampler is None else self.sampler.truth_probability
        )

    @property
    def other_probability(self) -> float:
        """P(report = one given other category)."""
        return float(
            Fraction(1, self.cardinality) if self.sampler is None else self.sampler.other_probability
        )


@dataclass(frozen=True)
class AllocatedMoment:
    """One cross-moment with its retention (implemented, rounded down) and variance inflation.

    `variance_inflation` is None where a member is not released; `variance_basis` says on which
    marginals it rests (DESIGN 2.3). `floor_price` and `ceiling_price` are the change of the objective's value
    per unit of the floor or ceiling (`pricing`), None where there is none or no optimum is proved.
    """

    stated: CrossMoment
    exact_retention: Fraction
    variance_inflation: float | None
    variance_basis: str
    floor_price: float | None = None
    ceiling_price: float | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return self.stated.attributes

    @property
    def label(self) -> str:
        """The moment in words: smoker x income."""
        return self.stated.label

    @property
    def weight(self) -> float:
        """Its weight in the objective."""
        return self.stated.weight

    @property
    def floor(self) -> float | None:
        """The least retention asked for."""
        return self.stated.floor

    @property
    def ceiling(self) -> float | None:
        """The largest retention allowed."""
        return self.stated.ceiling

    @cached_property
    def retention(self) -> float:
        """The share of the centred moment that survives, rounded down."""
        return float_at_most(self.exact_retention)

    @property
    def keeps_floor(self) -> bool:
        """True where the implemented retention is at least the floor, exactly."""
        return self.floor is None or self.exact_retention >= exact(self.floor)

    @property
    def keeps_ceiling(self) -> bool:
        """True where the implemented retention is at most the ceiling, exactly."""
        return self.ceiling is None or self.exact_retention <= exact(self.ceiling)


@dataclass(frozen=True)
class Outcome:
    """What was reached: `value` with the implemented lambda, `bound` proved from the problem.

    `relative_gap` = |bound - value at lambda(epsilon)| / |that value|: it judges the split, not the
    sampler's rounding. `bound` and gap are None for a given split.
    """

    kind: Objective
    value: float | None
    bound: float | None
    relative_gap: float | None
    gap_tolerance: float
    status: Status
    solver: str
    seconds: float
    certificate_sha256: str | None = None


@dataclass(frozen=True)
class LevelOutcome:
    """What one level of priorities has reached: `value` of the objective over its moments alone.

    `bound` is what is proved right after a solve, and no file carries it: no split that is as good on the
    levels before (for `max_min`: that keeps them to the tolerance) passes it. None where nothing is proved.
    """

    level: int
    value: float | None
    bound: float | None = None


@dataclass(frozen=True)
class Allocation:
    """A split of the budget with everything that an analyst or anonymizer needs.

    Where the moments have several levels, `objective` is about the first, and `levels` lists them all.
    `sensitivity` is the change of the objective's value per nat of `total_epsilon` and of each group
    (`pricing`), empty where no optimum is proved. `is_stated` is true where value, bound and prices were read
    from a file: `verify` confirms them, and until then nothing may call them proved.
    """

    question: Problem
    attributes: tuple[AllocatedAttribute, ...]
    moments: tuple[AllocatedMoment, ...]
    objective: Outcome
    problem_sha256: str
    created: str
    software: str
    sensitivity: Mapping[str, float] = field(default_factory=dict)
    levels: tuple[LevelOutcome, ...] = field(default=(), compare=False)
    is_stated: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def read(cls, path: str | Path) -> Allocation:
        """Read a file; everything that can be recomputed is. Raises `AllocationError` with the field."""
        from budget_opt.allocation.document import read_allocation

        return read_allocation(path)

    def write(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        from budget_opt.model.documents import write_document

        write_document(self.to_dict(), path)

    def to_dict(self) -> dict[str, Any]:
        """The document that `write` puts into a file."""
        from budget_opt.allocation.document import document_of

        return document_of(self)

    def rounded(self, step: float, problem: Problem | None = None) -> Allocation:
        """The best split whose epsilons are multiples of `step` (nats): see `budget_opt.rounded`."""
        from budget_opt.api.gridding import rounded

        return rounded(self, step, problem).allocation

    def __getitem__(self, name: str) -> AllocatedAttribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        names = ", ".join(attribute.name for attribute in self.attributes)
        raise InputError(f"attribute {name!r} is not in the allocation; it has {names}.")

    def __str__(self) -> str:
        from budget_opt.allocation.show import as_text

        return as_text(self)

    def retention(self, *attributes: str) -> float:
        """The share of the centred cross-moment of these distinct attributes that survives, rounded down."""
        if len(set(attributes)) < len(attributes) or not attributes:
            raise InputError(f"attributes: is {attributes}, must be distinct names, at least one.")
        return float_at_most(product(self[name].exact_retention for name in attributes))

    @property
    def name(self) -> str:
        """The problem's name."""
        return self.question.name

    @property
    def total_epsilon(self) -> float | None:
        """The budget of one record in nats; None for `min_epsilon` without one."""
        return self.question.total_epsilon

    @property
    def total_delta(self) -> float:
        """0 where the total holds for certain, as a sum; else the delta with which it holds."""
        return self.question.total_delta

    @property
    def epsilons(self) -> FloatArray:
        """Epsilon of every attribute in order, shape (M,), in nats."""
        return np.array([attribute.epsilon for attribute in self.attributes])

    @property
    def spent_epsilon(self) -> float:
        """The exact sum of the epsilons, rounded up."""
        return float_at_least(sum((exact(attribute.epsilon) for attribute in self.attributes), Fraction(0)))

    @property
    def loss(self) -> float:
        """The privacy loss of one record: the sum of the implemented losses, rounded up."""
        return float_at_least(sum((exact(attribute.loss) for attribute in self.attributes), Fraction(0)))

    @property
    def unit(self) -> Unit:
        """Whose privacy is stated: one record's, or that of a person with up to `max_rows` of them."""
        return self.question.unit

    @property
    def waves(self) -> int:
        """How many releases of the same people are planned."""
        return self.question.waves

    @property
    def unit_loss(self) -> float:
        """The loss of one record, or of one person with all of their records, in one release; rounded up."""
        return multiple_at_least(self.loss, self.unit.max_rows)

    @property
    def planned_loss(self) -> float:
        """The same over all planned waves, if each is released under this allocation; rounded up."""
        return multiple_at_least(self.loss, self.unit.max_rows * self.waves)

    @property
    def public(self) -> tuple[str, ...]:
        """Names of the columns that are released as they are."""
        return tuple(column.name for column in self.question.public)

    @property
    def released(self) -> tuple[str, ...]:
        """Names of the columns of every release: the attributes with a sampler, then the public columns.

        Attributes without a sampler may be there as well: they are released only where that was asked for.
        """
        with_sampler = (attribute.name for attribute in self.attributes if attribute.sampler is not None)
        return (*with_sampler, *self.public)

    @property
    def survey_weight(self) -> str | None:
        """Name of the public column of survey weights, None where the problem states none."""
        return None if self.question.survey is None else self.question.survey.weight

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the columns that are left out."""
        return self.question.dropped

    @property
    def row_order(self) -> Literal["shuffle", "public"]:
        """Whether the rows of a release are shuffled or in the original order."""
        return self.question.row_order


def product(factors: Iterable[Fraction]) -> Fraction:
    """The exact product of fractions, with one division at the end."""
    numerator, denominator = 1, 1
    for factor in factors:
        numerator, denominator = numerator * factor.numerator, denominator * factor.denominator
    return Fraction(numerator, denominator)
