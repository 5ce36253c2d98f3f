"""The first page: what a reader must know who reads nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from budget_opt.accounting.price import paid_by
from budget_opt.accounting.words import odds_text
from budget_opt.model.provenance import decimal_text, nats, outside_sentence
from budget_opt.report.sections.comparison import gap_text
from budget_opt.report.subject import Subject
from budget_opt.report.words import count, listed, number, share
from budget_opt.tables.printing import at_most


@dataclass(frozen=True)
class Fact:
    """One number of the first page: what it is, the number, and what to think of it."""

    what: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Summary:
    """Title, the facts of the first page, and where the report comes from.

    `alarm` is what no fact may be read without: that the allocation itself is outside the guarantee.
    """

    title: str
    alarm: str | None
    facts: tuple[Fact, ...]
    origin: tuple[tuple[str, str], ...]


def summary(subject: Subject) -> Summary:
    """Title, budget, loss, worth, proof and checks in one line each."""
    allocation = subject.allocation
    return Summary(
        title=allocation.name or "Split of a privacy budget",
        alarm=_alarm(subject),
        facts=(_budget(subject), _moments(subject), _proof(subject), _checks(subject)),
        origin=(
            ("Allocation made", f"{allocation.created[:10]}, {allocation.software}"),
            ("Problem (SHA-256)", allocation.problem_sha256),
            ("Found by, as the allocation states", allocation.objective.solver),
        ),
    )


def _alarm(subject: Subject) -> str | None:
    outside = outside_sentence(subject.problem)
    if outside is None:
        return None
    return (
        f"{_capital(outside)}. Claim no epsilon for this report, the split, or a release that goes with it."
    )


def _budget(subject: Subject) -> Fact:
    allocation = subject.allocation
    total = allocation.total_epsilon
    of = "" if total is None else f" of {at_most(total)}"
    spent, whose = f"{at_most(allocation.spent_epsilon)}{of}", "One record"
    if allocation.total_delta > 0:
        spent = f"{at_most(total)} with delta {allocation.total_delta:g}"
        certain = f"the sum, {at_most(allocation.loss)}, for certain"
        whose = f"Two guarantees, both true: this one, and {certain}. By the sum one record"
    paid = paid_by(allocation)
    before = f", with what was made from the data before ({nats(decimal_text(paid.making))})"
    return Fact(
        "Privacy budget spent on a record",
        spent,
        f"{whose} changes the odds of any release{before if paid.making else ''} by a factor of at most "
        f"{odds_text(paid.record)}{paid.aside}.",
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
    low, high = min(m.retention for m in moments), max(m.retention for m in moments)
    span = share(low) if share(low) == share(high) else f"{share(low)} to {share(high)}"
    return Fact(f"Retention of {count(len(moments), 'moment')}", span, text)


def _proof(subject: Subject) -> Fact:
    """What this page confirms; what is only stated is told as that."""
    outcome, proof = subject.allocation.objective, subject.proof
    levels = subject.allocation.levels
    level = f" on level {levels[0].level}" if levels else ""
    value = "undefined" if outcome.value is None else number(outcome.value, 5)
    value = f"{outcome.kind} {value}{level}"
    if proof.is_given:
        return Fact("How good", "not judged", f"{value}; the split was given, not optimized.")
    if not proof.holds:
        return Fact("How good", "not judged", f"{value}; a check of this allocation fails.")
    if proof.is_optimal:
        said = f"{value}; proved: no split is better by more than {gap_text(proof)}."
        return Fact("How good", "optimal", said)
    if proof.confirms:
        return Fact("How good", f"within {gap_text(proof)}", f"{value}; proved to be this near to the best.")
    stated = f"The bound {number(proof.stated, 5)} is stated in the allocation, not checked here"
    if proof.bound is None:
        return Fact("How good", "not confirmed", f"{value}. {stated}.")
    found = f"{stated}; this page confirms {number(proof.bound, 5)}."
    near = "not confirmed" if proof.relative_gap is None else f"within {gap_text(proof)}"
    return Fact("How good", near, f"{value}. {found}")


def _checks(subject: Subject) -> Fact:
    total, failed = len(subject.checks.checks), len(subject.checks.failed)
    if failed:
        return Fact(
            "Checks", f"{failed} of {total} FAIL", "Do not release before this is understood; see Checks."
        )
    undecided = f", {len(subject.checks.open)} open" if subject.checks.open else ""
    return Fact("Checks", f"all {total} hold{undecided}", _computed_again(subject))


def _computed_again(subject: Subject) -> str:
    """What the checks are about; a bound only where it is confirmed."""
    problem, proof = subject.problem, subject.proof
    parts = ["losses"]
    parts += ["budgets"] if problem.budgets() else []
    parts += ["floors"] if any(moment.floor is not None for moment in problem.moments) else []
    parts += ["ceilings"] if any(moment.ceiling is not None for moment in problem.moments) else []
    parts += ["value"]
    if proof.is_given:
        return f"{_capital(listed(parts))} were computed again."
    if proof.confirms:
        return f"{_capital(listed([*parts, 'bound']))} were computed again."
    return f"{_capital(listed(parts))} were computed again; the stated bound is not confirmed."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
