"""What of an allocation one report is made under: domains, sampler integers, budgets, other columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.errors import VerificationError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.model.backgrounds.background import Weights
from budget_opt.model.clusters.block import cluster_name
from budget_opt.model.domain import Domain


@dataclass(frozen=True)
class AttributeTerms:
    """One attribute: a value of the record, and of the report."""

    name: str
    domain: Domain


@dataclass(frozen=True)
class BlockTerms:
    """What is randomized as one; without a sampler its report must not depend on the truth.

    `members` are one attribute, or those of a cluster in the order of its joint code; `epsilon` in nats;
    `background` the whole weights of the joint code, None for the uniform one.
    """

    members: tuple[AttributeTerms, ...]
    epsilon: float
    sampler: AnySampler | None
    background: Weights | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members."""
        return tuple(member.name for member in self.members)

    @property
    def name(self) -> str:
        """The attribute's name, or those of all members: smoker + income."""
        return cluster_name(self.names)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of every member."""
        return tuple(member.domain.cardinality for member in self.members)

    @property
    def cardinality(self) -> int:
        """The number of (joint) categories."""
        return math.prod(self.shape)

    @property
    def loss(self) -> Fraction:
        """Privacy loss of one report in nats: the decimal that the sampler states, rounded up."""
        return Fraction(0) if self.sampler is None else exact(self.sampler.loss)


@dataclass(frozen=True)
class Budget:
    """The epsilons of `members` together are at most `epsilon_max` (nats), in exact decimals.

    Of a cluster with several of them the one epsilon counts once.
    """

    title: str
    members: tuple[str, ...]
    epsilon_max: float


@dataclass(frozen=True)
class Terms:
    """All attributes in their order, what is randomized as one, the budgets, and the columns beside them."""

    attributes: tuple[AttributeTerms, ...]
    blocks: tuple[BlockTerms, ...]
    budgets: tuple[Budget, ...]
    public: tuple[str, ...]
    dropped: tuple[str, ...]

    @property
    def loss(self) -> float:
        """Privacy loss of one report of all attributes in nats, rounded up."""
        return float_at_least(sum((block.loss for block in self.blocks), Fraction(0)))

    def require_kept(self) -> None:
        """Raise `VerificationError` where a loss is above its epsilon, or a sum of them above a budget."""
        broken = list(self._broken())
        if broken:
            lines = "".join(
                f"\n  {claim}: is {found!r}, must be at most {most!r}" for claim, found, most in broken
            )
            raise VerificationError(
                f"the allocation promises less than it spends:{lines}\nSolve the problem again.",
                failed=tuple(claim for claim, _, _ in broken),
            )

    def _broken(self) -> Iterator[tuple[str, float, float]]:
        """Claims that do not hold: which, what is there, and its limit."""
        for block in self.blocks:
            sampler, r = block.sampler, block.cardinality
            if sampler is not None and sampler.cardinality != r:
                yield f"categories of {block.name}", sampler.cardinality, r
            if block.loss > exact(block.epsilon):
                yield f"loss of {block.name}", float_at_least(block.loss), block.epsilon
        for budget in self.budgets:
            touched = [block for block in self.blocks if not set(block.names).isdisjoint(budget.members)]
            spent = exact_sum(block.epsilon for block in touched)
            if spent > exact(budget.epsilon_max):
                yield f"epsilon of {budget.title}", float_at_least(spent), budget.epsilon_max
