"""Lexicographic priorities: what a level loses, what the next one gains, and what is proved of both."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.allocation.rounding import fitted
from budget_opt.errors import NotSolvedError, ProblemError
from budget_opt.model.arrays import MINIMIZED, FloatArray, Objective
from budget_opt.model.objectives import relative_gap, value
from budget_opt.solvers import table
from budget_opt.solvers.answer import Candidate, Settings
from budget_opt.solvers.levels.delta import Search
from budget_opt.solvers.levels.kept import Kept
from budget_opt.solvers.levels.weights import Sum, next_level
from tests.solvers.random_problems import broken, random_split

CONVEX: tuple[Objective, ...] = ("geometric_mean", "max_min", "min_variance")
WITH_LEVELS: tuple[Objective, ...] = (*CONVEX, "weighted_sum")
TOLERANCE, DEFAULT = 0.02, 1e-3

ATTRIBUTES = [bo.Attribute(name, categories=r) for name, r in zip("abcde", (2, 5, 3, 7, 4), strict=True)]
HEALTH = [bo.CrossMoment("a", "b", weight=3), bo.CrossMoment("a", "c", weight=2)]
REST = [bo.CrossMoment("b", "c"), bo.CrossMoment("a", "d", weight=2), bo.CrossMoment("c", "d", floor=0.02)]
LAST = [bo.CrossMoment("b", "e")]


def at(level: int, moments: list[bo.CrossMoment]) -> list[bo.CrossMoment]:
    return [moment.with_fields(level=level) for moment in moments]


def problem(objective: Objective, *levels: list[bo.CrossMoment], **fields: Any) -> bo.Problem:
    moments = [moment for number, level in enumerate(levels, start=1) for moment in at(number, level)]
    return bo.Problem(
        attributes=ATTRIBUTES, moments=moments, total_epsilon=6.0, objective=objective, **fields
    )


@cache
def two_levels(objective: Objective, tolerance: float = TOLERANCE) -> bo.Allocation:
    """The split for the first and the second level."""
    return bo.solve(problem(objective, HEALTH, REST), level_tolerance=tolerance)


def others(question: bo.Problem, around: FloatArray) -> Iterator[FloatArray]:
    """Feasible splits, some near the one at hand, or on the way to the best one of the first level."""
    arrays, rng = question.arrays, np.random.default_rng(20261129)
    best = table.solve(arrays, Settings(time_limit=2)).epsilon
    for scale in (1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0):
        for _ in range(300):
            towards = around + rng.random() * (best - around)
            mixed = fitted(arrays, (1 - scale) * towards + scale * random_split(arrays, rng))
            if not broken(arrays, mixed):
                yield mixed


def loses(question: bo.Problem, level: int, split: FloatArray, than: FloatArray) -> bool:
    """True where a split is worse on a level than another."""
    first, second = (value(question.arrays_of_level(level), one) for one in (split, than))
    return first > second if question.objective in MINIMIZED else first < second


@pytest.mark.parametrize("objective", [*CONVEX, pytest.param("weighted_sum", marks=pytest.mark.slow)])
def test_the_first_level_is_kept_to_the_tolerance_and_the_second_gains_by_it(objective: Objective) -> None:
    alone = bo.solve(problem(objective, HEALTH, [one.with_fields(weight=0) for one in REST]))
    both = problem(objective, HEALTH, REST)
    found = two_levels(objective)
    best, kept = alone.objective.bound, found.objective
    assert best is not None
    assert kept.value is not None
    assert relative_gap(kept.value, best) <= TOLERANCE * (1 + 1e-6)
    assert kept.status == "optimal"
    assert kept.gap_tolerance == TOLERANCE
    assert loses(both, 2, alone.epsilons, found.epsilons)
    if objective in CONVEX:
        assert relative_gap(kept.value, best) >= 0.5 * TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("objective", WITH_LEVELS)
def test_no_split_that_keeps_the_first_level_passes_the_bound_of_the_second(objective: Objective) -> None:
    question = problem(objective, HEALTH, REST)
    found = two_levels(objective)
    second = found.levels[1]
    assert second.bound is not None
    assert second.value is not None
    if objective != "weighted_sum":  # whose split is moved beyond what weights reach
        assert relative_gap(second.value, second.bound) <= 1e-4
    kept = 0
    for split in others(question, found.epsilons):
        if objective == "max_min":
            reached = value(question.arrays, split)
            keeps = relative_gap(reached, found.objective.bound or 0.0) <= TOLERANCE
        else:
            keeps = not loses(question, 1, split, found.epsilons)
        if not keeps:
            continue
        kept += 1
        reached = value(question.arrays_of_level(2), split)
        assert reached >= second.bound if objective in MINIMIZED else reached <= second.bound
    assert kept > 100


def test_a_weighted_sum_spends_the_tolerance_too() -> None:
    """With one moment a level all objectives mean the same, and `max_min` is exact."""
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=r) for name, r in (("a", 2), ("b", 5), ("c", 4))],
        moments=[bo.CrossMoment("a", "b", level=1), bo.CrossMoment("b", "c", level=2)],
        total_epsilon=4,
        objective="weighted_sum",
    )
    exact = bo.solve(question.with_objective("max_min"), level_tolerance=0.1).levels[1].value
    found = bo.solve(question, level_tolerance=0.1)
    assert exact is not None
    assert 0.95 * exact <= (found.levels[1].value or 0.0) <= exact * (1 + 1e-6)
    assert (found.objective.relative_gap or 0.0) <= 0.1


@pytest.mark.parametrize("objective", ["max_min", pytest.param("geometric_mean", marks=pytest.mark.slow)])
def test_a_level_that_nothing_can_keep_takes_nothing_from_the_first(objective: Objective) -> None:
    question = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=2),
            bo.Attribute("b", categories=3),
            bo.Attribute("c", categories=4, epsilon=0),
        ],
        moments=[bo.CrossMoment("a", "b", level=1), bo.CrossMoment("b", "c", level=2)],
        total_epsilon=6,
        objective=objective,
    )
    found = bo.solve(question)
    assert [level.value for level in found.levels] == [pytest.approx(0.785275255, rel=1e-3), 0.0]


@pytest.mark.parametrize("tolerance", [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5])
def test_the_tolerance_is_used_and_never_passed_whatever_it_is(tolerance: float) -> None:
    for objective in ("geometric_mean", "min_variance"):
        gap = bo.solve(problem(objective, HEALTH, REST), level_tolerance=tolerance).objective.relative_gap
        assert gap is not None
        assert 0.3 * tolerance <= gap <= tolerance


def test_a_third_level_moves_no_level_before_it_beyond_the_tolerance() -> None:
    for objective in CONVEX:
        question = problem(objective, HEALTH, REST, LAST)
        found = bo.solve(question, level_tolerance=TOLERANCE)
        two = two_levels(objective)
        assert found.objective.relative_gap is not None
        assert found.objective.relative_gap <= TOLERANCE
        assert loses(question, 3, two.epsilons, found.epsilons)
        assert [level.level for level in found.levels] == [1, 2, 3]
        for level in found.levels:
            assert level.value is not None
            assert level.bound is not None
            within = level.value >= level.bound if objective in MINIMIZED else level.value <= level.bound
            assert within


def test_the_order_of_the_levels_matters() -> None:
    for objective in CONVEX:
        one, other = two_levels(objective, DEFAULT), bo.solve(problem(objective, REST, HEALTH))
        question = problem(objective, HEALTH, REST)
        assert loses(question, 1, other.epsilons, one.epsilons)
        assert loses(question, 2, one.epsilons, other.epsilons)


def test_numbers_of_levels_may_leave_gaps_and_one_level_of_any_number_is_none() -> None:
    for objective in CONVEX:
        plain = bo.solve(problem(objective, HEALTH))
        seventh = bo.solve(problem(objective, HEALTH).with_fields(moments=at(7, HEALTH)))
        assert list(seventh.epsilons) == list(plain.epsilons)
        assert seventh.objective.bound == plain.objective.bound
        assert seventh.levels == ()
        assert seventh.sensitivity == plain.sensitivity
        apart = problem(objective, HEALTH).with_fields(moments=[*at(3, HEALTH), *at(9, REST)])
        close = two_levels(objective, DEFAULT)
        assert list(bo.solve(apart).epsilons) == list(close.epsilons)


def test_floors_of_every_level_hold_and_impossible_ones_are_told_as_ever() -> None:
    for objective in CONVEX:
        found = two_levels(objective)
        assert all(moment.keeps_floor for moment in found.moments)
    impossible = [moment.with_fields(floor=0.9) for moment in REST]
    with pytest.raises(bo.InfeasibleError):
        bo.solve(problem("max_min", HEALTH, impossible))


def test_a_level_that_finds_nothing_in_its_time_leaves_the_split_and_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solve = table.solve

    def first_only(arrays: Any, *rest: Any) -> Any:
        if np.count_nonzero(arrays.weight) != len(HEALTH) or np.isfinite(arrays.log_floor).sum() > 1:
            raise NotSolvedError("no time")
        return solve(arrays, *rest)

    monkeypatch.setattr(table, "solve", first_only)
    for objective in CONVEX:
        question = problem(objective, HEALTH, REST)
        found = bo.solve(question)
        assert found.levels[1].bound is None
        assert found.objective.relative_gap is not None
        assert found.objective.relative_gap <= 1e-6


def test_a_split_that_loses_more_than_a_level_may_is_not_taken() -> None:
    question = problem("geometric_mean", HEALTH, REST)
    first, second = (question.arrays_of_level(level) for level in (1, 2))
    best, other = (table.solve(arrays, Settings()) for arrays in (first, second))
    kept = Kept(first, best.certificate.bound)
    loss = kept.loss(other.epsilon)
    for share, taken in ((1.01, True), (0.99, False)):
        tried = iter([other])

        def solve(_: Any, tried: Iterator[Candidate] = tried) -> Candidate:
            for candidate in tried:
                return candidate
            raise NotSolvedError("no time")

        found = next_level(Sum(first, second), best.epsilon, [kept], [share * loss], solve)
        assert (found is not None) == taken


def test_a_file_with_levels_is_read_and_verified(tmp_path: Any) -> None:
    for objective in CONVEX[1:]:
        question, found = problem(objective, HEALTH, REST), two_levels(objective)
        found.write(tmp_path / "a.json")
        again = bo.Allocation.read(tmp_path / "a.json")
        assert again == found
        assert [level.value for level in again.levels] == [level.value for level in found.levels]
        assert "level 2: " in str(again)
        assert bo.verify(again, problem=question).holds


def test_a_certificate_proves_the_first_level(tmp_path: Any) -> None:
    for objective in CONVEX:
        question, place = problem(objective, HEALTH, REST), tmp_path / f"{objective}.cert"
        found = bo.solve(question, level_tolerance=TOLERANCE, certificate=place)
        assert bo.verify(found, certificate=place).holds
        assert found.objective.status == "optimal"


def test_min_epsilon_has_no_levels() -> None:
    with pytest.raises(ProblemError, match=r"moments \(b x c\)\.level.*min_epsilon"):
        problem("min_epsilon", HEALTH, REST)


@pytest.mark.parametrize("tolerance", [0, 1e-7, 0.6, float("nan")])
def test_a_tolerance_that_means_nothing_is_refused_by_name(tolerance: float) -> None:
    with pytest.raises(bo.InputError, match="level_tolerance"):
        bo.solve(problem("max_min", HEALTH), level_tolerance=tolerance)


@pytest.mark.parametrize("power", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("best", [1e-7, 1.0, 1e5])
def test_the_search_ends_at_a_delta_that_uses_most_of_the_allowance(power: float, best: float) -> None:
    search, trials = Search(1.0), 0
    while not search.done:
        search, trials = search.after((search.delta / best) ** power), trials + 1
    assert search.kept is not None
    assert 0.7 <= search.kept[1] <= 1.0
    assert trials <= 14


def test_where_the_use_jumps_the_search_ends_just_before() -> None:
    search = Search(1.0)
    while not search.done:
        search = search.after(0.0 if search.delta < 3.0 else np.inf)
    assert search.kept is not None
    assert 2.7 <= search.kept[0] < 3.0
