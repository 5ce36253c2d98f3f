"""What was checked just now, and what was not."""

from __future__ import annotations

from collections.abc import Sequence

from budget_opt.report.blocks import Block, Bullets, Paragraph, Section, Table, Warned
from budget_opt.report.subject import Subject
from budget_opt.report.words import count
from budget_opt.tables.printing import NOTHING
from budget_opt.verifier.report import ASSUMED, Check, Open, common_source

MOST_ALIKE = 100
"""Checks of one kind up to which each has a row here; the table of worth has all floors and ceilings."""
MOST_INTEGERS = 12
"""The same for what only repeats the integers of an attribute's sampler."""
LIMITS = "floors and ceilings of moments"
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
    if found.open:
        blocks.append(Warned(_open(found.open)))
    shown, merged = _shown(found.checks)
    blocks.append(
        Table(
            caption="Checks of the allocation",
            headings=("Claim", "Measured", "Limit, or expected", "Verdict", "Where that comes from"),
            rows=(*(_row(check, subject) for check in shown), *merged),
            words=(0, 3, 4),
        )
    )
    if found.notes:
        blocks += [
            Paragraph("What was not checked, what is taken for granted, and how the figures are meant:"),
            Bullets(_sentences(found.notes)),
        ]
    return Section("checks", "Checks", tuple(blocks))


def _open(claims: Sequence[Open]) -> str:
    """What neither holds nor fails, and why not."""
    are = "claim of the allocation is open", "claims of the allocation are open"
    told = "; ".join(f"{one.claim} {one.why}" for one in claims)
    return f"{count(len(claims), *are)}: {told}."


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
    """Checks with a row of their own, those that fail first; and one row for many of a name that hold."""
    alike: dict[str, list[Check]] = {}
    for check in found:
        if check.holds:
            alike.setdefault(_kind(check), []).append(check)
    many = {kind: checks for kind, checks in alike.items() if kind and len(checks) > _most(kind)}
    shown = [check for check in found if not check.holds or _kind(check) not in many]
    rows = [_merged_row(kind, checks) for kind, checks in many.items()]
    return sorted(shown, key=lambda check: check.holds), rows


def _most(kind: str) -> int:
    return MOST_ALIKE if kind in ("loss", "bounds") or kind.startswith(LIMITS) else MOST_INTEGERS


def _kind(check: Check) -> str:
    if check.name not in ("floor", "ceiling"):
        return check.name
    return LIMITS if check.kind != ASSUMED else f"{LIMITS} with merged categories"


def _merged_row(kind: str, checks: list[Check]) -> tuple[str, ...]:
    claim = f"{checks[0].claim}, and {len(checks) - 1:,} more like it"
    measured = "each"
    if kind.startswith(LIMITS):
        claim, measured = f"{len(checks):,} {kind}", "each listed above"
    verdict = "hold" if checks[0].kind != ASSUMED else "hold, as assumed"
    return claim, measured, "each", verdict, common_source(checks)


def _row(check: Check, subject: Subject) -> tuple[str, ...]:
    figures = _value(check.measured), _value(check.limit)
    return _claim(check, subject), *figures, check.verdict, check.source


def _claim(check: Check, subject: Subject) -> str:
    """The claim; what holds only to a tolerance that the file states is not called more than that."""
    proof, tolerated = subject.proof, "to the tolerance that the allocation states"
    if check.name == "gap" and not proof.is_optimal:
        return f"relative gap, {tolerated}"
    if check.name == "stated gap" and not proof.is_optimal:
        return f"{check.claim}, {tolerated}"
    if check.name == "bound" and check.holds and not proof.confirms:
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
