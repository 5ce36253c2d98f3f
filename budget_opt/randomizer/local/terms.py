"""What of an allocation one report is made under: domains, sampler integers, budgets, other columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.errors import VerificationError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.domain import Domain


@dataclass(frozen=True)
class AttributeTerms:
    """One attribute; without a sampler its report must not depend on the truth."""

    name: str
    domain: Domain
    epsilon: float
    sampler: Sampler | None

    @property
    def loss(self) -> Fraction:
        """Privacy loss of one report in nats: the decimal that the sampler states, rounded up."""
        return Fraction(0) if self.sampler is None else exact(self.sampler.loss)


@dataclass(frozen=True)
class Budget:
    """The epsilons of `members` together are at most `epsilon_max` (nats), in exact decimals."""

    title: str
    members: tuple[str, ...]
    epsilon_max: float


@dataclass(frozen=True)
class Terms:
    """All attributes in their order, the budgets they keep, and the columns beside them."""

    attributes: tuple[AttributeTerms, ...]
    budgets: tuple[Budget, ...]
    public: tuple[str, ...]
    dropped: tuple[str, ...]

    @property
    def loss(self) -> float:
        """Privacy loss of one report of all attributes in nats, rounded up."""
        return float_at_least(sum((attribute.loss for attribute in self.attributes), Fraction(0)))

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
        for attribute in self.attributes:
            sampler, r = attribute.sampler, attribute.domain.cardinality
            if sampler is not None and sampler.cardinality != r:
                yield f"categories of {attribute.name}", sampler.cardinality, r
            if attribute.loss > exact(attribute.epsilon):
                yield f"loss of {attribute.name}", float_at_least(attribute.loss), attribute.epsilon
        epsilons = {attribute.name: attribute.epsilon for attribute in self.attributes}
        for budget in self.budgets:
            spent = exact_sum(epsilons[name] for name in budget.members)
            if spent > exact(budget.epsilon_max):
                yield f"epsilon of {budget.title}", float_at_least(spent), budget.epsilon_max
