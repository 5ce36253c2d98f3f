"""A design certificate against an allocation: the bound of all partitions, evaluated again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from budget_opt.allocation import Allocation
from budget_opt.allocation.designed import as_designed
from budget_opt.certificate.certify import attained_value
from budget_opt.certificate.partitions.document import read_design_certificate
from budget_opt.certificate.partitions.proof import proved
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import relative_gap
from budget_opt.model.problem import Problem
from budget_opt.verifier.outcome import gap_check
from budget_opt.verifier.report import EXPECTED, Check


class StatedDesign:
    """A design certificate that was read; raises `CertificateError` where it is none."""

    proves_split = False
    """It bounds all choices of clusters and groupings, and leaves the bound of the chosen one to others."""

    def __init__(self, path: str | Path) -> None:
        self._document = read_design_certificate(path)

    def problem_of(self, allocation: Allocation) -> Problem | None:
        """The open problem if the allocation is of one of its choices."""
        found = as_designed(self._document.problem, allocation)
        return self._document.problem if found.sha256 == allocation.problem_sha256 else None

    def checks(self, allocation: Allocation, gap: float) -> Iterator[Check]:
        """That the allocation is of a choice that the problem leaves open, and how good the choice is."""
        document = self._document
        found = as_designed(document.problem, allocation)
        yield Check(
            claim="the allocation is of a choice that the certificate's problem leaves open",
            measured=allocation.problem_sha256[:12],
            limit=found.sha256[:12],
            holds=found.sha256 == allocation.problem_sha256,
            source="SHA-256 of the problem with the allocation's clusters and groupings",
            name="design's problem",
            word=EXPECTED,
        )
        if found.sha256 != allocation.problem_sha256:
            return
        minimized = document.problem.objective in MINIMIZED
        judged = attained_value(found.arrays, allocation.epsilons)
        bound = proved(document.problem, document.max_cells, document.rows)
        source = (
            f"{len(document.rows)} prices of the certificate, over all partitions into clusters of at most "
            f"{document.max_cells} joint categories and all candidate groupings, rounding included"
        )
        within = judged >= bound if minimized else judged <= bound
        claim = f"value of {document.problem.objective} is within the bound of all designs"
        yield Check(claim, judged, bound, within, source, name="design's value")
        if document.bound is not None:
            confirmed = bound >= document.bound if minimized else bound <= document.bound
            claim = "bound of all designs that the certificate states"
            yield Check(claim, bound, document.bound, confirmed, source, name="design's bound")
        if document.relative_gap is not None and document.relative_gap <= gap:
            claim = "no clusters or groupings are better: relative gap"
            yield gap_check(claim, relative_gap(judged, bound), gap, source, name="design's gap")
