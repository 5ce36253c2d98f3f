"""What must hold across the parts of a problem: names, columns, distortions, budgets in exact decimals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from budget_opt.errors import MISSING, Fault
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.arrays import TOTAL
from budget_opt.model.clusters.block import Block
from budget_opt.model.parts import nearest

if TYPE_CHECKING:
    from budget_opt.model.problem import Problem


def problem_faults(problem: Problem) -> list[Fault]:
    """Every fault between the parts of a problem whose parts are valid themselves, but for its budgets."""
    return [
        *_count_faults(problem),
        *_name_faults(problem),
        *_unit_faults(problem),
        *_survey_faults(problem),
        *_total_faults(problem),
    ]


def _count_faults(problem: Problem) -> list[Fault]:
    if problem.attributes:
        return []
    return [Fault("attributes", [], "must list at least one attribute", "Add the attributes to release.")]


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _name_faults(problem: Problem) -> list[Fault]:
    columns = {
        "attributes": problem.names,
        "public": tuple(column.name for column in problem.public),
        "dropped": problem.dropped,
    }
    faults = [
        Fault(field, name, "is listed twice", "Remove one.")
        for field, names in columns.items()
        for name in _repeated(names)
    ]
    across = _repeated(name for names in columns.values() for name in sorted(set(names)))
    faults += [
        Fault("attributes, public, dropped", name, "may be in only one of these lists", "Remove the others.")
        for name in across
    ]
    groups = [group.name for group in problem.groups]
    faults += [
        Fault("groups", name, "is the name of two groups", "Rename one.") for name in _repeated(groups)
    ]
    if TOTAL in groups:
        faults.append(Fault("groups", TOTAL, "is the name of the total budget", "Rename the group."))
    return faults


def _unit_faults(problem: Problem) -> list[Fault]:
    """The column of persons must be there to be read, and be no attribute: it says whose record it is."""
    column = problem.unit.id
    beside = (*problem.dropped, *(public.name for public in problem.public))
    if column is None or column in beside:
        return []
    limit = "must be listed under dropped, or under public"
    return [Fault("unit.id", column, limit, "List it under dropped; it names people, and is not released.")]


def _survey_faults(problem: Problem) -> list[Fault]:
    """The column of weights must be in the release, as it is."""
    weight = None if problem.survey is None else problem.survey.weight
    if weight is None or weight in {column.name for column in problem.public}:
        return []
    remedy = "List it there with the reason why it reveals nothing; analysts need it as it is."
    return [Fault("survey.weight", weight, "must be listed under public", remedy)]


def reference_faults(field: str, lists: Iterable[Sequence[str]], known: Sequence[str]) -> list[Fault]:
    """Names in the `attributes` of the parts of `field`, a list a part, that are no attribute's."""
    found = dict.fromkeys(known)  # a hundred thousand moments ask it
    return [
        fault
        for i, names in enumerate(lists)
        for fault in unknown_names(f"{field}[{i}].attributes", names, found)
    ]


def unknown_names(where: str, names: Iterable[str], known: Collection[str]) -> list[Fault]:
    """A fault at `where` for every name that is no attribute's, with the one that may be meant."""
    faults = []
    for name in names:
        if name not in known:
            near = nearest(name, known)
            hint = f'Did you mean "{near}"?' if near else f"Attributes are {', '.join(known)}."
            faults.append(Fault(where, name, "is not an attribute", hint))
    return faults


def _total_faults(problem: Problem) -> list[Fault]:
    faults = []
    if problem.total_epsilon is None and problem.objective != "min_epsilon":
        faults.append(
            Fault(
                TOTAL,
                MISSING,
                "is required by every objective but min_epsilon",
                "State the budget of one record in nats, for instance 2.0.",
            )
        )
    if problem.total_delta > 0 and problem.objective == "min_epsilon":
        limit = "has no meaning for min_epsilon, which finds the least sum of epsilons"
        faults.append(Fault("total_delta", problem.total_delta, limit, "Remove the field."))
    weighted = any(moment.weight > 0 for moment in problem.moments)
    if problem.objective == "min_epsilon":
        faults += [
            Fault(
                f"moments ({moment.label}).level",
                moment.level,
                "has no meaning for min_epsilon, which weighs nothing",
                "Remove the field; every floor is kept.",
            )
            for moment in problem.moments
            if moment.level > 1
        ]
        if not any(moment.floor for moment in problem.moments):
            faults.append(
                Fault(
                    "objective",
                    "min_epsilon",
                    "needs at least one floor",
                    "State the least retention of the moments that matter.",
                )
            )
    elif not weighted:
        faults.append(
            Fault(
                "moments",
                [moment.label for moment in problem.moments],
                f"must have a weight above 0 somewhere for {problem.objective}",
                "List the moments that matter.",
            )
        )
    return faults


def _known_blocks(problem: Problem) -> Sequence[Block]:
    """The blocks; none while clusters are to be chosen, as nothing is known that all choices need."""
    return () if problem.clusters == "auto" else problem.blocks


def distortion_faults(problem: Problem) -> list[Fault]:
    """A `distortion_max` that needs more epsilon than the pins and maxima of its block allow."""
    faults = []
    for block in _known_blocks(problem):
        if block.lower_of_distortion <= block.upper:
            continue
        tightest = next(one for one in block.members if one.least_retention == block.least_retention)
        together = f" of {block.name}" if block.is_cluster else ""
        faults.append(
            Fault(
                f"attributes ({tightest.name}).distortion_max",
                tightest.distortion_max,
                f"needs an epsilon{together} of at least {block.lower_of_distortion!r}, and pins or maxima "
                f"allow {block.upper!r}",
                "Raise it, or allow more epsilon.",
            )
        )
    return faults


def _reasons(blocks: Sequence[Block]) -> str:
    """Why these blocks need what they need."""
    distorted = any(
        block.most_distorted is not None or (block.source is not None and block.members[0].epsilon is None)
        for block in blocks
    )
    return "pins, minima and distortion_max" if distorted else "pins and minima"


def budget_faults(problem: Problem) -> list[Fault]:
    """Pins and minima against the total and the groups; the rest is for the solver to judge."""
    least = [(block, exact(block.lower)) for block in _known_blocks(problem) if block.lower > 0]
    faults = []
    for name, members, cap in problem.budgets():
        if name == TOTAL and problem.total_delta > 0:
            continue
        inside = [(block, lower) for block, lower in least if not set(block.names).isdisjoint(members)]
        needed = sum((lower for _, lower in inside), Fraction(0))
        if needed > cap:
            where = TOTAL if name == TOTAL else f'groups["{name}"].epsilon_max'
            pinned = [block.name for block, _ in inside]
            faults.append(
                Fault(
                    where,
                    float_at_least(cap),
                    f"{_reasons([block for block, _ in inside])} of {', '.join(pinned)} need "
                    f"{float_at_least(needed)!r}",
                    "Raise it, or lower them.",
                )
            )
    return faults
