"""The arguments of `bo.design`, checked on entry, and the choices that they leave."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.api.arguments import require, require_gap, require_number
from budget_opt.errors import InputError
from budget_opt.estimators.strengths.result import Strengths
from budget_opt.model.problem import Problem
from budget_opt.model.values import MAX_CELLS

if TYPE_CHECKING:
    from budget_opt.certificate.partitions.choice import Choice, Partition
    from budget_opt.certificate.partitions.variants import Groupings

LARGEST_CELLS = 10**6

Dependence = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Asked:
    """What is to be designed, as it was asked."""

    problem: Problem
    max_cells: int
    gap: float
    time_limit: float | None
    dependence: Dependence | None
    n: float | None

    def variants(self) -> tuple[tuple[Problem, Groupings], ...]:
        """The problem, to be clustered, under every combination of candidate groupings that it admits.

        The first is the problem's own.
        """
        from budget_opt.certificate.partitions.variants import MOST_GROUPINGS, candidates, variants

        count = math.prod(candidates(self.problem).values())
        if count > MOST_GROUPINGS:
            each = " x ".join(f"{number} of {name}" for name, number in candidates(self.problem).items())
            raise InputError(
                f"groupings: {count:,} combinations ({each}, the declared categories among them), and "
                f"{MOST_GROUPINGS} are tried at most. Give fewer candidates; or take groupings off some "
                "attributes, design, keep what is chosen, and let those choose next (no bound holds for all)."
            )
        return variants(self.problem, self.max_cells)


def asked(
    problem: Problem,
    max_cells: int | None,
    gap: float,
    time_limit: float | None,
    dependence: Dependence | Strengths | None,
    n: float | None,
) -> Asked:
    """The arguments, each within its range; raises `InputError`."""
    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    if problem.total_delta > 0:
        raise InputError(
            f"total_delta: is {problem.total_delta!r}, and no bound over all partitions is known for it: how "
            "far the epsilons may sum to depends on the partition. Design with the sum, and solve what it "
            "chose with the delta: bo.solve(bo.design(problem.with_fields(total_delta=0)).problem."
            f"with_fields(total_delta={problem.total_delta!r})). A split whose sum keeps the total keeps it "
            "with every delta."
        )
    known = [one.name for one in problem.attributes if one.source is not None]
    if known:
        raise InputError(
            f"design: {', '.join(known)} has a source, and is randomized alone by a matrix of its own. "
            "Design the problem without it and with its epsilon taken off the total, then add it again."
        )
    if time_limit is not None:
        time_limit = require_number(time_limit, "time_limit")
        if not 0 < time_limit < math.inf:
            raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds, or None.")
    if n is not None:
        n = require_number(n, "n")
        if not 1 <= n < math.inf:
            raise InputError(f"n: is {n!r}, must be a number of records, at least 1.")
    cells = _cells(problem, max_cells)
    return Asked(problem, cells, require_gap(gap), time_limit, _pairs(problem, dependence), n)


def _cells(problem: Problem, given: object) -> int:
    if given is None:
        return MAX_CELLS if problem.max_cells is None else problem.max_cells
    if isinstance(given, bool) or not isinstance(given, int) or not 4 <= given <= LARGEST_CELLS:
        raise InputError(
            f"max_cells: is {given!r}, must be a whole number from 4 to {LARGEST_CELLS:,}: the most joint "
            "categories of a cluster."
        )
    return given


def _pairs(problem: Problem, given: Dependence | Strengths | None) -> Dependence | None:
    if given is None:
        return None
    pairs: Mapping[Any, Any] = given.strengths if isinstance(given, Strengths) else given
    require(pairs, Mapping, "dependence", 'Give numbers by pairs of names: {("income", "age"): 0.4, ...}.')
    found = {}
    for names, number in pairs.items():
        if not isinstance(names, tuple) or not set(names) <= set(problem.names):
            raise InputError(
                f"dependence: {names!r} is not a pair of the problem's attributes {problem.names}."
            )
        if len(names) != 2:
            if isinstance(given, Strengths):
                continue  # a strength of three attributes says nothing about a pair of them
            raise InputError(f"dependence: {names!r} must be two names. Give the dependence of pairs.")
        strength = require_number(number, f"dependence[{names!r}]")
        if not 0 <= strength < math.inf:
            raise InputError(f"dependence[{names!r}]: is {number!r}, must be a number >= 0.")
        found[names[0], names[1]] = strength
    return found


def stated_partition(choice: Choice, problem: Problem) -> Partition | None:
    """The clusters that the problem states, if any; raises `InputError` where one has too many cells."""
    if problem.clusters == "auto" or not problem.clusters:
        return None
    partition = choice.partition_of(problem.clusters)
    if not all(choice.admits(block) for block in partition):
        raise InputError(
            f"max_cells: is {choice.max_cells}, and a cluster of the problem has more joint categories. "
            "Raise max_cells, or take the cluster out of the problem."
        )
    return partition


def dependence_of(choice: Choice, given: Dependence | None) -> tuple[Partition, str]:
    """The clusters by dependence, and in words what they are made from."""
    from budget_opt.solvers.partitions.dependence import LEAST, by_dependence, from_pairs, from_weights

    if given is None:
        basis = (
            "the weights of the moments that pairs of attributes take part in, as no dependences were given"
        )
        return by_dependence(choice, from_weights(choice), 0.0), basis
    basis = f"the dependences that were given, {LEAST} at least; the choice itself does not rest on them"
    return by_dependence(choice, from_pairs(choice, given), LEAST), basis
