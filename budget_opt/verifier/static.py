"""The promises of an allocation, judged from the file's integers in exact arithmetic (DESIGN 2.7, 2.8).

Imports no solver and no randomizer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from budget_opt.accounting.price import provenance_notes
from budget_opt.accounting.privacy import summary_line
from budget_opt.accounting.words import unit_sentences
from budget_opt.allocation import Allocation
from budget_opt.allocation.designed import AS_CHOSEN, GIVE_THE_DESIGNED, as_designed, leaves_open
from budget_opt.allocation.merging import grouping_sentences
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import outside_sentence
from budget_opt.verifier.certificates import StatedCertificate
from budget_opt.verifier.composition import (
    NOT_LEARNED,
    budget_checks,
    composition_checks,
    subset_checks,
)
from budget_opt.verifier.designs import StatedDesign
from budget_opt.verifier.distortions import distortion_checks
from budget_opt.verifier.given import given_checks
from budget_opt.verifier.matrices import (
    Matrices,
    loss_checks,
    matrices_of,
    size_checks,
    statement_checks,
)
from budget_opt.verifier.moments import exact_retentions, limit_checks, stated_moment_checks
from budget_opt.verifier.outcome import (
    GAP,
    bound_checks,
    randomizes_alike,
    stated_outcome_checks,
    tolerance_notes,
)
from budget_opt.verifier.pricing import price_checks
from budget_opt.verifier.provenance import provenance_findings
from budget_opt.verifier.question import (
    bound_of_attribute_checks,
    coherence_check,
    open_without_problem,
    question_checks,
    unconfirmed_without_problem,
)
from budget_opt.verifier.report import Check, Open, VerificationReport


@dataclass(frozen=True)
class Asked:
    """What a verification is held against: the `problem`, a `certificate`, a `gap`, some `subsets`.

    `problem` is what the allocation was made from; `gap` the relative gap that counts as optimal; `subsets`
    are names of attributes whose composed loss is asked for. `chosen` is True where the problem given left
    clusters or groupings open, and `problem` has them as the allocation chose them.
    """

    problem: Problem | None = None
    certificate: StatedCertificate | StatedDesign | None = None
    gap: float = GAP
    subsets: tuple[tuple[str, ...], ...] = ()
    chosen: bool = False


def verify_allocation(
    allocation: Allocation,
    problem: Problem | None = None,
    certificate: StatedCertificate | StatedDesign | None = None,
    *,
    gap: float = GAP,
    subsets: tuple[tuple[str, ...], ...] = (),
) -> VerificationReport:
    """Every promise of the file: matrices, losses, budgets, floors, ceilings, the question, value and bound.

    Without a `problem` what only it can confirm is listed in the notes. A `certificate` brings the problem
    along, and its bound takes the place of what can be found here from the split alone. A problem that
    leaves clusters or groupings open is held against the allocation's own choice of them.
    """
    if problem is None and certificate is not None:
        problem = certificate.problem_of(allocation)
    judged = None if problem is None else as_designed(problem, allocation)
    return _report(allocation, Asked(judged, certificate, gap, subsets, chosen=judged is not problem))


def constraint_checks(allocation: Allocation, problem: Problem) -> tuple[Check, ...]:
    """Every constraint of the problem, named: budgets, floors, ceilings, pins, bounds and distortions."""
    matrices = matrices_of(allocation.blocks)
    return (
        *budget_checks(allocation),
        *limit_checks(allocation, exact_retentions(allocation, matrices)),
        *bound_of_attribute_checks(allocation, problem),
        *distortion_checks(allocation, problem, matrices),
    )


def verify_privacy(allocation: Allocation) -> VerificationReport:
    """Only the losses and budgets: what must hold before any value is randomized."""
    coherent = coherence_check(allocation)
    if not coherent.holds:
        return VerificationReport(_subject(allocation), (coherent,))
    matrices = matrices_of(allocation.blocks)
    checks = (*loss_checks(allocation.blocks, matrices), *budget_checks(allocation))
    return VerificationReport(_subject(allocation), checks)


def _subject(allocation: Allocation) -> str:
    return f"allocation {allocation.name}" if allocation.name else "allocation"


def _report(allocation: Allocation, asked: Asked) -> VerificationReport:
    coherent = coherence_check(allocation)
    if not coherent.holds:
        note = "nothing else was judged: the results are of other attributes or moments than are declared"
        return VerificationReport(_subject(allocation), (coherent,), (note,))
    if misfits := tuple(size_checks(allocation.blocks)):
        note = "nothing else was judged: there are integers for other categories than are declared"
        return VerificationReport(_subject(allocation), (coherent, *misfits), (note,))
    matrices = matrices_of(allocation.blocks)
    checks = [coherent, *_file_checks(allocation, matrices, asked)]
    notes = [NOT_LEARNED] if asked.subsets else []
    found, undecided = _problem_checks(allocation, matrices, asked)
    return VerificationReport(
        _subject(allocation),
        (*checks, *found),
        _ending_first((*notes, *_notes(allocation, asked)), asked.problem or allocation.question),
        provenance=provenance_findings(allocation, asked.problem),
        open=undecided,
    )


def _ending_first(notes: tuple[str, ...], problem: Problem) -> tuple[str, ...]:
    """The notes; that the allocation itself is outside the guarantee stands before all others."""
    outside = outside_sentence(problem)
    return tuple(sorted(notes, key=lambda note: note != outside))


def _file_checks(allocation: Allocation, matrices: Matrices, asked: Asked) -> Iterator[Check]:
    """What the file alone decides."""
    yield from loss_checks(allocation.blocks, matrices)
    yield from statement_checks(allocation, matrices)
    yield from budget_checks(allocation)
    yield from composition_checks(allocation, matrices)
    yield from subset_checks(allocation, matrices, asked.subsets)
    retentions = exact_retentions(allocation, matrices)
    yield from limit_checks(allocation, retentions)
    yield from stated_moment_checks(allocation, retentions)
    yield from stated_outcome_checks(allocation, asked.gap)


def _problem_checks(
    allocation: Allocation, matrices: Matrices, asked: Asked
) -> tuple[list[Check], tuple[Open, ...]]:
    """What the problem, or else a question that has its hash, decides; and what stays open."""
    checks: list[Check] = []
    undecided: list[Open] = []
    judged = asked.problem
    if judged is not None:
        checks += question_checks(allocation, judged)
        checks += given_checks(allocation, judged, matrices)
        checks += distortion_checks(allocation, judged, matrices)
    else:
        undecided += open_without_problem(allocation)
        whole = allocation.question.sha256 == allocation.problem_sha256
        judged = allocation.question if whole else None
    if asked.certificate is not None:
        checks += asked.certificate.checks(allocation, asked.gap)
    if judged is not None and (asked.certificate is None or not asked.certificate.proves_split):
        found, left = bound_checks(allocation, judged, asked.gap)
        checks, undecided = checks + found, undecided + left
    if judged is not None and randomizes_alike(allocation, judged):
        found, left = price_checks(allocation, judged)
        checks, undecided = checks + found, undecided + left
    return checks, tuple(undecided)


def _notes(allocation: Allocation, asked: Asked) -> Iterator[str]:
    """What was not judged, and what the guarantee rests on."""
    outcome = allocation.objective
    if asked.problem is None:
        yield unconfirmed_without_problem(allocation)
    elif asked.chosen and (asked.certificate is None or asked.certificate.proves_split):
        yield AS_CHOSEN
    elif asked.problem.sha256 != allocation.problem_sha256 and leaves_open(asked.problem):
        yield GIVE_THE_DESIGNED
    yield from tolerance_notes(allocation, asked.gap)
    if len(allocation.question.levels) > 1:
        first = allocation.question.levels[0]
        yield f"value, bound and gap are those of level {first}; the levels after it are not judged"
    if outcome.certificate_sha256 is not None and (
        asked.certificate is None or not asked.certificate.proves_split
    ):
        yield "the certificate that the allocation names was not given, and is not evaluated"
    if outcome.status == "given":
        yield "the split was given, not optimized: there is no bound to check"
    yield from grouping_sentences((asked.problem or allocation.question).attributes)
    yield f"proved: {summary_line(allocation, problem=asked.problem)}"
    yield from unit_sentences(allocation, asked.problem)
    yield from provenance_notes(allocation, asked.problem)
