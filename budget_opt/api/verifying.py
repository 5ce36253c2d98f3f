"""Is what was promised also what came out?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.verifier.report import VerificationReport


def verify(
    allocation: Allocation, problem: Problem | None = None, certificate: str | Path | None = None
) -> VerificationReport:
    """The promises of an allocation: losses from the sampler's integers, budgets, floors, value and bound.

    `problem` is what it was made from; without it pins and bounds cannot be checked, and the report
    says so. `certificate` is the file that `solve` wrote with the allocation: it holds the problem, and its
    bound is evaluated again, box by box, by code that knows no solver; that may take as long as the search.
    Raises `CertificateError`, an `InputError`, where the file is none. `.require()` raises
    `VerificationError`.
    """
    from budget_opt.verifier.certificates import StatedCertificate
    from budget_opt.verifier.static import verify_allocation

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    if problem is not None:
        require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    stated = None if certificate is None else StatedCertificate(certificate)
    return verify_allocation(allocation, problem, stated)


def verify_release(
    allocation: Allocation, original: Any, released: Any, false_alarm: float = 1e-9
) -> VerificationReport:
    """The release against the originals, both in the same row order. INTERNAL: do not pass the report on.

    Tables or paths. `false_alarm` in (0, 1) is the probability, over all tests together, that a sound
    release fails. `.require()` raises `VerificationError`.
    """
    from budget_opt.verifier.release import verify_release

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    return verify_release(allocation, original, released, false_alarm=false_alarm)
