"""The comparison of several splits of one budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from budget_opt.allocation import Allocation, uniform
from budget_opt.allocation.designed import as_designed
from budget_opt.api.arguments import require
from budget_opt.api.comparing.backgrounds import caution_of, compared_backgrounds, with_background_of
from budget_opt.api.comparing.comparison import (
    EVEN,
    SAME,
    SEEN,
    Change,
    ComparedMoment,
    ComparedSplit,
    Comparison,
)
from budget_opt.api.comparing.groupings import caution_of_groupings, with_grouping_of
from budget_opt.api.splits import broken_constraints, in_words, taken
from budget_opt.errors import InputError, ProblemError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.problem import Problem

_TOTALS = 1e-6
"""Share of a total that a solver may leave unspent; more is another total."""


def compare(
    splits: Mapping[str, Allocation | Mapping[str, Any]],
    problem: Problem | None = None,
    *,
    reference: str | None = None,
    even: bool = True,
) -> Comparison:
    """Retentions, objective, gains and losses of splits: `compare({"best": a, "mine": {"X1": 2, ...}})`.

    A split is an allocation, or epsilons in nats by name; all have the attributes of `problem`, whose moments
    and objective they are judged by; an allocation keeps its own clusters, groupings and backgrounds, so that
    those can be compared as well. Without `problem` it is that of the first allocation. `reference` names
    the split that the others are measured by: left out, it is the even split, put first unless one of them
    is even; `even=False` leaves it out and measures by the first. With several levels of moments the
    objective is that of the first. Raises `InputError` for a split of other attributes, one whose groupings
    leave less of a moment than its floor, or an unknown name.
    """
    require(splits, Mapping, "splits", 'Name every split: {"best": allocation, ...}.')
    if not splits:
        raise InputError('splits: is empty, must hold at least one. Name every split: {"best": allocation}.')
    for name in splits:
        _require_name(name)
    asked = _common_problem(splits, problem)
    allocations = {
        name: taken(_asked_of(asked, split, name), split, f"splits[{name!r}]")
        for name, split in splits.items()
    }
    allocations, chosen = _with_reference(asked, allocations, reference, even=even)
    backgrounds = compared_backgrounds(tuple(allocations.values()))
    return Comparison(
        problem=asked,
        splits=tuple(
            _compared(name, allocation, allocations[chosen]) for name, allocation in allocations.items()
        ),
        moments=_moments(asked, tuple(allocations.values())),
        reference=chosen,
        backgrounds=backgrounds,
        cautions=(
            *caution_of_groupings(tuple(allocations.values()), tuple(allocations)),
            *caution_of(backgrounds, tuple(allocations)),
            *_cautions(asked, allocations),
            *_origins(asked, splits, known=problem is not None),
        ),
    )


def _require_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise InputError(f"splits: {name!r} is not a name. Name every split by printable text.")


def _asked_of(problem: Problem, split: Allocation | Mapping[str, Any], name: str) -> Problem:
    """The same as `_with_its_own`, and an error that names the split that the problem cannot be asked of."""
    try:
        return _with_its_own(problem, split)
    except ProblemError as failure:
        raise InputError(f"splits[{name!r}]: its clusters and groupings do not fit: {failure}") from failure


def _with_its_own(problem: Problem, split: Allocation | Mapping[str, Any]) -> Problem:
    """The problem as the split answers it: with the clusters, groupings and backgrounds of an allocation."""
    if not isinstance(split, Allocation):
        return problem
    problem = as_designed(problem, split)
    stated = {attribute.name: attribute for attribute in split.question.attributes}
    clusters, attributes = split.question.clusters, problem.attributes
    if set(stated) == set(problem.names):  # another split is refused where it is taken
        grouped = [with_grouping_of(one, stated[one.name]) for one in attributes]
        attributes = tuple(with_background_of(one, stated[one.name]) for one in grouped)
    if (attributes, clusters) == (problem.attributes, problem.clusters):
        return problem
    # both at once: what one of them changes need not fit what the other still is
    limit = {} if clusters or clusters == problem.clusters else {"max_cells": None}
    return problem.with_fields(attributes=attributes, clusters=clusters, **limit)


def _common_problem(splits: Mapping[str, Any], problem: Problem | None) -> Problem:
    if problem is not None:
        require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
        return problem
    stated = next((split.question for split in splits.values() if isinstance(split, Allocation)), None)
    if stated is None:
        raise InputError("problem: is missing, and no split is an allocation that brings one. Give it.")
    return stated


def _with_reference(
    problem: Problem, allocations: dict[str, Allocation], reference: str | None, *, even: bool
) -> tuple[dict[str, Allocation], str]:
    """The splits, the even one first where it is wanted and missing, and the name of the reference."""
    if reference is not None:
        require(reference, str, "reference", "Give the name of one of the splits.")
    if reference is not None and reference not in allocations and not (even and reference == EVEN):
        raise InputError(
            f"reference: {reference!r} is not one of the splits {', '.join(allocations)}. Name one of them."
        )
    if not even:
        return allocations, reference or next(iter(allocations))
    # while clusters are to be chosen, no clusters are what any choice is compared with
    balanced = uniform(problem.with_clusters(()) if problem.clusters == "auto" else problem)
    same = [
        name
        for name, one in allocations.items()
        if one.question.block_names == balanced.question.block_names
        and _domains(one) == _domains(balanced)
        and one.epsilons.tolist() == balanced.epsilons.tolist()
    ]
    if same:
        return allocations, reference or same[0]
    name = EVEN if EVEN not in allocations else f"{EVEN} of the problem"
    return {name: balanced, **allocations}, reference or name


def _domains(allocation: Allocation) -> list[object]:
    return [attribute.domain.identity for attribute in allocation.question.attributes]


def _compared(name: str, allocation: Allocation, reference: Allocation) -> ComparedSplit:
    problem = allocation.question
    value, before = allocation.objective.value, reference.objective.value
    ratio = value / before if value is not None and before else None
    better = None if ratio is None else (1.0 - ratio if problem.objective in MINIMIZED else ratio - 1.0)
    largest = max((one.retention for one in (*allocation.moments, *reference.moments)), default=0.0)
    changes = [
        Change(moment.label, other.retention, moment.retention)
        for moment, other in zip(allocation.moments, reference.moments, strict=True)
        if abs(moment.retention - other.retention) > max(SAME * other.retention, SEEN * largest)
    ]
    return ComparedSplit(
        name=name,
        allocation=allocation,
        value=value,
        ratio=ratio,
        better=better,
        broken=broken_constraints(allocation, problem),
        gains=tuple(sorted((one for one in changes if one.ratio > 1), key=lambda one: -one.ratio)),
        losses=tuple(sorted((one for one in changes if one.ratio < 1), key=lambda one: one.ratio)),
    )


def _moments(problem: Problem, allocations: tuple[Allocation, ...]) -> tuple[ComparedMoment, ...]:
    columns = [[allocation.moments[k] for allocation in allocations] for k in range(len(problem.moments))]
    return tuple(
        ComparedMoment(
            attributes=stated.attributes,
            label=stated.label,
            weight=stated.weight,
            floor=stated.floor,
            ceiling=stated.ceiling,
            level=stated.level,
            retentions=tuple(moment.retention for moment in column),
            variance_inflations=tuple(moment.variance_inflation for moment in column),
            variance_basis=column[0].variance_basis,
        )
        for stated, column in zip(problem.moments, columns, strict=True)
    )


def _cautions(problem: Problem, allocations: Mapping[str, Allocation]) -> list[str]:
    """Other totals, and levels, of which the objective counts the first alone."""
    found = []
    spent = {name: allocation.spent_epsilon for name, allocation in allocations.items()}
    least, most = min(spent.values()), max(spent.values())
    if problem.objective != "min_epsilon" and most - least > _TOTALS * most:
        listed = ", ".join(f"{name} {total:.6g}" for name, total in spent.items())
        found.append(f"the splits spend different totals of epsilon, so that more is no merit: {listed}")
    clusters = {name: allocation.question.block_names for name, allocation in allocations.items()}
    if len(set(clusters.values())) > 1:
        listed = "; ".join(f"{name}: {in_words(allocation)}" for name, allocation in allocations.items())
        found.append(
            f"the splits randomize other attributes together ({listed}). A cluster has one epsilon, which "
            "counts once and which a change of any one member costs whole; the retention of a moment with "
            "two of its members is the factor on the function of the cluster"
        )
    if len(problem.levels) > 1:
        found.append(f"the objective is that of level {problem.levels[0]}, the first of the moments' levels")
    return found


def _origins(problem: Problem, splits: Mapping[str, Any], *, known: bool) -> list[str]:
    """Allocations of other problems, and pins and bounds that no allocation file carries."""
    found = []
    made = {name: split for name, split in splits.items() if isinstance(split, Allocation)}
    first = problem.sha256 if known else next(iter(made.values())).problem_sha256
    whole = problem.sha256 == first
    others = [
        name
        for name, split in made.items()
        if split.problem_sha256 != (_with_its_own(problem, split).sha256 if whole else first)
    ]
    if others:
        verb = "was" if len(others) == 1 else "were"
        found.append(f"{', '.join(others)} {verb} made from another problem, and judged here by this one")
    if not known and problem.sha256 != first:
        found.append(
            "an allocation file carries no pins or bounds of attributes: without the problem, constraints "
            "are judged as if there were none, and the even split is made so"
        )
    return found
