"""An allocation against the numbers of a problem that was given, where that is not the one it states.

What an allocation repeats of its problem is its own copy: it shows that a split keeps what the file says, not
what somebody has in hand. Pins, minima and maxima of single attributes are judged by the problem in any case
(`question.bound_of_attribute_checks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from budget_opt.accounting.composition import delta_at
from budget_opt.allocation import Allocation
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least, float_at_most
from budget_opt.model.problem import Problem
from budget_opt.verifier.matrices import Matrices, kept_of
from budget_opt.verifier.moments import source_of_retention
from budget_opt.verifier.report import Check

_ALLOWS, _DEMANDS = "the problem given allows", "the problem given demands"
_UNDER = "under the problem given"


def given_checks(allocation: Allocation, problem: Problem, matrices: Matrices) -> Iterator[Check]:
    """Total, groups, floors and ceilings of the problem; nothing where the allocation states the same."""
    if problem.total_epsilon is not None and _total(problem) != _total(allocation.question):
        yield _total_check(allocation, problem)
    if problem.groups != allocation.question.groups:
        yield from _group_checks(allocation, problem)
    if problem.moments != allocation.question.moments:
        yield from _moment_checks(allocation, problem, matrices)


def _total(problem: Problem) -> tuple[float | None, float]:
    return problem.total_epsilon, problem.total_delta


def _total_check(allocation: Allocation, problem: Problem) -> Check:
    total, delta = problem.total_epsilon or 0.0, problem.total_delta
    if delta > 0:
        found = delta_at(allocation, total).delta
        claim, measured, limit = f"delta of a record at epsilon {total!r} {_UNDER}", found, delta
        source = "exact convolution of the losses, rounded up"
    else:
        measured = allocation.spent_epsilon
        claim, limit, source = f"epsilon spent on a record {_UNDER}", total, "sum of decimals"
    return Check(
        claim=claim,
        measured=measured,
        limit=limit,
        holds=exact(measured) <= exact(limit),
        source=source,
        name="given budget",
        word=_ALLOWS,
    )


def _group_checks(allocation: Allocation, problem: Problem) -> Iterator[Check]:
    """What members have been given; an attribute that the allocation does not have spends nothing."""
    there = allocation.question.names
    for group in problem.groups:
        touched = allocation.touched(name for name in group.attributes if name in there)
        spent = exact_sum(block.epsilon for block in touched)
        yield Check(
            claim=f"epsilon spent on group {group.name} {_UNDER}",
            measured=float_at_least(spent),
            limit=group.epsilon_max,
            holds=spent <= exact(group.epsilon_max),
            source="sum of decimals",
            name="given budget",
            about=group.attributes,
            word=_ALLOWS,
        )


def _moment_checks(allocation: Allocation, problem: Problem, matrices: Matrices) -> Iterator[Check]:
    """Every floor and ceiling; nothing survives of a moment with an attribute that is not released."""
    for moment in problem.moments:
        members = problem.attributes_in(moment)
        there = set(members) <= set(allocation.question.names)
        touched = allocation.touched(members) if there else ()
        kept = prod((kept_of(matrices[block.name]) for block in touched), start=Fraction(there))
        kept *= problem.detail_of(moment)
        source, kind = source_of_retention(problem, moment, kept)
        for bound, limit, word in (("floor", moment.floor, _DEMANDS), ("ceiling", moment.ceiling, _ALLOWS)):
            if limit is not None:
                yield Check(
                    claim=f"{bound} of {moment.label} {_UNDER}",
                    measured=float_at_most(kept),
                    limit=limit,
                    holds=kept >= exact(limit) if bound == "floor" else kept <= exact(limit),
                    source=source,
                    kind=kind,
                    name=f"given {bound}",
                    about=moment.attributes,
                    word=word,
                )
