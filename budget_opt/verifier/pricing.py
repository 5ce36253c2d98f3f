"""The stated prices against the optimality conditions at the split: no solver is needed for that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from budget_opt.allocation import Allocation
from budget_opt.certificate.prices.prices import NOTHING, Price, Prices, prices
from budget_opt.model.problem import Problem
from budget_opt.verifier.report import EXPECTED, Check, Open

RELATIVE_ERROR = 1e-3
"""Of a price: it is read from a split that is an optimum to some digits only."""
UNNOTICED = 1e-6
"""Relative change of the value, for a change of the number by all of itself, that counts as none."""
_SOURCE = "optimality conditions at the split"


@dataclass(frozen=True)
class _Claim:
    """A stated price, what it is recomputed to be, and the number of the problem that it is of."""

    name: str
    stated: float
    price: Price
    number: float

    def holds(self, value: float) -> bool:
        """True between the price on raising and the one on lowering, to the errors above."""
        ends = (self.price.raising, self.price.lowering)
        error = RELATIVE_ERROR * abs(self.stated) + UNNOTICED * abs(value) / max(self.number, 1e-300)
        return min(ends) - error <= self.stated <= max(ends) + error


def price_checks(allocation: Allocation, problem: Problem) -> tuple[list[Check], list[Open]]:
    """One check of all stated prices, or one of each wrong one; open where they cannot be judged here."""
    if not states_prices(allocation):
        return [], []
    found = prices(problem.arrays, allocation.epsilons)
    if found is None or not found.told_apart:
        return [], [Open("the prices", "are not confirmed: the split alone does not determine them")]
    claims, value = list(_claims(allocation, found)), allocation.objective.value or 0.0
    wrong = [
        Check(
            claim=f"price of {claim.name}",
            measured=claim.stated,
            limit=f"{claim.price.raising:.6g} on raising it, {claim.price.lowering:.6g} on lowering it",
            holds=False,
            source=_SOURCE,
            name="price",
            word=EXPECTED,
        )
        for claim in claims
        if not claim.holds(value)
    ]
    whole = "prices are derivatives of the optimum"
    agree = f"{len(claims)} agree"
    whole_check = Check(whole, agree, len(claims), holds=True, source=_SOURCE, name="price", word=EXPECTED)
    return wrong or [whole_check], []


def states_prices(allocation: Allocation) -> bool:
    """True where the allocation states any."""
    return any(True for _ in _claims(allocation, None))


def _claims(allocation: Allocation, found: Prices | None) -> Iterator[_Claim]:
    caps = {name: float(cap) for name, _, cap in allocation.question.budgets()}
    for name, stated in allocation.sensitivity.items():
        at = NOTHING if found is None else found.budgets.get(name, NOTHING)
        yield _Claim(name, stated, at, caps.get(name, 1.0))
    usual = allocation.spent_epsilon / len(allocation.blocks)
    for i, block in enumerate(allocation.blocks):
        if block.shadow_price is not None:
            at = NOTHING if found is None else found.bounds[i]
            yield _Claim(f"the bound of {block.name}", block.shadow_price, at, usual)
    for k, moment in enumerate(allocation.moments):
        if moment.floor_price is not None:
            at = NOTHING if found is None else found.floors.get(k, NOTHING)
            yield _Claim(f"the floor of {moment.label}", moment.floor_price, at, moment.floor or 1.0)
        if moment.ceiling_price is not None:
            at = NOTHING if found is None else found.ceilings.get(k, NOTHING)
            yield _Claim(f"the ceiling of {moment.label}", moment.ceiling_price, at, moment.ceiling or 1.0)
