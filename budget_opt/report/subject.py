"""What a report is about, gathered once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation
from budget_opt.model.problem import Problem
from budget_opt.report.proof import Proof, proof_of

if TYPE_CHECKING:
    from budget_opt.verifier.report import VerificationReport


@dataclass(frozen=True)
class Subject:
    """A split, its question, the even split of the same question, and the checks of its promises.

    `whole` is True where `problem` has the pins and bounds of attributes, which a file read back does not
    carry. `certified` is True where a certificate was given. `n` is the expected
    number of records, None where nobody said; `guess` the standardized size that the power is asked for.
    """

    allocation: Allocation
    problem: Problem
    whole: bool
    even: Allocation
    checks: VerificationReport
    certified: bool
    n: int | None
    guess: float

    @cached_property
    def proof(self) -> Proof:
        """What this page confirms of how good the split is."""
        return proof_of(self.allocation, self.checks)

    @property
    def is_even(self) -> bool:
        """True where the split is the even one itself, so that there is nothing to compare."""
        return bool((self.allocation.epsilons == self.even.epsilons).all())
