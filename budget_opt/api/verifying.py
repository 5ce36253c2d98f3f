"""Is what was promised also what came out?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require, require_gap
from budget_opt.errors import InputError
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.verifier.report import VerificationReport


def verify(
    allocation: Allocation,
    problem: Problem | None = None,
    certificate: str | Path | None = None,
    *,
    gap: float = 1e-6,
    subsets: Iterable[Iterable[str]] = (),
) -> VerificationReport:
    """Check what an allocation promises: matrices, losses, floors, ceilings, all it states, value and bound.

    `problem` is what it was made from; without it the report lists what cannot be confirmed. `certificate`
    is the file that `solve` wrote with the allocation: it holds the problem, and its bound is evaluated
    again, box by box, by code that knows no solver; that may take as long as the search. Or it is the file
    that `design` wrote, and the bound over all partitions and groupings is evaluated. `gap`, 1e-12 to 1,
    is the relative gap that counts as optimal here, whatever the file calls so: give the one that `solve`
    was asked for. `subsets` are names of attributes, such as `[("smoker", "income")]`, whose composed loss is
    asked for: what a change of these alone can do (to a cluster that they touch, its whole loss, once), which
    does not bound what can be learned about them.

    Raises `InputError` for an unknown name or another gap, and its `CertificateError` where the certificate
    is none. `.require()` raises `VerificationError`.
    """
    from budget_opt.verifier.certificates import stated
    from budget_opt.verifier.composition import require_subsets
    from budget_opt.verifier.static import verify_allocation

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    if problem is not None:
        require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    gap = require_gap(gap)
    chosen = require_subsets(allocation, subsets)
    read = None if certificate is None else stated(certificate)
    return verify_allocation(allocation, problem, read, gap=gap, subsets=chosen)


def verify_release(
    allocation: Allocation, original: Any = None, released: Any = None, false_alarm: float = 1e-9
) -> VerificationReport:
    """The release against the originals, both in the same row order. INTERNAL: do not pass the report on.

    Tables or paths. Without `original` the release is judged alone, in any order: its labels, columns and
    rows, the manifest beside it where it is a path, and whether its shares and joint tables are possible;
    that report says what it cannot check, and may be passed on. `false_alarm` in (0, 1) is the probability,
    over all tests together, that a sound release fails. As text a report on originals is the verdict and
    what fails; `.in_full` has all checks, with the smallest fault that each would notice. `.require()`
    raises `VerificationError`.
    """
    from budget_opt.api.releasing.publishing import MANIFEST, digest_of, manifest_beside
    from budget_opt.model.documents import json_text
    from budget_opt.verifier.release import verify_release
    from budget_opt.verifier.unaided import verify_unaided

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    if released is None:
        raise InputError("released: is not given. Give the released table, or its path.")
    if original is not None:
        return verify_release(allocation, original, released, false_alarm=false_alarm)
    manifest, why = None, "no manifest was given"
    if isinstance(released, str | Path):
        manifest = manifest_beside(Path(released))
        if manifest is None and (Path(released).parent / MANIFEST).exists():
            why = f"the {MANIFEST} beside it names another table, so there is no manifest of this one"
    return verify_unaided(
        allocation,
        released,
        manifest,
        allocation_sha256=digest_of(json_text(allocation.to_dict())),
        without_manifest=why,
        false_alarm=false_alarm,
    )
