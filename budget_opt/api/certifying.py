"""The certificate file that goes with an allocation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require_path
from budget_opt.errors import InputError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.problem import Problem
from budget_opt.version import __version__

if TYPE_CHECKING:
    from budget_opt.certificate import Certificate

MARGIN = 2.0**-42
"""Relative; the stated bound is worse than the proved one by this: last digits differ between machines."""


def require_place(path: str | Path) -> Path:
    """The path of a certificate to be; raises `InputError` where something else is there, or no folder."""
    from budget_opt.certificate.document import is_certificate
    from budget_opt.certificate.partitions.document import is_design_certificate

    path = require_path(path, "certificate")
    if path.exists() and not (path.is_file() and (is_certificate(path) or is_design_certificate(path))):
        raise InputError(f"certificate: {path} exists and is not a certificate. Choose another name.")
    if not path.parent.is_dir():
        raise InputError(f"certificate: {path.parent} is not a folder. Make it first, or choose another.")
    return path


def with_margin(problem: Problem, certificate: Certificate) -> Certificate:
    """The certificate with a bound that other machines will confirm."""
    sign = -1.0 if problem.objective in MINIMIZED else 1.0
    return replace(certificate, bound=certificate.bound * (1.0 + sign * MARGIN))


def certified(allocation: Allocation, problem: Problem, certificate: Certificate, path: Path) -> Allocation:
    """Writes what proves the allocation's bound; returns the allocation that names the file by its hash.

    Where the problem has several levels, the bound is that of the first.
    """
    from budget_opt.certificate.certify import attained_value
    from budget_opt.certificate.document import CertificateDocument

    proof = certificate.proof or certificate.multipliers
    assert proof is not None  # every method brings one along when it is asked for a record
    outcome = allocation.objective
    document = CertificateDocument(
        problem=problem,
        epsilon=allocation.epsilons,
        value=attained_value(problem.arrays, allocation.epsilons),
        bound=outcome.bound,
        relative_gap=outcome.relative_gap,
        proof=proof,
        software=f"budget-opt {__version__}",
    )
    sha256 = document.write(path)
    return replace(allocation, objective=replace(outcome, certificate_sha256=sha256))
