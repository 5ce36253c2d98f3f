"""`bo.solve`: every budget exactly, every floor with the sampler's lambda, and a proof."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import OBJECTIVES


def random_problem(seed: int) -> bo.Problem:
    """A small random problem of any objective, with pins, bounds, groups and floors that a split keeps."""
    rng = np.random.default_rng([20261129, seed])
    size = int(rng.integers(1, 7))
    names = [f"a{i}" for i in range(size)]
    total = float(f"{10 ** rng.uniform(-2, 1.3):.3g}")
    attributes = [bo.Attribute(name, categories=int(rng.integers(2, 20))) for name in names]
    even = bo.uniform(
        bo.Problem(attributes=attributes, moments=[bo.CrossMoment(names[0])], total_epsilon=total)
    )
    if rng.random() < 0.3:
        attributes[0] = attributes[0].with_fields(epsilon=float(f"{total / (size + 1):.2g}"))
    elif rng.random() < 0.3:
        attributes[-1] = attributes[-1].with_fields(epsilon_max=float(f"{total / 2:.2g}"))
    objective = OBJECTIVES[seed % len(OBJECTIVES)]
    moments = []
    for _ in range(int(rng.integers(1, 6))):
        members = rng.choice(names, size=int(rng.integers(1, min(size, 3) + 1)), replace=False)
        wish = objective == "min_epsilon" or rng.random() < 0.3
        floor = 0.5 * even.retention(*members) ** 1.2 if wish and not attributes[0].epsilon else None
        stated = floor if floor and floor > 1e-9 else None
        moments.append(bo.CrossMoment(*members, weight=float(rng.uniform(0.1, 5)), floor=stated))
    if objective == "min_epsilon" and not any(moment.floor for moment in moments):
        objective = "max_min"
    groups = []
    if size > 2 and rng.random() < 0.3 and not any(moment.floor for moment in moments):
        groups = [bo.Group("g", attributes=names[1:3], epsilon_max=float(f"{total / 3:.2g}"))]
    return bo.Problem(
        attributes=attributes, moments=moments, groups=groups, total_epsilon=total, objective=objective
    )


def gap_for(problem: bo.Problem) -> float:
    """The default, and for what is not convex a gap that is soon reached: exactness is the law here."""
    return 0.3 if problem.objective == "weighted_sum" else 1e-6


def assert_keeps_everything(problem: bo.Problem, allocation: bo.Allocation) -> None:
    spent = {attribute.name: exact(attribute.epsilon) for attribute in allocation.attributes}
    for _, members, cap in problem.budgets():
        assert sum((spent[name] for name in members), Fraction(0)) <= cap
    for attribute in problem.attributes:
        assert attribute.lower <= float(spent[attribute.name]) <= attribute.upper
    assert all(moment.keeps_floor and moment.keeps_ceiling for moment in allocation.moments)
    assert exact(allocation.loss) <= exact(allocation.spent_epsilon)


@pytest.mark.parametrize(
    "start", [50, *(pytest.param(start, marks=pytest.mark.slow) for start in (0, 25, 75))]
)
def test_budgets_pins_and_floors_hold_exactly_on_random_problems(start):
    for seed in range(start, start + 25):
        problem = random_problem(seed)
        allocation = bo.solve(problem, gap=gap_for(problem))
        assert_keeps_everything(problem, allocation)
        if problem.objective != "weighted_sum":
            assert allocation.objective.status == "optimal", seed


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 1000, 100))
def test_budgets_pins_and_floors_hold_exactly_on_a_thousand_random_problems(start):
    for seed in range(start, start + 100):
        problem = random_problem(seed)
        allocation = bo.solve(problem, gap=gap_for(problem))
        assert_keeps_everything(problem, allocation)
        bo.verify(allocation, problem=problem, gap=gap_for(problem)).require()


def test_the_whole_total_is_spent_to_the_last_decimal():
    names = [f"a{i}" for i in range(3)]
    moments = [bo.CrossMoment(a, b) for a, b in pairwise(names)]
    for total in (0.1, 1.0, 3.3, 7.0):
        attributes = [bo.Attribute(name, categories=i + 2) for i, name in enumerate(names)]
        problem = bo.Problem(
            attributes=attributes, moments=moments, total_epsilon=total, objective="geometric_mean"
        )
        assert bo.solve(problem).spent_epsilon == total


def test_pins_that_use_up_the_total_leave_nothing_and_are_no_error():
    attributes = [bo.Attribute(f"a{i}", categories=3, epsilon=0.1) for i in range(3)]
    attributes.append(bo.Attribute("rest", categories=2))
    problem = bo.Problem(
        attributes=attributes, moments=[bo.CrossMoment("a0", "a1"), bo.CrossMoment("a2")], total_epsilon=0.3
    )
    allocation = bo.solve(problem)
    assert [attribute.epsilon for attribute in allocation.attributes] == [0.1, 0.1, 0.1, 0.0]
    assert allocation.spent_epsilon == 0.3


def test_a_larger_total_never_hurts_and_a_dropped_floor_never_hurts():
    problem = random_problem(1).with_objective("geometric_mean")
    values = [bo.solve(problem.with_total(total)).objective.value for total in (20.0, 30.0, 40.0)]
    assert values == sorted(values)


@pytest.mark.parametrize(("name", "value"), [("gap", 0), ("gap", float("nan")), ("time_limit", -1)])
def test_a_limit_that_means_nothing_is_refused_by_name(name, value):
    with pytest.raises(bo.InputError, match=name):
        bo.solve(random_problem(0), **{name: value})


def test_the_reference_solver_is_named_in_the_allocation_and_an_unknown_one_is_refused_with_the_names():
    problem = random_problem(1).with_objective("geometric_mean")
    ours, reference = bo.solve(problem), bo.solve(problem, solver="cvxpy")
    assert (ours.objective.solver, reference.objective.solver) == ("interior point", "cvxpy")
    assert reference.objective.value == pytest.approx(ours.objective.value, rel=1e-5)
    with pytest.raises(bo.InputError, match="must be one of interior point, cvxpy for geometric_mean"):
        bo.solve(problem, solver="magic")


def test_what_buys_nothing_is_not_spent():
    limited = [bo.Attribute(name, categories=4, epsilon_max=0.5) for name in "ab"]
    others = [bo.Attribute(name, categories=6) for name in "cd"]
    moments = [bo.CrossMoment("a", "b"), bo.CrossMoment("c", "d")]
    problem = bo.Problem(
        attributes=limited + others, moments=moments, total_epsilon=10.0, objective="max_min"
    )
    allocation = bo.solve(problem)
    assert allocation["c"].epsilon == pytest.approx(allocation["d"].epsilon, rel=1e-6)
    assert allocation.spent_epsilon < 3
    assert allocation.objective.status == "optimal"
