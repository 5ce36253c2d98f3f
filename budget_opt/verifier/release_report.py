"""The verdict on a release, with the numbers behind it; internal (DESIGN 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from budget_opt.errors import VerificationError
from budget_opt.verifier.noise.evidence import NoiseEvidence
from budget_opt.verifier.report import Check, VerificationReport
from budget_opt.verifier.retentions import RetentionEvidence
from budget_opt.verifier.transitions import TransitionEvidence

_SHARE = "share of the moment that joint randomization leaves"
INTERNAL_NOTICE = "Computed from the originals: outside the guarantee, do not pass on"


@dataclass(frozen=True)
class ReleaseReport(VerificationReport):
    """The checks of a release with the numbers behind them; never to be passed on.

    As text it is the verdict and what fails, without a number; `in_full` has every check, with what was
    measured and the smallest fault that it would notice.
    """

    transitions: tuple[TransitionEvidence, ...] = ()
    retentions: tuple[RetentionEvidence, ...] = ()
    noise: tuple[NoiseEvidence, ...] = ()

    @property
    def summary(self) -> str:
        """Pass or fail in a few lines, and the claims that fail."""
        return self._text([f"FAILS  {check.claim}" for check in self.failed])

    def __str__(self) -> str:
        return self.summary

    def require(self) -> ReleaseReport:
        """The report itself; raises `VerificationError` with the failed claims, and no number.

        What was measured comes from the originals, and errors end in logs (R35).
        """
        if self.failed:
            claims = tuple(check.claim for check in self.failed)
            raise VerificationError(
                "\n  ".join([f"{self.subject}: {len(claims)} of {len(self.checks)} checks fail:", *claims]),
                failed=claims,
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON, with transition counts, retentions and the tests of the noise."""
        return {
            **super().to_dict(),
            "transitions": [evidence.to_dict() for evidence in self.transitions],
            "retentions": [evidence.to_dict() for evidence in self.retentions],
            "noise": [evidence.to_dict() for evidence in self.noise],
        }


def transition_checks(
    evidence: Iterable[TransitionEvidence], attributes: Mapping[str, tuple[str, ...]]
) -> Iterator[Check]:
    """Two checks of each block's counts, and a third where the rows do not belong together.

    `attributes` names those of each block.
    """
    for one in evidence:
        about = attributes[one.name]
        yield Check(
            claim=f"{one.name}: share of cells reported as they are",
            measured=one.kept,
            limit=f"{one.lowest:.6f} to {one.highest:.6f}",
            holds=one.kept_holds,
            source="exact binomial test against the matrix",
            kind="tested",
            notices=one.fault_in_words,
            name="kept cells",
            about=about,
        )
        if one.out_of_line:
            yield Check(
                claim=f"{one.name}: rows are those of the originals, in the same order "
                "(verify before any shuffle, or release with row_order public)",
                measured=one.line_up,
                limit=f"near {one.retention:.6f}",
                holds=False,
                source="agreement beyond chance",
                kind="tested",
                name="order of rows",
                about=about,
            )
        yield Check(
            claim=f"{one.name}: transition counts{'' if one.every_cell else ', not of single cells'}",
            measured=one.least_tail,
            limit=f"above {one.alarm:.3g}",
            holds=one.counts_hold,
            source="exact binomial tests against the matrix, least probability times their number",
            kind="tested",
            notices=one.skew_in_words,
            name="transition counts",
            about=about,
        )


def retention_checks(evidence: Iterable[RetentionEvidence]) -> Iterator[Check]:
    """A check of each moment."""
    for one in evidence:
        notices, due = None, one.predicted_retention
        if one.smallest_fault is not None and due is not None:
            measured = one.retention
            limit = f"{due:.6f} within {one.smallest_fault:.2g}"
            # neither none of the moment nor all of it would be noticed
            few = one.smallest_fault >= max(abs(due), abs(1 - due))
            notices = (
                "nothing: there are too few rows" if few else f"a retention off by {one.smallest_fault:.2g}"
            )
        else:
            measured = one.projection.observed
            limit = f"{one.projection.predicted:.6g} within {one.tolerance:.2g}, as a moment"
        error = one.standard_error if one.retention_error is None else one.retention_error
        yield Check(
            claim=f"{one.label}: {'retention' if one.factor is not None else _SHARE} "
            f"({one.projection.basis})",
            measured=measured,
            limit=f"{limit}, standard error {error:.2g}",
            holds=one.holds,
            source=f"{'Theorem 1' if one.factor is not None else 'joint randomization'} given the data, "
            "Bernstein's bound",
            kind="tested",
            notices=notices,
            name="retention",
            about=one.attributes,
        )
