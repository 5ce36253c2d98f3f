"""The least total under demands on retentions and variance inflations: solver, bound, outside judge."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate.demands import Demands, Pressures, least_total_bound
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.model.objectives import log_inflations, log_retentions
from budget_opt.solvers import table
from budget_opt.solvers.demands.method import ImpossibleDemandsError, least_total
from tests.solvers.random_problems import broken, build, random_split


def random_demands(seed: int, *, limited: bool = True) -> Demands:
    """Up to 6 attributes and 8 moments, limits around what a random split reaches; mostly possible."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 7)), int(rng.integers(1, 9))
    moments = [
        sorted(rng.choice(m, min(m, int(rng.integers(1, 4))), replace=False).tolist()) for _ in range(k)
    ]
    given: dict[str, FloatArray] = {}
    if limited:
        lower = np.where(rng.random(m) < 0.2, rng.random(m), 0.0)
        upper = np.where(rng.random(m) < 0.2, lower + 3 * rng.random(m), np.inf)
        given = {"lower": lower, "upper": np.where(rng.random(m) < 0.1, lower, upper)}
    groups = []
    if limited and rng.random() < 0.3:
        members = sorted(rng.choice(m, int(rng.integers(1, m + 1)), replace=False).tolist())
        groups = [(members, float(np.round(given["lower"][members].sum() + 6 * rng.random() + 0.1, 3)))]
    spread = np.exp(rng.normal(1, 1, (2, m)))
    arrays = build(
        "min_epsilon",
        rng.integers(2, 12, m).astype(float),
        moments,
        None,
        groups,
        spread_a=spread[0],
        spread_b=spread[1],
        **given,
    )
    wanted = random_split(arrays, rng, float(10 ** rng.uniform(-1, 1.3)))
    wanted = np.where((wanted < 1e-3) & (arrays.upper > 1e-3), 1e-3, wanted)
    factor = rng.choice([1.0, 0.9], p=[0.8, 0.2])  # of what the split reaches: the second is often impossible
    some = rng.random(k)
    log_floor = np.where(some < 0.4, log_retentions(arrays, wanted) * factor, -np.inf)
    log_limit = np.where(some > 0.3, log_inflations(arrays, wanted) * factor, np.inf)
    log_floor = np.where(np.isfinite(log_floor), log_floor - 1e-6, -np.inf)
    return Demands(replace(arrays, log_floor=log_floor), log_limit + 1e-6)


def meets(demands: Demands, epsilon: FloatArray) -> bool:
    inflated = log_inflations(demands.arrays, epsilon)
    return not broken(demands.arrays, epsilon) and bool(np.all(inflated <= demands.log_limit))


Solved = tuple[Demands, FloatArray, float, Pressures]


@cache
def verdicts() -> tuple[list[Solved], list[tuple[Demands, ImpossibleDemandsError]]]:
    """50 random demands: those with a split, its bound and multipliers; and those without."""
    found, impossible = [], []
    for seed in range(50):
        demands = random_demands(seed)
        try:
            answer = least_total(demands)
        except ImpossibleDemandsError as failure:
            impossible.append((demands, failure))
        else:
            found.append((demands, answer.epsilon, answer.bound, answer.pressures))
    return found, impossible


def solved() -> list[Solved]:
    return verdicts()[0]


@pytest.mark.slow
def test_the_gap_is_proved_and_the_split_meets_every_demand() -> None:
    """To 1e-8, but where an attribute is all but forced to its upper bound: there rounding is priced high."""
    assert len(solved()) > 40
    gaps = []
    for demands, epsilon, bound, _ in solved():
        spent = float(np.sum(epsilon))
        assert meets(demands, epsilon)
        assert bound <= spent
        gaps.append((spent - bound) / max(spent, 1e-300))
    assert max(gaps) <= 1e-6
    assert np.mean(np.array(gaps) <= 1e-8) > 0.97


def test_no_split_that_meets_the_demands_spends_less_than_the_bound_of_any_multipliers() -> None:
    """Splits near the optimum: it, stretched, and moved at random."""
    rng = np.random.default_rng(0)
    tried = 0
    for demands, best, _, pressures in solved():
        bounds = [
            least_total_bound(
                demands,
                Pressures(
                    *(part * np.exp(s * rng.normal(size=part.shape)) for part in vars(pressures).values())
                ),
            )
            for s in (0.0, 0.01, 1.0)
        ]
        for width in (0.0, 1e-9, 1e-6, 1e-3, 0.3):
            moved = best * (1 + width * rng.random(best.size) * rng.integers(0, 2, best.size))
            moved *= np.exp(width * rng.normal(size=best.size) / 10)
            moved = np.clip(moved, demands.arrays.lower, demands.arrays.upper)
            if meets(demands, moved):
                tried += 1
                assert max(bounds) <= np.sum(moved)
    assert tried > 75


def test_an_impossible_verdict_is_proved_by_its_multipliers_and_no_split_refutes_it() -> None:
    impossible = verdicts()[1]
    assert len(impossible) > 2
    for demands, failure in impossible:
        assert failure.bound > 0
        assert failure.bound == np.inf or least_total_bound(demands, failure.pressures, cost=0.0) > 0
        rng = np.random.default_rng(1)
        for _ in range(50):
            assert not meets(demands, random_split(demands.arrays, rng, 30.0))


@pytest.mark.slow
@settings(max_examples=12)
@given(st.integers(0, 10**6), st.floats(1e-3, 2))
def test_a_looser_demand_never_needs_more(seed: int, looser: float) -> None:
    demands = random_demands(seed, limited=False)
    wide = Demands(
        replace(demands.arrays, log_floor=demands.arrays.log_floor - looser), demands.log_limit + looser
    )
    assert least_total(wide).bound <= np.sum(least_total(demands).epsilon)


def judged_by_cvxpy(demands: Demands) -> float:
    """The least total by Clarabel in log lambda, w >= log tau and the logarithm of every factor."""
    a = demands.arrays
    x, e, w = (cp.Variable(a.blocks) for _ in range(3))
    g, tau = cp.Variable(a.spread_block.size), w[a.spread_block]
    r, both = a.cardinality, np.log(a.spread_a + a.spread_b)
    rules = [
        cp.exp(x) + cp.multiply(r - 1, cp.exp(x - e)) + cp.exp(-e) <= 1,
        cp.multiply(r, cp.exp(-e - w)) + cp.exp(-e) <= 1,
        cp.exp(-g) + cp.exp(tau - g + both) + cp.exp(2 * tau - g + np.log(a.spread_b)) <= 1,
        e >= a.lower,
        e <= np.minimum(a.upper, 100.0),
    ]
    rules += [cp.sum(e[budget.members]) <= float(budget.cap) for budget in a.budgets]
    for k in range(a.moments):
        members = a.members(k)
        if np.isfinite(a.log_floor[k]):
            rules.append(cp.sum(x[members]) >= a.log_floor[k])
        if np.isfinite(demands.log_limit[k]):
            rules.append(cp.sum(g[a.spread_columns(k)]) <= demands.log_limit[k])
    problem = cp.Problem(cp.Minimize(cp.sum(e)), rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL)
    return float(problem.value) if problem.status == "optimal" else float("nan")


@pytest.mark.slow
def test_clarabel_finds_the_same_least_total() -> None:
    """Where its own status is "optimal" and totals are not so small that its absolute 1e-8 is everything."""
    agreed = 0
    for demands, epsilon, _, _ in solved():
        spent = float(np.sum(epsilon))
        value = judged_by_cvxpy(demands)
        if np.isnan(value) or spent < 0.1:
            continue
        assert value == pytest.approx(spent, rel=1e-5)
        agreed += 1
    assert agreed > 30


def test_floors_alone_give_the_least_total_of_the_native_method() -> None:
    for seed in range(10):
        demands = random_demands(seed, limited=False)
        floors = np.maximum(demands.arrays.log_floor, -0.5 * np.maximum(demands.log_limit, 1e-3))
        arrays = replace(demands.arrays, log_floor=floors)
        own = least_total(Demands(arrays, np.full(arrays.moments, np.inf)))
        known = table.solve(arrays).certificate
        assert np.sum(own.epsilon) >= known.bound
        assert known.value >= own.bound
        assert np.sum(own.epsilon) == pytest.approx(known.value, rel=1e-7)


def test_a_demand_at_the_very_edge_of_a_bound_is_met_or_told_undecided() -> None:
    arrays = build("min_epsilon", [2, 2], [[0, 1]], upper=[1.0, 1.0], spread_a=[2, 2], spread_b=[3, 3])
    edge = log_inflations(arrays, np.array([1.0, 1.0]))
    assert np.sum(least_total(Demands(arrays, edge * (1 + 1e-6))).epsilon) == pytest.approx(2, rel=1e-5)
    with pytest.raises(ImpossibleDemandsError):
        least_total(Demands(arrays, edge * (1 - 1e-6)))
    with pytest.raises(NotSolvedError, match="cannot be told apart"):
        least_total(Demands(arrays, edge))


def test_where_everything_is_pinned_the_pins_are_the_answer() -> None:
    arrays = build("min_epsilon", [2, 3], [[0, 1]], lower=[1.0, 2.0], upper=[1.0, 2.0], spread_a=[2, 2])
    reached = log_inflations(arrays, arrays.lower)
    found = least_total(Demands(arrays, reached + 1e-9))
    assert found.epsilon.tolist() == [1.0, 2.0]
    assert found.bound == pytest.approx(3.0)
    with pytest.raises(ImpossibleDemandsError):
        least_total(Demands(arrays, reached - 1e-9))


def test_an_attribute_that_cannot_be_released_makes_its_demand_impossible() -> None:
    arrays = build("min_epsilon", [2, 2], [[0, 1]], upper=[0.0, np.inf], spread_a=[2, 2])
    with pytest.raises(ImpossibleDemandsError) as caught:
        least_total(Demands(arrays, np.array([5.0])))
    assert caught.value.bound == np.inf


@settings(max_examples=12)
@given(st.floats(-12, 2.2), st.floats(-3, 3), st.floats(-3, 3), st.integers(2, 10**6))
def test_one_attribute_alone_gets_just_what_its_inflation_needs(
    log10: float, log_a: float, log_b: float, r: int
) -> None:
    """Log inflations from 1e-12 to 158, twice what wishes can ask for, against bisection of the formula."""
    arrays = build("min_epsilon", [r], [[0]], spread_a=[np.exp(log_a)], spread_b=[np.exp(log_b)])
    limit = 10.0**log10
    found = least_total(Demands(arrays, np.array([limit])))
    low, high = 1e-200, 1e3
    for _ in range(100):
        middle = np.sqrt(low * high)
        if log_inflations(arrays, np.array([middle]))[0] <= limit:
            high = middle
        else:
            low = middle
    assert found.epsilon[0] == pytest.approx(high, rel=1e-8)
    assert found.bound == pytest.approx(high, rel=1e-8)
    assert found.bound <= high * (1 + 1e-13)
