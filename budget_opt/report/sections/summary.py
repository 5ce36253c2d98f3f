"""The first page: what a reader must know who reads nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from budget_opt.report.sections.comparison import gap_text
from budget_opt.report.sections.split import odds_text
from budget_opt.report.subject import Subject
from budget_opt.report.words import at_most, count, number, share


@dataclass(frozen=True)
class Fact:
    """One number of the first page: what it is, the number, and what to think of it."""

    what: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Summary:
    """Title, the facts of the first page, and where the report comes from."""

    title: str
    facts: tuple[Fact, ...]
    origin: tuple[tuple[str, str], ...]


def summary(subject: Subject) -> Summary:
    """Title, budget, loss, worth, proof and checks in one line each."""
    allocation = subject.allocation
    return Summary(
        title=allocation.name or "Split of a privacy budget",
        facts=(_budget(subject), _moments(subject), _proof(subject), _checks(subject)),
        origin=(
            ("Allocation made", f"{allocation.created[:10]}, {allocation.software}"),
            ("Problem (SHA-256)", allocation.problem_sha256),
            ("Found by", allocation.objective.solver),
        ),
    )


def _budget(subject: Subject) -> Fact:
    allocation = subject.allocation
    total = allocation.total_epsilon
    of = "" if total is None else f" of {at_most(total)}"
    return Fact(
        "Privacy budget spent on a record",
        f"{at_most(allocation.spent_epsilon)}{of}",
        f"One record changes the odds of any release by a factor of at most {odds_text(allocation.loss)}.",
    )


def _moments(subject: Subject) -> Fact:
    moments = subject.allocation.moments
    floors = [moment for moment in moments if moment.floor is not None]
    kept = sum(moment.keeps_floor for moment in floors)
    text = (
        f"{kept} of {count(len(floors), 'floor is', 'floors are')} kept."
        if floors
        else "No floors were asked for."
    )
    if not moments:
        return Fact("Moments", "none", "The problem names no relationship that must survive.")
    low, high = min(m.retention for m in moments), max(m.retention for m in moments)
    return Fact(f"Retention of {count(len(moments), 'moment')}", f"{share(low)} to {share(high)}", text)


def _proof(subject: Subject) -> Fact:
    outcome = subject.allocation.objective
    value = f"{outcome.kind} {number(outcome.value, 4)}"
    if outcome.status == "optimal":
        said = f"{value}; proved: no split is better by more than {gap_text(outcome)}."
        return Fact("How good", "optimal", said)
    if outcome.status == "feasible":
        return Fact(
            "How good", f"within {gap_text(outcome)}", f"{value}; proved to be this near to the best."
        )
    return Fact("How good", "not judged", f"{value}; the split was given, not optimized.")


def _checks(subject: Subject) -> Fact:
    total, failed = len(subject.checks.checks), len(subject.checks.failed)
    if failed:
        return Fact(
            "Checks", f"{failed} of {total} FAIL", "Do not release before this is understood; see Checks."
        )
    return Fact(
        "Checks", f"all {total} hold", "Losses, budgets, floors, value and bound were computed again."
    )
