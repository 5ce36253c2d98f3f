"""Clusters whose moments have several variance factors each: solver, certificate, least total and grid."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate import Multipliers, certify
from budget_opt.certificate.convex import Frame, bound
from budget_opt.certificate.demands import Demands, Pressures, least_total_bound
from budget_opt.errors import NotSolvedError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import Arrays
from budget_opt.model.objectives import log_inflations, value
from budget_opt.solvers.answer import Clock, Settings
from budget_opt.solvers.demands.method import ImpossibleDemandsError, least_total
from budget_opt.solvers.grid.dual import Dual, Prices
from budget_opt.solvers.grid.lattice import Lattice, NoMultipleError
from budget_opt.solvers.grid.method import GridTask
from budget_opt.solvers.grid.method import solve as solve_on_grid
from budget_opt.solvers.grid.worth import Worth
from budget_opt.solvers.incidence import Incidence
from budget_opt.solvers.spread_columns import Columns, Folded
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, random_problem, random_split, with_columns
from tests.solvers.test_demands import judged_by_cvxpy

REFERENCE = Settings(solver="cvxpy")
seeds = st.integers(0, 10**6)


def _problem(seed: int, *, ceilings: bool = False) -> Arrays:
    return with_columns(random_problem(seed, "min_variance", ceilings=ceilings), seed)


@given(seed=seeds)
@settings(max_examples=7)
def test_columns_that_say_the_same_change_nothing(seed: int) -> None:
    plain = random_problem(seed, "min_variance")
    several = with_columns(plain, seed)
    alike = replace(
        several,
        spread_a=plain.spread_a[several.spread_block],
        spread_b=plain.spread_b[several.spread_block],
    )
    split = random_split(plain, np.random.default_rng(seed))
    assert value(alike, split) == pytest.approx(value(plain, split), rel=1e-12)
    ours, theirs = solve(alike).certificate, solve(plain).certificate
    assert ours.value == pytest.approx(theirs.value, rel=1e-8)
    assert ours.bound == pytest.approx(theirs.bound, rel=1e-7)


@given(seed=seeds)
@settings(max_examples=12)
def test_the_gap_closes_and_no_split_passes_the_bound(seed: int) -> None:
    arrays = _problem(seed)
    found = solve(arrays)
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.relative_gap <= 1e-6
    # a verifier without multipliers finds as good ones from the split alone
    assert certify(arrays, found.epsilon).relative_gap <= 1e-5
    rng = np.random.default_rng(seed)
    for _ in range(30):
        split = random_split(arrays, rng)
        assert broken(arrays, split) or value(arrays, split) >= found.certificate.bound


@given(seed=seeds, ceilings=st.booleans())
@settings(max_examples=15)
def test_no_split_passes_the_bound_of_any_multipliers(seed: int, ceilings: bool) -> None:
    arrays = _problem(seed, ceilings=ceilings)
    rng = np.random.default_rng(seed)
    splits = [random_split(arrays, rng) for _ in range(20)]
    feasible = [split for split in splits if not broken(arrays, split)]
    k, caps = arrays.moments, np.array([1.0 / float(budget.cap) for budget in arrays.budgets])
    for _ in range(3):
        parts = [rng.exponential(size=k) * (rng.random(k) < 0.7) for _ in range(3)]
        chosen = Multipliers(parts[0], parts[1], rng.exponential(size=caps.size) * caps, parts[2], splits[0])
        limit = bound(Frame.of(arrays), splits[0], chosen)
        assert all(value(arrays, split) >= limit for split in feasible)


@given(seed=seeds)
@settings(max_examples=6)
def test_cvxpy_s_split_is_within_our_bound_and_ours_within_its(seed: int) -> None:
    arrays = _problem(seed)
    try:
        theirs = solve(arrays, REFERENCE)
    except NotSolvedError:
        return  # Clarabel says so where it has no split
    ours = solve(arrays).certificate
    assert broken(arrays, theirs.epsilon) == []
    assert theirs.certificate.value >= ours.bound
    assert ours.value >= theirs.certificate.bound


def test_at_usual_totals_cvxpy_finds_the_same_optimum() -> None:
    moments = [[0, 1], [1, 2], [2, 3], [0, 3, 1], [0, 2]]
    floor = [0.05, 0.02, 0.3, 0.01, 0.0]
    plain = build("min_variance", [6, 5, 12, 3], moments, 8.0, [([0, 1], 4.0)], floor=floor)
    arrays = with_columns(plain, 3)
    assert arrays.spread_block.size > arrays.blocks
    ours, theirs = solve(arrays).certificate, solve(arrays, REFERENCE).certificate
    assert theirs.value == pytest.approx(ours.value, rel=1e-6)
    assert theirs.relative_gap <= 1e-5


@given(seed=seeds)
@settings(max_examples=10)
def test_a_folded_gram_is_that_of_the_slopes_by_blocks(seed: int) -> None:
    arrays = _problem(seed)
    rng = np.random.default_rng(seed)
    slope, weight = rng.normal(size=arrays.spread_block.size), rng.random(arrays.moments)
    dense = arrays.spread_incidence.toarray() * slope
    by_block = np.zeros((arrays.moments, arrays.blocks))
    for j, block in enumerate(arrays.spread_block):
        by_block[:, block] += dense[:, j]
    columns = Columns.of(arrays, np.arange(arrays.blocks))
    folded = Folded(Incidence(arrays.spread_incidence), slope, columns)
    whole = by_block.T @ (weight[:, None] * by_block)
    assert np.allclose(np.tril(folded.gram(weight)), np.tril(whole), rtol=1e-10, atol=1e-12)


def _demands(seed: int) -> Demands:
    """Wanted inflations that some split reaches; of every fifth seed less than bounds allow."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    pairs = [sorted(rng.choice(m, 2, replace=False).tolist()) for _ in range(5)]
    upper = np.where((rng.random(m) < 0.3) | (seed % 5 == 0), 3.0, np.inf)
    plain = build("min_epsilon", rng.integers(2, 12, m), pairs, None, upper=upper)
    arrays = with_columns(plain, seed)
    wanted = np.minimum(rng.uniform(0.3, 3.0, m), upper)
    factor = 1.0 if seed % 5 else 0.2
    some = rng.random(5) < 0.7
    return Demands(arrays, np.where(some, log_inflations(arrays, wanted) * factor + 1e-6, np.inf))


def test_the_least_total_meets_all_demands_and_its_bound_is_as_large() -> None:
    solved, impossible = 0, []
    for seed in range(16):
        demands = _demands(seed)
        if not np.any(np.isfinite(demands.log_limit)):
            continue
        try:
            found = least_total(demands)
        except ImpossibleDemandsError as failure:
            impossible.append(least_total_bound(demands, failure.pressures, cost=0.0))
            continue
        solved += 1
        assert np.all(log_inflations(demands.arrays, found.epsilon) <= demands.log_limit)
        assert 0 <= np.sum(found.epsilon) - found.bound <= 1e-6 * np.sum(found.epsilon)
        rng = np.random.default_rng(seed)
        wild = Pressures(np.zeros(5), found.pressures.inflations * rng.exponential(size=5), np.zeros(0))
        for factor in rng.uniform(0.8, 1.3, (30, demands.arrays.blocks)):
            split = np.minimum(found.epsilon * factor, demands.arrays.upper)
            if np.all(log_inflations(demands.arrays, split) <= demands.log_limit):
                assert np.sum(split) >= max(found.bound, least_total_bound(demands, wild))
    assert solved > 8
    assert impossible
    assert min(impossible) > 0


@pytest.mark.slow
def test_clarabel_finds_the_same_least_total_for_clusters() -> None:
    for seed in (1, 2, 3, 4, 6, 7, 8):
        demands = _demands(seed)
        assert judged_by_cvxpy(demands) == pytest.approx(np.sum(least_total(demands).epsilon), rel=1e-5)


@given(
    r=st.integers(2, 1000),
    ab=st.lists(st.tuples(st.floats(1, 9), st.floats(0.1, 300)), min_size=2, max_size=2),
    prices=st.tuples(st.floats(0.01, 50), st.floats(0.01, 50)),
)
@settings(max_examples=12)
def test_the_least_total_of_one_cluster_against_40_digits(
    r: int, ab: list[tuple[float, float]], prices: tuple[float, float]
) -> None:
    plain = build("min_epsilon", [r], [[0], [0]], None, upper=[200.0])
    incidence = plain.incidence.copy()
    incidence.resize((2, 2))
    incidence.indices[:] = [0, 1]
    arrays = replace(
        plain,
        spread_block=np.zeros(2, dtype=np.int64),
        spread_a=np.array([a for a, _ in ab]),
        spread_b=np.array([b for _, b in ab]),
        spread_incidence=incidence,
    )
    pressures = Pressures(np.zeros(2), np.array(prices), np.zeros(0))
    found = least_total_bound(Demands(arrays, np.array([1.0, 2.0])), pressures)
    with mpmath.workdps(40):

        def dual(e: float) -> float:
            tau = r / mpmath.expm1(e)
            spread = sum(
                price * mpmath.log1p(tau * a + tau * (1 + tau) * b)
                for price, (a, b) in zip(prices, ab, strict=True)
            )
            return e + spread - prices[0] - 2 * prices[1]

        low, high = mpmath.mpf("1e-9"), mpmath.mpf(200)
        for _ in range(120):
            third = (high - low) / 3
            low, high = (low, high - third) if dual(low + third) < dual(high - third) else (low + third, high)
        least = dual((low + high) / 2)
    assert found <= float(least) + 1e-13 * (1 + abs(float(least)))
    assert float(least) - found <= 1e-8 * (1 + abs(float(least)))


def _grids(count: int) -> list[Worth]:
    found: list[Worth] = []
    seed = 0
    while len(found) < count:
        arrays = with_columns(random_problem(seed, "min_variance", ceilings=seed % 3 == 0), seed)
        seed += 1
        total = max((float(budget.cap) for budget in arrays.budgets), default=0.0)
        parts = {2: 20, 3: 10, 4: 7}.get(arrays.blocks)
        if parts is None or not 1e-2 <= total <= 100:
            continue
        try:
            lattice = Lattice.of(arrays, exact(float(f"{total / parts:.2g}")))
        except NoMultipleError:
            continue
        if lattice.possible and lattice.free.size > 1:
            found.append(Worth(lattice, arrays))
    return found


def test_the_best_split_of_a_grid_is_the_best_of_all_on_it() -> None:
    judged = 0
    for worth in _grids(10):
        lattice, arrays = worth.lattice, worth.arrays
        ranges = (range(int(width) + 1) for width in lattice.width)
        points = np.array(list(product(*ranges)), dtype=np.int64).T
        points = points[:, lattice.within(points)]
        points = points[:, worth.missing(points) == 0]
        answer = solve_on_grid(GridTask([arrays], lattice.step, [lattice.fixed], Clock(10.0)))
        if not points.shape[1]:
            assert answer.epsilon is None
            continue
        listed = min(value(arrays, lattice.expand(point)) for point in points.T)
        if not math.isfinite(listed):
            continue
        judged += 1
        assert answer.complete
        assert answer.epsilon is not None
        assert value(arrays, answer.epsilon) == pytest.approx(listed, rel=1e-8)
        assert answer.bound is not None
        assert answer.bound <= listed * (1 + 1e-8)
    assert judged > 5


def test_no_point_of_a_grid_is_worth_more_than_its_bound_at_any_prices() -> None:
    for worth in _grids(8):
        dual, arrays, rng = Dual(worth), worth.arrays, np.random.default_rng(5)
        lower, upper = np.zeros_like(worth.lattice.width)[:, None], worth.lattice.width[:, None]
        prices = Prices(
            rng.exponential(size=(arrays.floors.size, 1)),
            0.1 * rng.exponential(size=(arrays.ceilings.size, 1)),
            rng.exponential(size=(len(worth.lattice.cap), 1)),
            rng.dirichlet(np.ones(worth.terms.size))[:, None],
        )
        most = dual.bound(prices, lower, upper).bound[0]
        ranges = (range(int(width) + 1) for width in worth.lattice.width)
        points = np.array(list(product(*ranges)), dtype=np.int64).T
        points = points[:, worth.lattice.within(points)]
        points = points[:, worth.missing(points) == 0]
        assert np.all(worth.of(points) <= most)
