"""The answer that is kept: epsilons, what the sampler makes of them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from budget_opt.allocation.blocks import AllocatedAttribute, AllocatedBlock, product
from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least, float_at_most, multiple_at_least
from budget_opt.model.arrays import FloatArray, Objective
from budget_opt.model.moments.moment import CrossMoment, Unit
from budget_opt.model.problem import Problem

Status = Literal["optimal", "feasible", "given"]
"""`optimal`: the bound proves the gap tolerance; `feasible`: it does not; `given`: not a solver's split."""


@dataclass(frozen=True)
class AllocatedMoment:
    """One cross-moment with its retention (implemented, rounded down) and variance inflation.

    `retention` is what is left of the moment of the declared scores: the product of the lambda of the blocks
    that it touches, which is proved, times its `detail`, what groupings leave before anything is randomized,
    which is exact if the regression on a merged score is a line, and else an assumption (`groupings.detail`).
    Estimates are of the moment of the merged scores: `kept` of it is left, and `variance_inflation` is its.
    Public columns keep everything, and cost nothing.

    Where it `touches_twice`, two members of one cluster take part: `retention` is then the factor on the
    function of the cluster, and the moment itself is not multiplied by it alone (DESIGN 2.9).
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
    touches_twice: bool = False
    detail: Fraction = Fraction(1)

    @property
    def kept(self) -> Fraction:
        """The product of lambda: what is left of the moment of the released categories, exactly."""
        return self.exact_retention / self.detail

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

    `blocks` are what is randomized as one, in the order of `Problem.blocks`: attributes alone, and clusters.

    Where the moments have several levels, `objective` is about the first, and `levels` lists them all.
    `sensitivity` is the change of the objective's value per nat of `total_epsilon` and of each group
    (`pricing`), empty where no optimum is proved. `is_stated` is true where value, bound and prices were read
    from a file: `verify` confirms them, and until then nothing may call them proved.
    """

    question: Problem
    blocks: tuple[AllocatedBlock, ...]
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

    @cached_property
    def attributes(self) -> tuple[AllocatedAttribute, ...]:
        """The attributes in the problem's order, each a column of the release."""
        block_of = {name: block for block in self.blocks for name in block.names}
        return tuple(AllocatedAttribute(one, block_of[one.name]) for one in self.question.attributes)

    @property
    def clusters(self) -> tuple[AllocatedBlock, ...]:
        """The blocks of two members and more, in the order in which the problem lists them."""
        of_names = {block.names: block for block in self.blocks}
        return tuple(of_names[tuple(names)] for names in self.question.clusters)

    def block_of(self, name: str) -> AllocatedBlock:
        """The block that this attribute is randomized in; raises `InputError` for an unknown name."""
        return self[name].part

    def touched(self, names: Iterable[str]) -> tuple[AllocatedBlock, ...]:
        """The blocks of these attributes, each once, in the order of the blocks; public columns have none.

        Raises `InputError` for an unknown name.
        """
        inside = {self[name].part.name for name in names if name not in self.public}
        return tuple(block for block in self.blocks if block.name in inside)

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
        """The share of the centred cross-moment of these distinct attributes that survives, rounded down.

        Of two members of one cluster it is the share of the function of the cluster (DESIGN 2.9). Public
        columns may be named and keep everything; what groupings lose is lost here too (`AllocatedMoment`).
        """
        if len(set(attributes)) < len(attributes) or not attributes:
            raise InputError(f"attributes: is {attributes}, must be distinct names, at least one.")
        kept = [block.exact_retention for block in self.touched(attributes)]
        details = [self[name].declared.detail for name in attributes if name not in self.public]
        return float_at_most(product([*kept, *details]))

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
        """Epsilon of every block in order, shape (M,), in nats."""
        return np.array([block.epsilon for block in self.blocks])

    @property
    def spent_epsilon(self) -> float:
        """The exact sum of the epsilons of the blocks, rounded up."""
        return float_at_least(exact_sum(block.epsilon for block in self.blocks))

    @property
    def loss(self) -> float:
        """The privacy loss of one record: the sum of the implemented losses, rounded up."""
        return float_at_least(exact_sum(block.loss for block in self.blocks))

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
        return (*(attribute.name for attribute in self.attributes if attribute.is_released), *self.public)

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
