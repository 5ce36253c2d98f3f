"""Prices against finite differences of optima that were solved anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.certificate.prices.prices import prices
from budget_opt.model.arrays import OBJECTIVES, Objective
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import build

STEP = 1e-3

ATTRIBUTES = [
    bo.Attribute("a", categories=2),
    bo.Attribute("b", categories=5, epsilon_max=0.6),
    bo.Attribute("c", categories=3, epsilon_min=0.7),
    bo.Attribute("d", categories=7),
    bo.Attribute("e", categories=4, epsilon=0.5),
    bo.Attribute("f", categories=3),
]
MOMENTS = [
    bo.CrossMoment("a", "b", weight=3, floor=0.07),
    bo.CrossMoment("a", "d", weight=2, floor=0.3),
    bo.CrossMoment("c", "d"),
    bo.CrossMoment("a", "e", weight=0.5, ceiling=0.09),
    bo.CrossMoment("d", "f", weight=2),
    bo.CrossMoment("a", "f", floor=0.13),
]


def block(epsilon_max: float) -> bo.Group:
    return bo.Group("block", attributes=["d", "f"], epsilon_max=epsilon_max)


def problem(objective: Objective, **changes: Any) -> bo.Problem:
    fields = {"attributes": ATTRIBUTES, "moments": MOMENTS, "groups": [block(2.6)], "total_epsilon": 6.0}
    return bo.Problem(objective=objective, **{**fields, **changes})


def optimum(question: bo.Problem) -> float:
    """Of `weighted_sum` the local optimum; a step of the size of a difference does not change which it is."""
    solver = "local search" if question.objective == "weighted_sum" else None
    return solve(question.arrays, Settings(gap=1e-10, solver=solver)).certificate.value


def part_changed(parts: list[Any], index: int, field: str) -> Callable[[float], list[Any]]:
    return lambda value: [
        part.with_fields(**{field: value}) if i == index else part for i, part in enumerate(parts)
    ]


def numbers(objective: Objective) -> dict[str, tuple[float, Callable[[float], bo.Problem]]]:
    """Every number that limits the problem, with the problem in which it is another."""
    found: dict[str, tuple[float, Callable[[float], bo.Problem]]] = {
        "total_epsilon": (6.0, lambda value: problem(objective, total_epsilon=value)),
        "block": (2.6, lambda value: problem(objective, groups=[block(value)])),
    }
    bounds = {"epsilon_max": (1, 0.6), "epsilon_min": (2, 0.7), "epsilon": (4, 0.5)}
    for field, (i, value) in bounds.items():
        changed = part_changed(ATTRIBUTES, i, field)
        found[field] = value, lambda x, changed=changed: problem(objective, attributes=changed(x))
    limits = ((0, "floor", 0.07), (1, "floor", 0.3), (5, "floor", 0.13), (3, "ceiling", 0.09))
    for k, field, value in limits:
        changed = part_changed(MOMENTS, k, field)
        found[f"{field} {k}"] = value, lambda x, changed=changed: problem(objective, moments=changed(x))
    return found


def stated(allocation: bo.Allocation) -> dict[str, float | None]:
    bounds = {"epsilon_max": "b", "epsilon_min": "c", "epsilon": "e"}
    return {
        **allocation.sensitivity,
        **{field: allocation[name].shadow_price for field, name in bounds.items()},
        **{f"floor {k}": allocation.moments[k].floor_price for k in (0, 1, 5)},
        "ceiling 3": allocation.moments[3].ceiling_price,
    }


@pytest.mark.parametrize("objective", [*OBJECTIVES[1:], pytest.param("weighted_sum", marks=pytest.mark.slow)])
def test_every_price_is_the_derivative_of_the_optimum_in_that_number(objective: Objective) -> None:
    allocation = bo.solve(problem(objective), gap=1e-3 if objective == "weighted_sum" else 1e-6)
    found, value = stated(allocation), allocation.objective.value
    assert value is not None
    for name, (number, changed) in numbers(objective).items():
        ahead, behind = (optimum(changed(number * (1 + side * STEP))) for side in (1, -1))
        derivative = (ahead - behind) / (2 * STEP * number)
        assert found[name] == pytest.approx(derivative, rel=2e-4, abs=2e-5 * value / number), name


@pytest.mark.slow
def test_the_prices_of_a_weighted_sum_are_those_of_its_local_optimum() -> None:
    """An attribute that it gives up is held by a minimum of 0, and raising that costs."""

    def question(total: float = 3.0, pin: float = 0.5, least: float = 0.0) -> bo.Problem:
        attributes = [*ATTRIBUTES[:1], ATTRIBUTES[3], bo.Attribute("e", categories=4, epsilon=pin)]
        attributes.append(bo.Attribute("z", categories=50, epsilon_min=least))
        moments = [bo.CrossMoment("a", "d", weight=3), bo.CrossMoment("a", "e"), bo.CrossMoment("d", "z")]
        return bo.Problem(attributes=attributes, moments=moments, total_epsilon=total)

    allocation = bo.solve(question())
    assert allocation["z"].epsilon == 0
    found = (
        allocation.sensitivity["total_epsilon"],
        allocation["e"].shadow_price,
        allocation["z"].shadow_price,
    )
    middle = optimum(question())
    assert found[0] == pytest.approx((optimum(question(3.001)) - optimum(question(2.999))) / 0.002, rel=1e-5)
    pinned = (optimum(question(pin=0.501)) - optimum(question(pin=0.499))) / 0.002
    assert found[1] == pytest.approx(pinned, rel=1e-5)
    raised = (4 * optimum(question(least=1e-4)) - optimum(question(least=2e-4)) - 3 * middle) / 2e-4
    assert found[2] == pytest.approx(raised, rel=1e-4)
    assert raised < 0


def test_nothing_is_paid_for_what_does_not_bind() -> None:
    for objective in OBJECTIVES[1:]:
        question = problem(objective)
        allocation = bo.solve(question)
        for moment in allocation.moments:
            for limit, price in ((moment.floor, moment.floor_price), (moment.ceiling, moment.ceiling_price)):
                assert (limit is None) == (price is None)
                if limit is not None and abs(moment.retention - limit) > 1e-6:
                    assert price == 0.0
        bounded = {"b": 0.6, "c": 0.7, "e": 0.5}
        for attribute in allocation.attributes:
            if abs(attribute.epsilon - bounded.get(attribute.name, 0.0)) > 1e-6:
                assert attribute.shadow_price == 0.0
        spent = {"total_epsilon": allocation.spent_epsilon}
        spent["block"] = allocation["d"].epsilon + allocation["f"].epsilon
        for name, cap in (("total_epsilon", 6.0), ("block", 2.6)):
            if cap - spent[name] > 1e-6:
                assert allocation.sensitivity[name] == 0.0


def test_prices_are_in_the_unit_of_the_value() -> None:
    for objective, factor in (("weighted_sum", 1000.0), ("geometric_mean", 1.0), ("min_variance", 1000.0)):
        question = problem(objective, moments=MOMENTS[:3], attributes=ATTRIBUTES[:4], groups=[])
        moments = [moment.with_fields(weight=moment.weight * 1000) for moment in question.moments]
        one, many = bo.solve(question), bo.solve(question.with_fields(moments=moments))
        scaled = {name: factor * price for name, price in one.sensitivity.items()}
        assert many.sensitivity == pytest.approx(scaled, rel=1e-6)
        prices = [factor * (moment.floor_price or 0.0) for moment in one.moments]
        assert [moment.floor_price or 0.0 for moment in many.moments] == pytest.approx(prices, rel=1e-5)


def test_where_two_budgets_bind_together_one_alone_is_worth_nothing_more_and_costs_all() -> None:
    """The optimum has a kink in each: the file states what loosening it brings."""
    everybody = [bo.Group("all", attributes=["a", "b", "c", "d", "e", "f"], epsilon_max=6.0)]
    for objective in ("geometric_mean", "max_min", "min_variance"):
        alone = bo.solve(problem(objective, groups=[]))
        whole = alone.sensitivity["total_epsilon"]
        both = problem(objective, groups=everybody)
        allocation = bo.solve(both)
        found = prices(both.arrays, allocation.epsilons)
        assert found is not None
        for name in ("total_epsilon", "all"):
            assert found.budgets[name].raising == pytest.approx(0.0, abs=1e-6 * abs(whole))
            assert found.budgets[name].lowering == pytest.approx(whole, rel=1e-5)
            assert allocation.sensitivity[name] == found.budgets[name].raising


def test_the_price_of_a_tiny_floor_is_the_cardinality() -> None:
    """lambda ~ epsilon / r, so that a floor f on a single attribute costs r f."""
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=r) for name, r in (("a", 4), ("b", 7), ("c", 3))],
        moments=[bo.CrossMoment("a", floor=1e-9), bo.CrossMoment("b", floor=1e-11), bo.CrossMoment("c")],
        objective="min_epsilon",
    )
    allocation = bo.solve(question)
    assert [moment.floor_price for moment in allocation.moments[:2]] == pytest.approx([4, 7], rel=1e-4)
    assert allocation["c"].shadow_price == pytest.approx(1.0)


def test_the_multipliers_of_the_bound_serve_where_a_fit_would_be_long() -> None:
    """All pairs bind in this `max_min`; a fit and the solver's own give the same price of the total."""
    rng = np.random.default_rng(20261129)
    pairs = list(combinations(range(36), 2))
    arrays = build("max_min", rng.integers(2, 17, 36).tolist(), pairs, 30.0)
    found = solve(arrays, Settings(gap=1e-10))
    known = found.certificate.multipliers
    fitted, given = prices(arrays, found.epsilon), prices(arrays, found.epsilon, known)
    assert known is not None
    assert fitted is not None
    assert given is not None
    assert not given.told_apart
    assert given.budgets["total_epsilon"].raising == pytest.approx(
        fitted.budgets["total_epsilon"].raising, rel=1e-5
    )


def test_the_sides_of_a_price_are_asked_for_with_the_problem_of_the_allocation() -> None:
    question = problem("geometric_mean")
    allocation = bo.solve(question)
    found = bo.prices(allocation, question)
    assert found is not None
    assert found.budgets["total_epsilon"].raising == pytest.approx(allocation.sensitivity["total_epsilon"])
    assert found.floors[1].lowering == pytest.approx(allocation.moments[1].floor_price)
    assert found.bounds[4].raising == pytest.approx(allocation["e"].shadow_price)
    assert bo.prices(bo.uniform(question), question) is None
    with pytest.raises(bo.InputError, match="not the one"):
        bo.prices(allocation, question.with_total(5.0))


def test_a_split_that_is_not_optimal_has_no_prices() -> None:
    for objective in OBJECTIVES:
        question = problem(objective)
        even = bo.uniform(question)
        assert prices(question.arrays, even.epsilons) is None
        assert even.sensitivity == {}
        assert {attribute.shadow_price for attribute in even.attributes} == {None}
        assert {moment.floor_price for moment in even.moments} == {None}


def test_prices_survive_the_file_and_are_judged_by_verify(tmp_path: Path) -> None:
    question = problem("geometric_mean")
    allocation = bo.solve(question)
    allocation.write(tmp_path / "a.json")
    again = bo.Allocation.read(tmp_path / "a.json")
    assert stated(again) == stated(allocation)
    assert bo.verify(again, problem=question).holds
    dearer = replace(allocation, sensitivity={**allocation.sensitivity, "total_epsilon": 9.0})
    failed = bo.verify(dearer, problem=question).failed
    assert [check.claim for check in failed] == ["price of total_epsilon"]
