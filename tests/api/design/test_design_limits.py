"""A design under a time limit: it keeps what it found, and is no worse than anything that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.api.design import splitting
from budget_opt.api.design.result import ALONE, CHOSEN, DEPENDENCE
from budget_opt.certificate.partitions.choice import Choice, admissible
from budget_opt.certificate.partitions.listing import listed
from budget_opt.certificate.partitions.trivial import trivial_bound
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import value
from budget_opt.solvers.answer import Clock, OutOfTimeError, Report
from budget_opt.solvers.partitions import search
from budget_opt.solvers.partitions.search import PartitionSearch


def pairs(size: int, objective: str, **fields: Any) -> bo.Problem:
    """Attributes of 2 to 5 categories, and twice as many pairs of them with weights from 0.2 to 3."""
    rng = np.random.default_rng(size)
    attributes = [bo.Attribute(f"a{i}", categories=int(rng.integers(2, 6))) for i in range(size)]
    found: set[tuple[int, ...]] = set()
    while len(found) < 2 * size:
        found.add(tuple(sorted(map(int, rng.choice(size, 2, replace=False)))))
    moments = [
        bo.CrossMoment(f"a{i}", f"a{j}", weight=round(float(rng.uniform(0.2, 3)), 2))
        for i, j in sorted(found)
    ]
    return bo.Problem(
        **{
            "attributes": attributes,
            "moments": moments,
            "total_epsilon": size / 2,
            "objective": objective,
            **fields,
        }
    )


def loses_nothing(problem: bo.Problem, limit: float, **asked: Any) -> None:
    """No worse than any row of its own table, nor than the best that progress was told."""
    told: list[Report] = []
    design = bo.design(problem, time_limit=limit, progress=told.append, **asked)
    shown = [one.value for one in design.alternatives if one.keeps_all]
    shown += [one.value for one in told]
    sign = -1.0 if problem.objective in MINIMIZED else 1.0
    scores = [sign * one for one in shown if one is not None]
    assert design.value is not None
    assert sign * design.value >= max(scores) - 1e-6 * abs(max(scores))
    bo.verify(design.allocation, problem=design.problem).require()


@pytest.mark.parametrize(
    ("size", "objective", "limit"),
    [
        (14, "weighted_sum", 0.001),
        (14, "weighted_sum", 0.3),
        (12, "min_variance", 0.05),
        (10, "max_min", 0.2),
    ],
)
def test_a_limited_design_is_no_worse_than_anything_that_it_shows(
    size: int, objective: str, limit: float
) -> None:
    loses_nothing(pairs(size, objective), limit)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "objective", "limit"),
    [(14, "weighted_sum", 0.05), (10, "weighted_sum", 2.0), (14, "min_variance", 0.5)],
)
def test_no_limited_design_is_worse_than_anything_that_it_shows(
    size: int, objective: str, limit: float
) -> None:
    loses_nothing(pairs(size, objective), limit)


def test_a_limited_design_with_candidate_groupings_loses_nothing() -> None:
    halves = bo.Attribute("a0", categories=4, groupings=[[[0, 1], [2, 3]], [[0], [1], [2, 3]]])
    stated = pairs(10, "weighted_sum")
    loses_nothing(stated.with_fields(attributes=[halves, *stated.attributes[1:]]), 0.1)


def test_what_the_search_found_is_the_answer_where_no_solve_finds_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(*_: object) -> None:
        raise NotSolvedError("no split within the time limit.")

    told: list[Report] = []
    monkeypatch.setattr(splitting, "found", nothing)
    design = bo.design(pairs(6, "min_variance"), progress=told.append)
    assert design.value == pytest.approx(min(one.value for one in told if one.value is not None))
    assert design.allocation.objective.solver == "search for clusters"
    assert design.allocation.objective.bound is not None


def test_a_solve_that_ends_early_is_no_worse_than_the_even_split() -> None:
    problem = pairs(6, "weighted_sum").with_clusters([])
    terms = splitting.Terms(gap=1e-6, time_limit=1e-9)
    allocation = splitting.best_allocation(problem, terms)
    even = bo.uniform(problem).objective.value
    assert even is not None
    assert allocation.objective.value is not None
    assert allocation.objective.value >= even * (1 - 1e-9)


def test_clusters_by_weights_may_be_chosen_and_those_by_a_given_dependence_may_not() -> None:
    problem, none = pairs(14, "weighted_sum"), {("a0", "a1"): 0.5}
    by_weights = bo.design(problem, time_limit=1e-3)
    assert by_weights[CHOSEN].value == pytest.approx(max(row["value"] for row in by_weights.rows()))
    given = bo.design(problem, time_limit=1e-3, dependence=none)
    assert given[DEPENDENCE].clusters == (("a0", "a1"),)
    assert given[CHOSEN].clusters != given[DEPENDENCE].clusters
    assert given[CHOSEN].value == pytest.approx(given[ALONE].value)


@pytest.mark.parametrize("objective", ["weighted_sum", "min_variance"])
def test_a_search_whose_time_is_over_has_a_split_and_a_bound_and_looks_no_further(objective: str) -> None:
    choice = Choice.of(pairs(8, objective).with_fields(clusters="auto", max_cells=64), 64)
    found = PartitionSearch(choice, 1e-6, Clock(1e-9)).run([choice.alone])
    assert found.best.epsilon is not None
    assert (found.solved, found.listed) == (1, None)
    assert found.bound == trivial_bound(choice) >= found.best.score
    assert value(choice.arrays(choice.alone), found.best.epsilon) > 0


def test_a_list_of_partitions_ends_at_the_limit_and_before_it_is_too_long() -> None:
    choice = Choice.of(pairs(12, "max_min").with_fields(clusters="auto", max_cells=64), 64)
    looked: list[int] = []

    def check() -> None:
        looked.append(1)
        if len(looked) > 5:
            raise OutOfTimeError

    blocks: Sequence[tuple[int, ...]] = admissible(choice, 20_000) or ()
    with pytest.raises(OutOfTimeError):
        listed(blocks, 12, 10**6, check=check)
    with pytest.raises(OutOfTimeError):
        admissible(choice, 20_000, check)


def test_a_proof_that_may_solve_nothing_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_PROVED", 0)
    choice = Choice.of(pairs(5, "weighted_sum").with_fields(clusters="auto", max_cells=64), 64)
    found = PartitionSearch(choice, 1e-6, Clock(None)).run([choice.alone])
    assert found.listed is not None
    assert found.bound > found.best.score + 1e-3
