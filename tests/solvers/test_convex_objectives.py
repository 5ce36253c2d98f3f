"""The four convex objectives: certified gaps, independent solvers, laws (issue 2.5, CONVEX_SOLVER.md)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from budget_opt.certificate import certify
from budget_opt.certificate.convex import Frame, bound
from budget_opt.certificate.fitting import stationary_multipliers
from budget_opt.mechanisms import logit
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray, Objective
from budget_opt.model.objectives import log_inflations, log_retentions, value
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, random_problem, random_split

CONVEX: list[Objective] = ["geometric_mean", "max_min", "min_epsilon", "min_variance"]


@given(seed=st.integers(0, 10**6), objective=st.sampled_from(CONVEX))
@settings(max_examples=40)
def test_every_random_problem_is_solved_inside_its_constraints_and_certified(
    seed: int, objective: Objective
) -> None:
    arrays = random_problem(seed, objective)
    found = solve(arrays)
    assert found.solver == "interior point"
    assert broken(arrays, found.epsilon) == []
    assert found.status == "optimal"
    assert found.certificate.relative_gap <= 1e-8
    assert found.certificate.value == pytest.approx(value(arrays, found.epsilon), rel=1e-14)


@given(seed=st.integers(0, 10**6), objective=st.sampled_from(CONVEX))
@settings(max_examples=15)
def test_no_feasible_split_is_better_and_the_split_alone_proves_it(seed: int, objective: Objective) -> None:
    arrays = random_problem(seed, objective)
    found = solve(arrays)
    sign = -1.0 if objective in MINIMIZED else 1.0
    rng = np.random.default_rng(seed)
    for _ in range(30):
        split = random_split(arrays, rng)
        if not broken(arrays, split):
            assert sign * value(arrays, split) <= sign * found.certificate.bound
    assert certify(arrays, found.epsilon).relative_gap <= 1e-5


def _slsqp(arrays: Arrays, rng: np.random.Generator, starts: int = 6) -> float | None:
    """The best value that scipy's SLSQP reaches in v = logit lambda, of points feasible to 1e-9."""
    r, caps = arrays.cardinality, [(b.members, float(b.cap)) for b in arrays.budgets]

    def log_objective(v: FloatArray) -> float:
        e = logit.epsilon(v, r)
        if arrays.objective == "min_epsilon":
            return float(np.sum(e))
        kept = arrays.incidence @ logit.log_retention(v)
        if arrays.objective == "geometric_mean":
            return float(-arrays.weight @ kept / np.sum(arrays.weight))
        logs = np.log(arrays.weight * arrays.variance) + log_inflations(arrays, e)
        return float(np.log(np.sum(np.exp(logs - logs.max()))) + logs.max())

    level = arrays.objective == "max_min"
    constraints: list[dict[str, Any]] = [
        {"type": "ineq", "fun": lambda x, m=m, c=c: 1 - np.sum(logit.epsilon(x[: r.size], r)[m]) / c}
        for m, c in caps
    ]
    floors = arrays.floors
    if floors.size:
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda x: (
                    (arrays.incidence @ logit.log_retention(x[: r.size]))[floors] - arrays.log_floor[floors]
                ),
            }
        )
    if level:
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda x: (
                    arrays.incidence @ logit.log_retention(x[:-1]) - np.log(arrays.target) - x[-1]
                ),
            }
        )
    best: float | None = None
    for _ in range(starts):
        e = random_split(arrays, rng, 3.0) * 0.8 + 0.05
        first = logit.logit(e, r)
        first = np.append(first, -5.0) if level else first
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = minimize(
                (lambda x: -x[-1]) if level else log_objective,
                first,
                method="SLSQP",
                constraints=constraints,
                options={"maxiter": 500, "ftol": 1e-13},
            )
        if all(np.min(c["fun"](result.x)) > -1e-9 for c in constraints):
            reached = value(arrays, logit.epsilon(result.x[: r.size], r))
            keep = best is None or (reached < best if arrays.objective in MINIMIZED else reached > best)
            best = reached if keep else best
    return best


@pytest.mark.parametrize("objective", CONVEX)
@pytest.mark.parametrize("seed", range(4))
def test_slsqp_from_many_starts_finds_the_same_optimum(objective: Objective, seed: int) -> None:
    rng = np.random.default_rng(seed)
    moments = [[0, 1], [1, 2], [2, 3], [0, 3], [0, 1, 2]]
    given: dict[str, Any] = {"weight": rng.lognormal(0, 0.5, 5), "target": rng.uniform(0.3, 1, 5)}
    if objective == "min_variance":
        given |= {"spread_a": rng.uniform(0.5, 2, 4), "spread_b": rng.uniform(0.5, 9, 4)}
    floor = np.where(rng.random(5) < 0.5, 0.02, 0.0)
    if objective == "min_epsilon":
        floor = rng.uniform(0.05, 0.4, 5)
    arrays = build(
        objective,
        rng.integers(2, 9, 4),
        moments,
        40.0 if objective == "min_epsilon" else 6.0,
        floor=floor,
        **given,
    )
    ours = solve(arrays).certificate
    theirs = _slsqp(arrays, rng)
    assert theirs is not None
    assert theirs == pytest.approx(ours.value, rel=1e-6)


def test_cvxpys_geometric_mode_finds_the_same_optimum_where_it_works() -> None:
    r, pairs = np.array([4.0, 3.0, 6.0]), [[0, 1], [1, 2], [0, 2]]
    weight = np.array([1.0, 2.0, 0.5])
    arrays = build("geometric_mean", r, pairs, 4.0, weight=weight)
    kept, u = cp.Variable(3, pos=True), cp.Variable(3, pos=True)
    limits = [kept[i] + (r[i] - 1) * kept[i] / u[i] + 1 / u[i] <= 1 for i in range(3)]
    limits.append(u[0] * u[1] * u[2] <= np.exp(4.0))
    shares = weight / weight.sum()
    goal = cp.Maximize(
        (kept[0] * kept[1]) ** shares[0] * (kept[1] * kept[2]) ** shares[1] * (kept[0] * kept[2]) ** shares[2]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reached = cp.Problem(goal, limits).solve(gp=True, solver=cp.CLARABEL)
    assert solve(arrays).certificate.value == pytest.approx(reached, rel=1e-6)


@pytest.mark.parametrize("objective", CONVEX)
def test_the_split_alone_proves_its_optimality_to_many_digits(objective: Objective) -> None:
    arrays = build(
        objective, [2, 5, 7, 3], [[0, 1], [1, 2], [2, 3], [0, 3, 1]], 8.0, [([0, 1], 4.0)],
        floor=[0.05, 0.02, 0.3, 0.01], spread_a=[1.5, 1, 2, 1.1], spread_b=[4.0, 9, 1, 2],
    )  # fmt: skip
    frame = Frame.of(arrays)
    epsilon = solve(arrays).epsilon
    multipliers = stationary_multipliers(frame, epsilon, 1e-5)
    assert bound(frame, epsilon, multipliers) == pytest.approx(value(arrays, epsilon), rel=1e-8)


@pytest.mark.parametrize("objective", CONVEX)
@pytest.mark.parametrize("total", [1e-12, 1e-6, 1.0, 1e4])
def test_totals_from_1e_minus_12_to_1e4_are_certified(objective: Objective, total: float) -> None:
    arrays = build("geometric_mean", [2, 5, 1000, 10**6], [[0, 1], [1, 2], [2, 3], [0, 2, 3]], total)
    even = log_retentions(arrays, np.full(4, total / 4))
    floor = np.exp(even + np.log(0.7)) if objective == "min_epsilon" else np.zeros(4)
    with np.errstate(divide="ignore"):
        arrays = replace(arrays, objective=objective, log_floor=np.log(floor))
    found = solve(arrays)
    assert found.certificate.relative_gap <= 1e-8
    assert broken(arrays, found.epsilon) == []


@pytest.mark.parametrize("objective", ["geometric_mean", "max_min", "min_variance"])
def test_weights_over_twelve_orders_and_floors_that_bind_are_certified(objective: Objective) -> None:
    rng = np.random.default_rng(1)
    moments = [[i, j] for i in range(12) for j in range(i)]
    weight = 10.0 ** rng.uniform(-6, 6, len(moments))
    plain = build(objective, rng.integers(2, 50, 12), moments, 14.0, weight=weight)
    best = build("max_min", plain.cardinality, moments, 14.0)
    reached = log_retentions(best, solve(best).epsilon)
    arrays = replace(plain, log_floor=reached + np.log(0.999))
    found = solve(arrays)
    assert found.certificate.relative_gap <= 1e-8
    assert broken(arrays, found.epsilon) == []


def test_pins_unused_attributes_and_a_fully_fixed_problem_are_understood() -> None:
    arrays = build("geometric_mean", [4, 4, 4], [[0, 1]], 3.0, lower=[0.5, 0.0, 0.25], upper=[0.5, 9.0, 9.0])
    found = solve(arrays)
    assert found.epsilon[0] == 0.5
    assert found.epsilon[2] == 0.25
    assert found.epsilon[1] == pytest.approx(2.25, rel=1e-9)
    fixed = build("max_min", [4, 4], [[0, 1]], 3.0, lower=[1.0, 1.5], upper=[1.0, 1.5])
    assert solve(fixed).epsilon.tolist() == [1.0, 1.5]
    assert solve(fixed).status == "optimal"


def test_min_epsilon_needs_no_total_and_no_floors() -> None:
    arrays = build("min_epsilon", [4, 4, 4], [[0, 1], [1, 2]], None, floor=[0.2, 0.0])
    found = solve(arrays)
    assert found.epsilon[2] == 0.0
    assert found.epsilon[0] == pytest.approx(found.epsilon[1], rel=1e-4)
    assert found.certificate.relative_gap <= 1e-8
    nothing = build("min_epsilon", [4, 4], [[0, 1]], None)
    assert solve(nothing).epsilon.tolist() == [0.0, 0.0]
