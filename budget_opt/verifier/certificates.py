"""A certificate file against an allocation: its bound evaluated again, box by box, from the problem.

Every number that counts is computed here or in `certificate`, with what rounding may hide added to it; of the
file only multipliers and splits are used, for which any numbers give a valid bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from budget_opt.allocation import Allocation
from budget_opt.certificate.certify import attained_value
from budget_opt.certificate.convex import Frame
from budget_opt.certificate.convex import bound as convex_bound
from budget_opt.certificate.document import CertificateDocument, read_certificate
from budget_opt.certificate.partitions.document import has_design_header
from budget_opt.certificate.proof.proof import TreeProof, walked
from budget_opt.model.arguments import require_path
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import relative_gap
from budget_opt.model.problem import Problem
from budget_opt.verifier.designs import StatedDesign
from budget_opt.verifier.outcome import gap_check, judged_gap, randomizes_alike, within_check
from budget_opt.verifier.report import EXPECTED, Check


class StatedCertificate:
    """A certificate file that was read; raises `CertificateError` where it is none."""

    proves_split = True

    def __init__(self, path: str | Path) -> None:
        self._document, self._sha256 = read_certificate(path)

    @property
    def document(self) -> CertificateDocument:
        """What the file says."""
        return self._document

    def problem_of(self, allocation: Allocation) -> Problem | None:
        """The file's problem if the allocation was made from it."""
        problem = self._document.problem
        return problem if problem.sha256 == allocation.problem_sha256 else None

    def checks(self, allocation: Allocation, gap: float) -> Iterator[Check]:
        """What the certificate must be, and prove; `gap` is the relative one that counts as optimal."""
        document, outcome = self._document, allocation.objective
        stated = document.problem.sha256
        yield Check(
            claim="the certificate is of the allocation's problem",
            measured=stated[:12],
            limit=allocation.problem_sha256[:12],
            holds=stated == allocation.problem_sha256,
            source="SHA-256 of the problem in the certificate",
            name="certificate's problem",
            word=EXPECTED,
        )
        if outcome.certificate_sha256 is not None:
            yield Check(
                claim="the certificate is the one that the allocation names",
                measured=self._sha256[:12],
                limit=outcome.certificate_sha256[:12],
                holds=self._sha256 == outcome.certificate_sha256,
                source="SHA-256 of the file",
                name="certificate hash",
                word=EXPECTED,
            )
        same = document.epsilon.tolist() == allocation.epsilons.tolist()
        yield Check(
            claim="the certificate is of the allocation's split",
            measured="same" if same else "different",
            limit="same",
            holds=same,
            source="epsilons of both files",
            name="certificate's split",
            word=EXPECTED,
        )
        if stated == allocation.problem_sha256 and randomizes_alike(allocation, document.problem):
            yield from _bound_checks(document, allocation, gap)


def _bound_checks(document: CertificateDocument, allocation: Allocation, gap: float) -> Iterator[Check]:
    """The bound that the certificate proves, against what the allocation says of it."""
    outcome, arrays = allocation.objective, document.problem.arrays
    minimized = outcome.kind in MINIMIZED
    judged = attained_value(arrays, allocation.epsilons)
    source = "multipliers of the certificate, rounding included"
    if isinstance(document.proof, TreeProof):
        proved, boxes, leaves = walked(arrays, document.proof)
        source = (
            f"{boxes} boxes of the certificate, {leaves} of them leaves, each derived from the one before "
            "it and bounded anew, rounding included"
        )
    else:
        proved = convex_bound(Frame.of(arrays), allocation.epsilons, document.proof)
    yield within_check(outcome.kind, judged, proved, source)
    if outcome.bound is not None:
        confirmed = proved >= outcome.bound if minimized else proved <= outcome.bound
        yield Check(f"bound of {outcome.kind}", proved, outcome.bound, confirmed, source, name="bound")
    if document.bound is not None and document.bound != outcome.bound:
        confirmed = proved >= document.bound if minimized else proved <= document.bound
        claim = "bound that the certificate states"
        yield Check(claim, proved, document.bound, confirmed, source, name="certificate's bound")
    if outcome.status == "optimal":
        claim = "the split is optimal: relative gap"
        yield gap_check(claim, relative_gap(judged, proved), judged_gap(allocation, gap), source)


def stated(path: str | Path) -> StatedCertificate | StatedDesign:
    """The certificate in a file, of a split or of a design; raises `CertificateError` where it is none."""
    path = require_path(path, "certificate")
    return StatedDesign(path) if has_design_header(path) else StatedCertificate(path)
