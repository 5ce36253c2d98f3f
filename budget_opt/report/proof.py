"""How good a split is, as far as this page has confirmed it; what its file states stands apart.

A file may state any bound. Here a bound counts that a check has evaluated from the problem itself: from the
split alone, or from a certificate. Whatever the page calls proved or optimal rests on that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from budget_opt.allocation import Allocation
from budget_opt.allocation.allocation import Status
from budget_opt.model.objectives import relative_gap
from budget_opt.verifier.report import VerificationReport

OPTIMAL = 1e-6
"""The relative gap up to which the page says "optimal", whatever gap was asked for."""
_DIGITS = 1e-12
"""Relative; the last digits of a gap differ between machines."""


@dataclass(frozen=True)
class Proof:
    """The `bound` that was evaluated here, None where none was, and the one that the file has `stated`.

    `relative_gap` is |bound - value| / |value|, `stated_gap` the file's. `holds` is False where a check of
    the allocation fails: of such a split nothing is said but what fails.
    """

    bound: float | None
    relative_gap: float | None
    stated: float | None
    stated_gap: float | None
    holds: bool

    @property
    def is_given(self) -> bool:
        """True where nobody states how good the split is."""
        return self.stated is None

    @property
    def is_optimal(self) -> bool:
        """True where what was evaluated here proves it."""
        return self.holds and self.relative_gap is not None and self.relative_gap <= OPTIMAL + _DIGITS

    @property
    def confirms(self) -> bool:
        """True where what was evaluated here proves as small a gap as the file states, or optimality."""
        if self.relative_gap is None or not self.holds:
            return False
        return self.is_optimal or (
            self.stated_gap is not None and self.relative_gap <= self.stated_gap + OPTIMAL
        )


def proof_of(allocation: Allocation, checks: VerificationReport) -> Proof:
    """What the checks of this allocation have evaluated."""
    outcome = allocation.objective
    bound, gap = None, None
    for check in checks.checks:
        if check.name == "value" and isinstance(check.limit, float) and math.isfinite(check.limit):
            bound = check.limit
            found = relative_gap(check.measured, bound) if isinstance(check.measured, float) else math.inf
            gap = found if math.isfinite(found) else None
    return Proof(bound, gap, outcome.bound, outcome.relative_gap, checks.holds)


def as_confirmed(allocation: Allocation, proof: Proof) -> Allocation:
    """The allocation with the bound, gap and status that were confirmed in place of the stated ones."""
    status: Status = "given" if proof.bound is None else "optimal" if proof.is_optimal else "feasible"
    outcome = replace(allocation.objective, bound=proof.bound, relative_gap=proof.relative_gap, status=status)
    return replace(allocation, objective=outcome)
