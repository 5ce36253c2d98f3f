"""The questions that a problem with candidate groupings stands for: one a combination, clusters open."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from budget_opt.errors import ProblemError
from budget_opt.model.groupings.grouping import Grouping
from budget_opt.model.problem import Problem

Groupings = Mapping[str, Grouping | None]

MOST_GROUPINGS = 64
"""Combinations of candidate groupings that are tried, at most."""


def candidates(problem: Problem) -> dict[str, int]:
    """How many groupings each attribute has to choose from, the declared categories among them."""
    return {name: len(of_one) for name, of_one in _options(problem).items()}


def variants(problem: Problem, max_cells: int) -> tuple[tuple[Problem, Groupings], ...]:
    """The problem, to be clustered, under every combination of candidate groupings that it admits.

    The first is the problem's own.
    """
    options = _options(problem)
    found = []
    for combination in itertools.product(*options.values()):
        chosen = dict(zip(options, combination, strict=True))
        try:
            found.append((_grouped(problem, max_cells, chosen), chosen))
        except ProblemError:
            continue  # it leaves less of a moment than its floor asks for
    return tuple(found)


def _options(problem: Problem) -> dict[str, tuple[Grouping | None, ...]]:
    return {
        one.name: tuple(dict.fromkeys([one.grouping, None, *one.groupings]))
        for one in problem.attributes
        if one.groupings
    }


def _grouped(problem: Problem, max_cells: int, chosen: Groupings) -> Problem:
    open_ = problem.with_fields(clusters="auto", max_cells=max_cells)
    for name, grouping in chosen.items():
        if open_.attribute(name).grouping != grouping:
            open_ = open_.with_grouping(name, grouping)
    return open_
