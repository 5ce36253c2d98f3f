"""What was checked just now, and what was not."""

from __future__ import annotations

from budget_opt.report.blocks import Block, Bullets, Paragraph, Section, Table, Warned
from budget_opt.report.subject import Subject
from budget_opt.report.words import NOTHING, count
from budget_opt.verifier.report import Check

MOST_LIMITS = 100
"""Floors and ceilings up to which each has a row here; the table of worth has all of them."""
TINY = 1e-4
"""Below this a measured number is a gap, of which two digits say enough."""


def checks(subject: Subject) -> Section:
    """Every check of the allocation as a row, those that fail first."""
    found = subject.checks
    blocks: list[Block] = [Paragraph(_opening(subject))]
    if found.failed:
        blocks.append(
            Warned(
                f"{count(len(found.failed), 'check fails', 'checks fail')}, listed first. "
                "Do not release with this allocation before that is understood."
            )
        )
    shown, merged = _shown(found.checks)
    blocks.append(
        Table(
            caption="Checks of the allocation",
            headings=("Claim", "Measured", "Limit", "Verdict", "Where the limit comes from"),
            rows=(*(_row(check, subject) for check in shown), *merged),
            words=(0, 3, 4),
        )
    )
    if found.notes:
        blocks += [Paragraph("Not checked, or taken for granted:"), Bullets(_sentences(found.notes))]
    return Section("checks", "Checks", tuple(blocks))


def _opening(subject: Subject) -> str:
    opening = (
        "These claims were checked when this report was written, from the integers of the sampler and "
        "in exact arithmetic, by code that knows no solver."
    )
    if subject.certified and subject.proof.bound is not None:
        return (
            f"{opening} The certificate of the optimum was evaluated again from the problem alone: the bound "
            "that is measured here holds whatever the solver did."
        )
    return f"{opening} budget-opt verify repeats them."


def _shown(found: tuple[Check, ...]) -> tuple[list[Check], list[tuple[str, ...]]]:
    """Checks with a row of their own, those that fail first; and one row for many limits that hold."""
    ordered = sorted(found, key=lambda check: check.holds)
    kept = [
        check for check in ordered if check.holds and check.claim.startswith(("floor of ", "ceiling of "))
    ]
    if len(kept) <= MOST_LIMITS:
        return ordered, []
    row = (
        f"{len(kept):,} floors and ceilings of moments",
        "each listed above",
        "each",
        "hold",
        "exact product",
    )
    return [check for check in ordered if check not in kept], [row]


def _row(check: Check, subject: Subject) -> tuple[str, ...]:
    verdict = "holds" if check.holds else "FAILS"
    return _claim(check, subject), _value(check.measured), _value(check.limit), verdict, check.source


def _claim(check: Check, subject: Subject) -> str:
    """The claim; what holds only to a tolerance that the file states is not called more than that."""
    proof, tolerated = subject.proof, "to the tolerance that the allocation states"
    if check.claim.startswith("the split is optimal") and not proof.is_optimal:
        return f"relative gap, {tolerated}"
    if check.claim == f"bound of {subject.problem.objective}" and check.holds and not proof.confirms:
        return f"{check.claim}, {tolerated}"
    return check.claim


def _value(value: object) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:.2g}" if 0 < abs(value) < TINY else f"{value:.12g}"
    return str(value)


def _sentences(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in notes)
