"""`weighted_sum`: known optima, an independent global solver, monotone ascent, honest bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, Group
from budget_opt.model.problem import Problem
from budget_opt.solvers.answer import Candidate, Settings
from budget_opt.solvers.ascent import Sum, ascend, shared_out, starts
from budget_opt.solvers.table import solve as solve_by
from tests.solvers.random_problems import broken, build, no_split_is_beyond, random_problem

LOCAL = Settings(solver="local search")


def solve(arrays: Arrays) -> Candidate:
    return solve_by(arrays, LOCAL)


SMALL = ["dense8_0.7", "dense10_2.0", "floor10", "sym8"]
LARGER = [
    "dense10_0.2", "dense15_0.7", "dense20_2.0", "floor15", "mix12_1.0", "mix20_1.0", "sparse30_2.0",
    "sparse50_0.7", "sym12",
]  # fmt: skip


def _instance(folder: Path, name: str) -> tuple[Arrays, dict[str, Any]]:
    document = json.loads((folder / "global" / f"{name}.json").read_text())
    problem = document["problem"]
    index = {attribute["name"]: i for i, attribute in enumerate(problem["attributes"])}
    arrays = build(
        "weighted_sum",
        [attribute["categories"] for attribute in problem["attributes"]],
        [[index[member] for member in moment["attributes"]] for moment in problem["moments"]],
        problem["total_epsilon"],
        weight=[moment.get("weight", 1.0) for moment in problem["moments"]],
        floor=[moment.get("floor", 0.0) for moment in problem["moments"]],
    )
    return arrays, document["expect"]


def _check(folder: Path, name: str) -> None:
    arrays, expected = _instance(folder, name)
    found = solve(arrays)
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.value >= expected["value"] * (1 - 1e-6)
    assert found.certificate.value <= expected["bound"] * (1 + 1e-9)
    assert found.certificate.bound >= expected["value"]
    assert (found.status == "optimal") == (found.certificate.relative_gap <= 1e-6)


@pytest.mark.parametrize("name", SMALL)
def test_the_known_optimum_is_found_and_never_excluded(shared_instances: Path, name: str) -> None:
    _check(shared_instances, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGER)
def test_the_known_optimum_of_larger_problems_is_found_and_never_excluded(
    shared_instances: Path, name: str
) -> None:
    _check(shared_instances, name)


def _scip(arrays: Arrays) -> float:
    """The optimum by SCIP, objective as products, floors in logarithms; it overspends by about 1e-6."""
    from pyscipopt import Model, exp, log, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-7)
    model.setParam("limits/time", 20)
    e = [
        model.addVar(lb=float(low), ub=float(high))
        for low, high in zip(arrays.lower, arrays.upper, strict=True)
    ]
    kept = []
    for i, r in enumerate(arrays.cardinality):
        low, high = (float(rr.retention(bound, r)) for bound in (arrays.lower[i], arrays.upper[i]))
        z = model.addVar(lb=low, ub=high)
        # lambda (exp(e) + r - 1) = exp(e) - 1
        model.addCons(z * (exp(e[i]) + float(r) - 1) == exp(e[i]) - 1)
        kept.append(z)
    for budget in arrays.budgets:
        model.addCons(quicksum(e[i] for i in budget.members) <= float(budget.cap))
    for k in arrays.floors:
        model.addCons(quicksum(log(kept[i]) for i in arrays.members(int(k))) >= float(arrays.log_floor[k]))
    goal = model.addVar(lb=0.0, ub=float(np.sum(arrays.weight)))
    terms = []
    for k, weight in enumerate(arrays.weight):
        product = kept[int(arrays.members(k)[0])]
        for i in arrays.members(k)[1:]:
            product = product * kept[int(i)]
        terms.append(float(weight) * product)
    model.addCons(goal <= quicksum(terms))
    model.setObjective(goal, "maximize")
    model.optimize()
    return float(model.getObjVal())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_scip_finds_the_same_optimum_on_small_problems(seed: int) -> None:
    pytest.importorskip("pyscipopt")
    rng = np.random.default_rng(seed)
    moments = [[0, 1], [1, 2], [2, 3], [0, 3], [0, 1, 2]][: 3 + seed % 3]
    floor = np.zeros(len(moments))
    if seed % 2:
        floor[0] = 0.1
    groups = [([0, 1], 3.0)] if seed == 4 else []
    arrays = build(
        "weighted_sum",
        rng.integers(2, 6, 4),
        moments,
        5.0,
        groups,
        weight=rng.lognormal(0, 1, len(moments)),
        floor=floor,
    )
    found = solve(arrays)
    optimum = _scip(arrays)
    assert found.certificate.value == pytest.approx(optimum, rel=1e-5)
    assert found.certificate.bound >= optimum * (1 - 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "ceilings"), [(1, False), (2, True), (0, True)])
def test_random_problems_are_solved_inside_their_constraints_with_a_valid_bound(
    seed: int, ceilings: bool
) -> None:
    arrays = random_problem(seed, "weighted_sum", ceilings=ceilings)
    found = solve(arrays)
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.bound >= found.certificate.value
    no_split_is_beyond(arrays, found.certificate.bound, seed, 50)


def _sum(seed: int, n: int = 7) -> Sum:
    arrays = build(
        "weighted_sum",
        np.random.default_rng(seed).integers(2, 30, n),
        [[i, j] for i in range(n) for j in range(i)],
        1.0,
    )
    weight = np.random.default_rng(seed).lognormal(0, 1, arrays.moments)
    return Sum(weight, arrays.incidence, arrays.cardinality, np.zeros(n), np.full(n, 9.0), 6.0)


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_the_ascent_never_lowers_the_sum_and_never_overspends(seed: int) -> None:
    problem = _sum(seed)
    first = starts(problem, 5, np.random.default_rng(seed))
    epsilon, reached = ascend(problem, first, lambda: None, steps=10)
    further, more = ascend(problem, epsilon, lambda: None, steps=10)
    assert np.all(reached >= problem.values(first))
    assert np.all(more >= reached)
    assert np.all(np.sum(further - problem.lower[:, None], axis=0) <= problem.rest * (1 + 1e-12))
    assert np.all(further <= problem.upper[:, None])


def test_the_pulls_are_the_derivatives_by_log_lambda() -> None:
    problem = _sum(4)
    split = np.random.default_rng(1).uniform(0.2, 1.5, (7, 1))
    slope = rr.log_retention_slope(split, problem.cardinality[:, None])
    for i in range(7):
        step = np.zeros((7, 1))
        step[i] = 1e-6
        difference = (problem.values(split + step) - problem.values(split - step)) / 2e-6
        assert difference == pytest.approx(problem.pulls(split)[i] * slope[i], rel=1e-6)


def test_the_inner_problem_equalizes_the_weighted_slopes() -> None:
    problem = _sum(3)
    pull = np.random.default_rng(0).lognormal(0, 1, (7, 1))
    split, _ = shared_out(problem, pull)
    slopes = pull * rr.log_retention_slope(split, problem.cardinality[:, None])
    assert np.sum(split) == pytest.approx(6.0, rel=1e-12)
    assert slopes == pytest.approx(np.full((7, 1), slopes[0, 0]), rel=1e-6)


def test_a_budget_that_binds_nobody_is_spent_to_the_upper_bounds_and_proved() -> None:
    arrays = build("weighted_sum", [4, 4], [[0, 1]], 9.0, upper=[1.0, 2.0])
    found = solve(arrays)
    assert found.epsilon.tolist() == [1.0, 2.0]
    assert found.status == "optimal"


def test_an_attribute_that_earns_nothing_stays_at_its_lower_bound() -> None:
    arrays = build("weighted_sum", [4, 4, 4], [[0, 1]], 4.0, lower=[0, 0, 0.125])
    assert solve(arrays).epsilon[2] == 0.125


@pytest.mark.slow
def test_68_attributes_with_some_hundred_moments_are_bounded() -> None:
    rng = np.random.default_rng(0)
    moments = [sorted(rng.choice(68, int(rng.integers(2, 5)), replace=False).tolist()) for _ in range(300)]
    moments = [list(m) for m in sorted({tuple(m) for m in moments})]
    arrays = build(
        "weighted_sum", rng.integers(2, 18, 68), moments, 34.0, weight=rng.lognormal(0, 1, len(moments))
    )
    found = solve(arrays)
    assert found.certificate.bound >= found.certificate.value > 0
    assert found.certificate.bound < np.sum(arrays.weight)


def test_a_group_that_may_spend_nothing_is_solved_without_a_warning() -> None:
    problem = Problem(
        attributes=[Attribute("income", categories=2)],
        moments=[CrossMoment("income", ceiling=0.4)],
        groups=[Group("none", attributes=["income"], epsilon_max=0)],
        total_epsilon=4.908,
    )
    found = solve_by(problem.arrays, Settings())
    assert found.epsilon.tolist() == [0.0]
    assert 0 <= found.certificate.bound < 1e-300
