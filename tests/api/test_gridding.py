"""The best split on a grid: against enumeration, and what it promises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, Arrays, Objective
from budget_opt.model.objectives import value
from budget_opt.solvers.answer import Clock, Settings
from budget_opt.solvers.grid.lattice import Lattice, NoMultipleError
from budget_opt.solvers.grid.method import GridTask, solve
from budget_opt.solvers.table import solve as solve_off_the_grid
from tests.api.grid_problem import problem
from tests.solvers.random_problems import broken, random_problem


def best_by_enumeration(arrays: Arrays, step: Fraction, most: int = 60_000) -> float | None:
    """The best value of all splits on the grid that keep everything; None where none does.

    Written without the solver's tables: multiples are counted in fractions, budgets too.
    """
    limit = max((budget.cap for budget in arrays.budgets), default=Fraction(0))
    choices = []
    for low, high in zip(arrays.lower, arrays.stated_upper, strict=True):
        if low == high:
            choices.append([exact(low)])
            continue
        top = limit if np.isinf(high) else min(limit, exact(high))
        choices.append([count * step for count in range(-(-exact(low) // step), top // step + 1)])
    assert np.prod([len(choice) for choice in choices], dtype=float) <= most
    sign = -1.0 if arrays.objective in MINIMIZED else 1.0
    splits = [np.array(split, dtype=float) for split in _within_budgets(arrays, choices)]
    values = [sign * value(arrays, split) for split in splits if not broken(arrays, split)]
    return sign * max(values) if values else None


def _within_budgets(arrays: Arrays, choices: list[list[Fraction]]) -> Iterator[tuple[Fraction, ...]]:
    """The splits that keep the budgets, summed as whole numbers of a unit that divides all of them."""
    caps = [budget.cap for budget in arrays.budgets]
    unit = lcm(*(number.denominator for number in (*caps, *chain(*choices))))
    whole = [[int(number * unit) for number in choice] for choice in choices]
    limits = [(budget.members.tolist(), int(budget.cap * unit)) for budget in arrays.budgets]
    for split, units in zip(product(*choices), product(*whole), strict=True):
        if all(sum(units[i] for i in members) <= cap for members, cap in limits):
            yield split


def small_problems(
    count: int, first: int, objective: Objective | None = None
) -> list[tuple[Arrays, Fraction]]:
    """Random problems, with floors, groups, pins and ceilings, that can be listed."""
    found: list[tuple[Arrays, Fraction]] = []
    seed = first
    while len(found) < count:
        arrays = random_problem(seed, objective, ceilings=seed % 3 == 0)
        seed += 1
        total = max((float(budget.cap) for budget in arrays.budgets), default=0.0)
        parts = {1: 40, 2: 30, 3: 15, 4: 8, 5: 5}.get(arrays.blocks)
        if parts is not None and 1e-2 <= total <= 100:
            step = exact(float(f"{total / parts:.2g}"))
            with suppress(NoMultipleError):
                Lattice.of(arrays, step)
                found.append((arrays, step))
    return found


@cache
def listed_problems(
    count: int, first: int, objective: Objective
) -> list[tuple[Arrays, Fraction, float | None]]:
    """Small problems, each with the best value by enumeration, which several tests compare with."""
    return [
        (arrays, step, best_by_enumeration(arrays, step))
        for arrays, step in small_problems(count, first, objective)
    ]


def on_the_grid(arrays: Arrays, step: Fraction) -> Any:
    solver = "local search" if arrays.objective == "weighted_sum" else None
    try:
        known = solve_off_the_grid(arrays, Settings(time_limit=5, solver=solver))
        starts, multipliers = [known.epsilon], known.certificate.multipliers
    except (bo.InfeasibleError, bo.NotSolvedError):
        starts, multipliers = [], None
    return solve(GridTask([arrays], step, starts, Clock(20.0), multipliers))


@pytest.mark.parametrize("objective", [pytest.param("weighted_sum", marks=pytest.mark.slow), *OBJECTIVES[1:]])
def test_no_split_on_the_grid_is_better(objective: Objective) -> None:
    impossible = 0
    for arrays, step, best in listed_problems(5 if objective == "weighted_sum" else 10, 500, objective):
        answer = on_the_grid(arrays, step)
        if best is None:
            impossible += 1
            assert answer.epsilon is None
            assert answer.complete
            continue
        assert answer.epsilon is not None
        assert broken(arrays, answer.epsilon) == []
        assert value(arrays, answer.epsilon) == pytest.approx(best, rel=2e-9)
        assert answer.complete
        if answer.bound is not None:
            sign = -1.0 if objective in MINIMIZED else 1.0
            assert sign * answer.bound >= sign * best * (1 - sign * 1e-12)
    assert impossible < 5


@pytest.mark.parametrize("objective", OBJECTIVES[1:])
def test_the_boxes_alone_lead_to_the_best_split(
    objective: Objective, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Local search mostly finds the best at once, and would hide a box that was dropped wrongly."""
    for module in ("search", "method"):
        monkeypatch.setattr(f"budget_opt.solvers.grid.{module}.exchanged", lambda worth, start, *_: start)
    monkeypatch.setattr("budget_opt.solvers.grid.search._LISTED", 4)
    for arrays, step, best in listed_problems(10, 500, objective):
        answer = on_the_grid(arrays, step)
        assert answer.complete
        assert (answer.epsilon is None) == (best is None)
        if best is not None:
            assert value(arrays, answer.epsilon) == pytest.approx(best, rel=2e-9)


@pytest.mark.slow
def test_local_search_finds_the_best_of_small_grids_of_weighted_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be listed; where they are not, chance and moves of a step must find the same."""
    monkeypatch.setattr("budget_opt.solvers.grid.method._LISTED", 0)
    for arrays, step, best in listed_problems(5, 500, "weighted_sum"):
        answer = on_the_grid(arrays, step)
        if best is not None:
            assert not answer.complete
            assert value(arrays, answer.epsilon) == pytest.approx(best, rel=2e-9)


@pytest.mark.parametrize("objective", [pytest.param("weighted_sum", marks=pytest.mark.slow), *OBJECTIVES[1:]])
def test_everything_is_kept_in_exact_decimals_and_the_loss_is_what_it_is(objective: Objective) -> None:
    question = problem(objective)
    best = bo.solve(question, gap=1e-3)
    found = bo.rounded(best, 0.1)
    made = found.allocation
    assert made["sex"].epsilon == 0.61
    for attribute in made.attributes[:3]:
        assert (Decimal(repr(attribute.epsilon)) * 10) % 1 == 0
    assert made["smoker"].epsilon <= 1.5
    assert made["income"].epsilon >= 0.3
    assert bo.judge(question, made, quick=True).keeps_all
    assert bo.verify(made, problem=question).holds
    assert made.objective.bound == best.objective.bound
    after, before, bound = made.objective.value, best.objective.value, best.objective.bound
    assert after is not None
    assert before is not None
    assert bound is not None
    sign = -1.0 if objective in MINIMIZED else 1.0
    assert found.loss == pytest.approx(sign * (1 - after / before))
    assert found.largest_loss == pytest.approx(sign * (1 - after / bound))
    assert found.is_best
    assert found.grid_bound is not None
    assert sign * found.grid_bound >= sign * after * (1 - 1e-9 * sign)
    assert best.rounded(0.1).epsilons.tolist() == made.epsilons.tolist()


def test_a_split_that_was_given_is_rounded_to_the_best_of_its_problem() -> None:
    question = problem()
    from_even, from_best = bo.rounded(bo.uniform(question), 0.25), bo.rounded(bo.solve(question), 0.25)
    assert from_even.allocation.epsilons.tolist() == from_best.allocation.epsilons.tolist()
    assert from_even.unrounded.objective.status == "optimal"


def test_a_finer_grid_never_costs_more() -> None:
    for objective in OBJECTIVES[1:]:
        best = bo.solve(problem(objective))
        losses = [bo.rounded(best, step).loss or 0.0 for step in (0.2, 0.1, 0.05, 0.025)]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] >= -1e-9


@pytest.mark.parametrize("objective", OBJECTIVES[1:])
def test_eight_attributes_with_floors_are_proved(objective: Objective) -> None:
    from budget_opt.cli.survey import survey_problem

    question = survey_problem().with_objective(objective)
    found = bo.rounded(bo.solve(question), 0.05)
    assert found.is_best
    assert found.grid_gap == 0
    assert "proved: no split on this grid is better" in str(found)
    assert found.rows()[0]["attribute"] == "abuse"


def test_a_search_that_is_cut_short_says_what_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stops after some batches stands for a slow problem."""
    from budget_opt.solvers.answer import OutOfTimeError
    from budget_opt.solvers.grid import search

    names = [f"a{i}" for i in range(16)]
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=2 + i % 5) for i, name in enumerate(names)],
        moments=[
            bo.CrossMoment(*pair, floor=0.02 + 0.001 * i) for i, pair in enumerate(combinations(names, 2))
        ],
        objective="min_epsilon",
    )
    best = bo.solve(question)
    whole = search.Search._bounded
    turns = iter(range(4))

    def bounded(self: search.Search, boxes: search.Boxes, *, climb: bool = True) -> None:
        if next(turns, None) is None:
            raise OutOfTimeError
        whole(self, boxes, climb=climb)

    monkeypatch.setattr(search.Search, "_bounded", bounded)
    found = bo.rounded(best, 0.05)
    after = found.allocation.objective.value
    assert not found.is_best
    assert found.grid_bound is not None
    assert after is not None
    assert found.grid_bound < after
    assert found.grid_gap is not None
    assert f"none on this grid is better by more than {100 * found.grid_gap:.1f} %"[:40] in found.sentence
    assert bo.judge(question, found.allocation, quick=True).keeps_all


def test_an_impossible_grid_names_a_finer_step_and_a_total_that_do() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in "abc"],
        moments=[bo.CrossMoment("a", "b", floor=0.15), bo.CrossMoment("b", "c", floor=0.1)],
        total_epsilon=3.6,
        objective="geometric_mean",
    )
    with pytest.raises(bo.InfeasibleError, match="on the grid of 1 keeps all floors") as caught:
        bo.rounded(bo.uniform(question), 1)
    assert "such as 0.5" in str(caught.value)
    assert bo.uniform(question).rounded(0.5).spent_epsilon <= 3.6
    total = caught.value.least_total
    assert total is not None
    assert f"raise total_epsilon to {total:g}" in str(caught.value)
    assert bo.uniform(question.with_total(total)).rounded(1).spent_epsilon == total
    with pytest.raises(bo.InfeasibleError):
        bo.uniform(question.with_total(total - 0.5)).rounded(1)


def test_bounds_without_a_multiple_between_them_are_named() -> None:
    attributes = [
        bo.Attribute("a", categories=3, epsilon_min=0.52, epsilon_max=0.97),
        bo.Attribute("b", categories=3),
    ]
    question = bo.Problem(
        attributes=attributes, moments=[bo.CrossMoment("a", "b")], total_epsilon=3.0, objective="max_min"
    )
    with pytest.raises(bo.InfeasibleError, match=r"bounds of a, 0\.52 and 0\.97.*such as 0\.25"):
        bo.uniform(question).rounded(0.5)
    assert bo.uniform(question).rounded(0.25)["a"].epsilon == 0.75


def test_an_allocation_from_a_file_needs_its_problem_where_that_has_pins(tmp_path: Path) -> None:
    question = problem()
    bo.solve(question).write(tmp_path / "a.json")
    read = bo.Allocation.read(tmp_path / "a.json")
    with pytest.raises(bo.InputError, match="carries no pins or bounds"):
        read.rounded(0.1)
    assert read.rounded(0.1, question)["sex"].epsilon == 0.61
    with pytest.raises(bo.InputError, match="not the one"):
        read.rounded(0.1, question.with_total(6.0))
    free = question.with_fields(
        attributes=[bo.Attribute(one.name, categories=one.cardinality) for one in question.attributes]
    )
    bo.solve(free).write(tmp_path / "b.json")
    assert bo.Allocation.read(tmp_path / "b.json").rounded(0.1).spent_epsilon <= 5.0


@pytest.mark.slow
def test_later_levels_are_made_as_good_as_the_first_one_leaves_them() -> None:
    names = "abcd"
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in names],
        moments=[
            bo.CrossMoment("a", "b"),
            bo.CrossMoment("c", "d", level=2),
            bo.CrossMoment("b", "c", level=2),
        ],
        total_epsilon=8.0,
        objective="weighted_sum",
    )
    best = bo.solve(question, level_tolerance=0.05)
    found = bo.rounded(best, 0.25)
    assert not found.is_best
    assert bo.judge(question, found.allocation, quick=True).keeps_all
    first, second = found.allocation.levels
    before = best.levels
    assert first.value is not None
    assert second.value is not None
    assert before[0].value is not None
    assert before[1].value is not None
    assert first.value >= before[0].value * 0.95
    assert second.value >= before[1].value * 0.8


@pytest.mark.parametrize("step", [0.0, -0.05, float("nan"), float("inf"), 1e-7, 1e5])
def test_a_step_outside_its_range_is_refused(step: float) -> None:
    with pytest.raises(bo.InputError, match="step: is"):
        bo.uniform(problem()).rounded(step)


def test_arguments_of_other_kinds_are_refused() -> None:
    even = bo.uniform(problem())
    with pytest.raises(bo.InputError, match="step: is a str"):
        even.rounded("0.05")
    with pytest.raises(bo.InputError, match="time_limit"):
        bo.rounded(even, 0.1, time_limit=0)
    with pytest.raises(bo.InputError, match="allocation: is a dict"):
        bo.rounded({"a": 1}, 0.1)
    with pytest.raises(bo.InputError, match="coarser"):
        even.rounded(1e-6)
