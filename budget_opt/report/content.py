"""Everything that a report says, as sections of plain text; pure but for the checks that it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budget_opt.allocation import Allocation, uniform
from budget_opt.api.arguments import require_number
from budget_opt.api.planning import require_rows
from budget_opt.api.splits import question_of
from budget_opt.api.verifying import verify
from budget_opt.model.problem import Problem
from budget_opt.report.blocks import Section
from budget_opt.report.explorer import explorer_data
from budget_opt.report.proof import OPTIMAL
from budget_opt.report.sections.checks import checks
from budget_opt.report.sections.comparison import comparison
from budget_opt.report.sections.glossary import glossary
from budget_opt.report.sections.guarantee import footer, guarantee
from budget_opt.report.sections.question import question
from budget_opt.report.sections.split import split
from budget_opt.report.sections.summary import Summary, summary
from budget_opt.report.sections.worth import worth
from budget_opt.report.subject import Subject
from budget_opt.report.writing import GUESS


@dataclass(frozen=True)
class ReportContent:
    """What the page shows: its summary, the sections, its last line, and the numbers of its sliders.

    `explorer` is None where sliders make no sense: with fewer than two attributes that a budget can move
    between, or a budget too small for them.
    """

    summary: Summary
    sections: tuple[Section, ...]
    footer: str
    explorer: dict[str, Any] | None


def content_of(
    allocation: Allocation,
    problem: Problem | None = None,
    n: int | None = None,
    *,
    certificate: str | Path | None = None,
    guess: float = GUESS,
) -> ReportContent:
    """The content of the report; arguments as of `report`."""
    subject = subject_of(allocation, problem, n, certificate=certificate, guess=guess)
    sections = (
        question(subject),
        split(subject),
        guarantee(subject),
        worth(subject),
        comparison(subject),
        checks(subject),
        glossary(),
    )
    return ReportContent(summary(subject), sections, footer(subject), explorer_data(subject))


def subject_of(
    allocation: Allocation,
    problem: Problem | None,
    n: int | None,
    *,
    certificate: str | Path | None,
    guess: float,
) -> Subject:
    """The split with its question and checks; raises `InputError` for another problem, or no number n."""
    if problem is None and certificate is not None:
        from budget_opt.verifier.certificates import stated

        problem = stated(certificate).problem_of(allocation)
    asked = allocation.question if problem is None else question_of(allocation, problem)
    return Subject(
        allocation=allocation,
        problem=asked,
        whole=asked.sha256 == allocation.problem_sha256,
        even=uniform(asked),
        # the page itself says what is optimal (report.proof), and how far the file's own tolerance goes
        checks=verify(allocation, problem, certificate, gap=max(OPTIMAL, allocation.objective.gap_tolerance)),
        certified=certificate is not None,
        n=None if n is None else require_rows(n),
        guess=require_number(guess, "guess"),
    )
