"""Whether an allocation is the answer to its problem, and what cannot be told without that problem."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping, Sequence

from budget_opt.allocation import Allocation
from budget_opt.mechanisms.exact import exact
from budget_opt.model.problem import Problem
from budget_opt.tables.source import listed
from budget_opt.verifier.outcome import stated_bound
from budget_opt.verifier.pricing import states_prices
from budget_opt.verifier.report import EXPECTED, Check, Open

_NAMED = 5
"""Differences that are listed; of more their number."""
_BOUNDS = ("epsilon", "epsilon_min", "epsilon_max", "distortion_max", "groupings")


def coherence_check(allocation: Allocation) -> Check:
    """The attributes and moments that have results are those that are declared."""
    question = allocation.question
    same = tuple(block.block for block in allocation.blocks) == question.blocks
    same = same and tuple(moment.stated for moment in allocation.moments) == question.moments
    return Check(
        claim="the results are those of the declared attributes and moments",
        measured="same" if same else f"different: {_other_results(allocation)}",
        limit="same",
        holds=same,
        source="both parts of the allocation",
        name="coherence",
        word=EXPECTED,
    )


def _other_results(allocation: Allocation) -> str:
    """Names of what has other results than are declared, or in another order."""
    question = allocation.question
    blocks = {one.name: one.block for one in allocation.blocks}, {one.name: one for one in question.blocks}
    moments = {one.label: one.stated for one in allocation.moments}, {m.label: m for m in question.moments}
    other = [
        name
        for results, declared in (blocks, moments)
        for name in dict.fromkeys((*results, *declared))
        if results.get(name) != declared.get(name)
    ]
    return listed(other, _NAMED) if other else "their number or order"


def question_checks(allocation: Allocation, problem: Problem) -> Iterator[Check]:
    """The problem's hash, everything that the allocation repeats of it, and the bounds that it does not."""
    yield Check(
        claim="the allocation was made from this problem",
        measured=allocation.problem_sha256[:12],
        limit=problem.sha256[:12],
        holds=allocation.problem_sha256 == problem.sha256,
        source="SHA-256 of the problem",
        name="problem hash",
        word=EXPECTED,
    )
    other = list(_differing(_without_bounds(allocation.question), _without_bounds(problem)))
    yield Check(
        claim="the allocation states the problem's attributes, moments, groups and columns",
        measured=_told([(path, stated) for path, stated, _ in other]) if other else "same",
        limit=_told([(path, asked) for path, _, asked in other]) if other else "same",
        holds=not other,
        source="comparison of both files",
        name="question",
        word=EXPECTED,
    )
    yield from bound_of_attribute_checks(allocation, problem)


def _told(differing: Sequence[tuple[str, object]]) -> str:
    """The first few places of a document, and what it says there."""
    more = f" and {len(differing) - _NAMED:,} more" if len(differing) > _NAMED else ""
    return ", ".join(f"{path} {reprlib.repr(value)}" for path, value in differing[:_NAMED]) + more


def _differing(one: object, other: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Where two documents differ, and what either says there; None where it says nothing."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in dict.fromkeys((*one, *other)):
            where = f"{path}.{name}" if path else str(name)
            yield from _differing(one.get(name), other.get(name), where)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, both in enumerate(zip(one, other, strict=True)):
            yield from _differing(*both, f"{path}[{i}]")
    elif one != other:
        yield path, one, other


def bound_of_attribute_checks(allocation: Allocation, problem: Problem) -> Iterator[Check]:
    """Every pin, minimum and maximum of a single attribute, on the decimals."""
    declared = {attribute.name: attribute for attribute in problem.attributes}
    for attribute in allocation.attributes:
        if attribute.name not in declared:
            continue
        low, high = declared[attribute.name].lower, declared[attribute.name].upper
        if low == 0 and high == float("inf"):
            continue
        epsilon = exact(attribute.epsilon)
        above = high < float("inf") and epsilon > exact(high)
        yield Check(
            claim=f"bounds of {attribute.name}",
            measured=attribute.epsilon,
            limit=f"{low!r} to {high!r}",
            holds=epsilon >= exact(low) and not above,
            source="pin, epsilon_min and epsilon_max of the problem",
            name="bounds",
            about=(attribute.name,),
        )


def _without_bounds(question: Problem) -> dict[str, object]:
    """The question without what an allocation does not carry: bounds of single attributes, `max_cells`."""
    document = {name: value for name, value in question.to_dict().items() if name != "max_cells"}
    attributes = [
        {name: value for name, value in attribute.items() if name not in _BOUNDS}
        for attribute in document["attributes"]
    ]
    return {**document, "attributes": attributes}


def unconfirmed_without_problem(allocation: Allocation) -> str:
    """What a file says of its problem and only that problem can confirm."""
    names = ["name", "total", "categories and scores of the attributes", "weights, floors and ceilings"]
    question = allocation.question
    names += ["groups"] * bool(question.groups) + ["clusters"] * bool(question.clusters)
    names += ["public and dropped columns", "row order", "unit and waves", "provenance"]
    told = f"not confirmed without the problem: {', '.join(names)}"
    if question.sha256 != allocation.problem_sha256:
        return told
    return f"{told}; what the file repeats of it has the stated hash, but whoever changes one can change both"


def open_without_problem(allocation: Allocation) -> Iterator[Open]:
    """What cannot be decided where the question in the file is not the one that its hash is of."""
    if allocation.question.sha256 == allocation.problem_sha256:
        return
    yield Open(
        "the question in this file",
        "is not the whole question that its hash is of. That is no fault where the problem has pins, minima, "
        "maxima, distortion_max or candidate groupings of attributes, or max_cells: no allocation carries "
        "these. Whether nothing else is missing or changed, the problem tells (--problem); the checks above "
        "are of what the file itself states",
    )
    if allocation.objective.bound is not None:
        yield Open(
            stated_bound(allocation),
            "is not confirmed: it cannot be evaluated without the problem (--problem)",
        )
    if states_prices(allocation):
        yield Open("the prices", "are not confirmed: they cannot be judged without the problem (--problem)")
