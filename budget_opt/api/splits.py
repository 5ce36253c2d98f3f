"""Splits of a budget as users have them: allocations, or epsilons by name; and what they break."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.allocation import Allocation, Statement, allocation_from
from budget_opt.allocation.build import assemble
from budget_opt.allocation.designed import GIVE_THE_DESIGNED, as_designed, leaves_open
from budget_opt.api.arguments import require
from budget_opt.api.comparing.groupings import merged_otherwise
from budget_opt.api.wording import listed
from budget_opt.errors import InputError
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.verifier.report import Check


@dataclass(frozen=True)
class Broken:
    """A constraint that the split breaks: its name, what the split has there, and by how much it is off."""

    constraint: str
    measured: float
    limit: str
    off_by: float

    def __str__(self) -> str:
        return f"{self.constraint}: {self.measured:.9g}, limit {self.limit}, off by {self.off_by:.3g}"


def read_split(path: str | Path) -> Allocation | dict[str, Any]:
    """The split in a file: an allocation, or an object of epsilons by name, in JSON or YAML."""
    from budget_opt.model.documents import read_mapping

    document = read_mapping(path, InputError)
    return Allocation.read(path) if "format" in document else document


def taken(problem: Problem, split: Allocation | Mapping[str, Any], name: str = "split") -> Allocation:
    """The split as an allocation of this problem, judged by its objective; an allocation keeps its samplers.

    `name` is the argument's, for errors. Raises `InputError` for a split of other attributes or clusters.
    """
    if not isinstance(split, Allocation):
        if not isinstance(split, Mapping):
            raise InputError(
                f"{name}: is a {type(split).__name__}, must be an Allocation or epsilons by name. "
                'Give it as {"income": 1.5, ...}.'
            )
        return allocation_from(problem, split)
    stated = {attribute.name: attribute for attribute in split.attributes}
    _require_same_attributes(problem, split, name)
    others = [
        one.name
        for one in problem.attributes
        if one.background_weights != stated[one.name].declared.background_weights
    ]
    sources = [one.name for one in problem.attributes if one.source != stated[one.name].declared.source]
    if sources:
        raise InputError(
            f"{name}: has matrices of other sources for {listed(sources)} than the problem. Give the problem "
            "the same sources, or epsilons by name."
        )
    if others:
        raise InputError(
            f"{name}: draws replaced cells of {listed(others)} from another background than the problem. "
            "Give the problem the same background, or compare, which judges each split with its own."
        )
    blocks = {block.names: block for block in split.blocks}
    if set(blocks) != {block.names for block in problem.blocks}:
        raise InputError(
            f"{name}: randomizes {in_words(split)}, the problem {in_words(problem)}. Give the problem these "
            "clusters: problem.with_clusters(allocation.question.clusters)."
        )
    in_order = [blocks[block.names] for block in problem.blocks]
    epsilons = np.array([block.epsilon for block in in_order])
    statement = Statement(solver=split.objective.solver, seconds=split.objective.seconds)
    return assemble(problem, epsilons, [block.sampler for block in in_order], statement)


def _require_same_attributes(problem: Problem, split: Allocation, name: str) -> None:
    """`InputError` for a split of other attributes, or of other categories by number or by grouping."""
    asked = {attribute.name: attribute.cardinality for attribute in problem.attributes}
    stated = {attribute.name: attribute.cardinality for attribute in split.attributes}
    way_out = "Give an allocation of this problem, or epsilons by name."
    if set(asked) != set(stated):
        more = [f"{known}, which the problem has not" for known in stated if known not in asked]
        less = [f"no {known}" for known in asked if known not in stated]
        raise InputError(f"{name}: has other attributes than the problem: {listed(more + less)}. {way_out}")
    differing = [known for known in asked if asked[known] != stated[known]]
    if differing:
        sizes = [f"{known} ({stated[known]:,}, the problem's {asked[known]:,})" for known in differing]
        raise InputError(
            f"{name}: releases other numbers of categories than the problem: {listed(sizes)}. {way_out} "
            "Where they differ by groupings, compare judges each split with its own."
        )
    others = merged_otherwise(problem, split)
    if others:
        raise InputError(
            f"{name}: merges the categories of {listed(others)} otherwise than the problem. {way_out} "
            "compare judges each split with its own."
        )


def in_words(of: Problem | Allocation) -> str:
    """What is randomized together: "smoker + income together", or "every attribute alone"."""
    clusters = [block.name for block in of.blocks if block.is_cluster]
    return f"{listed(clusters)} together" if clusters else "every attribute alone"


def question_of(allocation: Allocation, problem: Problem | None) -> Problem:
    """The whole problem that an allocation was made from: `problem`, or the one that it carries itself.

    What `problem` leaves to `design` is as the allocation chose it.
    Raises `InputError` for another problem, and where a file was read that leaves pins and bounds out.
    """
    if problem is None:
        if allocation.question.sha256 == allocation.problem_sha256:
            return allocation.question
        raise InputError(
            "problem: is needed, as an allocation file carries no pins or bounds of attributes. "
            "Give the problem that the allocation was made from."
        )
    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    question = as_designed(problem, allocation)
    if allocation.problem_sha256 != question.sha256:
        why = f" Perhaps {GIVE_THE_DESIGNED}." if leaves_open(problem) else ""
        raise InputError(f"problem: is not the one that the allocation was made from. Give that one.{why}")
    return question


def broken_constraints(allocation: Allocation, problem: Problem) -> tuple[Broken, ...]:
    """Every constraint of the problem that the split breaks, exactly."""
    from budget_opt.verifier.static import constraint_checks

    checks = constraint_checks(allocation, problem)
    return tuple(_as_broken(check, problem) for check in checks if not check.holds)


def _as_broken(check: Check, problem: Problem) -> Broken:
    measured = float(check.measured or 0.0)
    if isinstance(check.limit, float):
        return Broken(check.claim, measured, f"{check.limit!r}", abs(measured - check.limit))
    attribute = problem.attribute(check.about[0])
    off_by = max(attribute.lower - measured, measured - attribute.upper)
    return Broken(check.claim, measured, str(check.limit), off_by)
