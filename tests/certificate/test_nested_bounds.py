"""The budget multiplied twice: the nested maxima, and the bound that they make (GLOBAL_SOLVER_PROOFS 6)."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import Limits, Relaxation, Rows, cut_off, evaluate
from budget_opt.certificate.boxes.inner import Interval
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.boxes.nested import Coefficients, nested_maxima
from budget_opt.certificate.boxes.subgradient import Mixture, subgradient
from budget_opt.certificate.pruning.question import Question
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray
from budget_opt.model.objectives import value
from tests.certificate.exact_bound import Exact
from tests.certificate.test_box_bounds import random_arrays, random_multipliers, relaxation
from tests.solvers.random_problems import broken, build, random_problem, random_split


def _interval(rng: np.random.Generator, count: int) -> Interval:
    r = np.where(rng.random((count, 1)) < 0.7, rng.integers(2, 60, (count, 1)), 10.0 ** rng.uniform(1, 6))
    least = rng.random((count, 1)) * 3 * (rng.random((count, 1)) < 0.6)
    most = least + 10.0 ** rng.uniform(-9, 1.3, (count, 1))
    low = rr.retention(least, r)
    high = np.clip(rr.retention(most, r), low, 1 - 2.0**-52)
    return Interval(r, low, high, rr.epsilon_for_retention(low, r), rr.epsilon_for_retention(high, r))


@pytest.mark.parametrize("newtons", [1, 3, 12])
@pytest.mark.parametrize("quadratic", [False, True])
def test_nested_maxima_are_never_below_a_grid_and_close_to_it(quadratic: bool, newtons: int) -> None:
    rng = np.random.default_rng(int(quadratic))
    count = 6000
    on = _interval(rng, count)

    def size(low: float, high: float, share: float) -> FloatArray:
        return 10.0 ** rng.uniform(low, high, (count, 1)) * (rng.random((count, 1)) < share)

    w2 = size(-2, 1, 0.8) * quadratic
    psi = Coefficients(
        rng.normal(1, 2, (2, count, 1)),
        rng.normal(0.5, 1, (count, 1)),
        w2,
        size(-4, 1, 0.9),
        size(-4, 1, 0.9),
    )
    found = nested_maxima(psi, on, newtons)
    best = np.full(found.value.shape, -np.inf)
    for share in np.concatenate([np.linspace(0, 1, 800), 10.0 ** np.linspace(-8, -3, 60)]):
        z = np.clip(rr.retention(on.least + share * (on.most - on.least), on.r), on.low, on.high)
        more = rr.epsilon_for_retention(z, on.r) - on.least
        own = (z - on.low) * (psi.c - psi.nu * more) - psi.mu * more
        best = np.maximum(best, psi.w * z + 0.5 * psi.w2 * z**2 + own)
    scale = np.abs(psi.c) + np.abs(psi.w) + psi.w2 + (psi.nu + psi.mu) * 3
    assert np.all(found.value >= best - 1e-13 * scale)
    if newtons > 1:
        assert np.quantile((found.value - best) / scale, 0.98) < 1e-4
    if newtons == 12:
        assert np.quantile((found.value - best) / scale, 0.995) < 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_without_nested_multipliers_the_bound_is_that_of_one_level(seed: int) -> None:
    arrays, rng = random_arrays(seed, 6), np.random.default_rng(seed)
    on, _, _ = relaxation(arrays, rng, 20)
    now = random_multipliers(on, rng)
    single = replace(now, nested=np.zeros_like(now.nested))
    nearly = replace(now, nested=np.full_like(now.nested, 1e-14))
    once, twice = (evaluate(on, multipliers, None, 40).bound for multipliers in (single, nearly))
    assert twice == pytest.approx(once, rel=1e-9)


def test_one_level_is_the_facet_star() -> None:
    # a triple in a box with lower ends 0, one nested arc: lambda_0 times the facet U_2 lambda_1
    arrays = build("weighted_sum", [4, 3, 5], [[0, 1, 2]], 4.0)
    layout = Layout.of(arrays.incidence, arrays.weight)
    r, upper = arrays.cardinality[:, None], np.array([[3.0], [2.0], [2.5]])
    rows = Rows(np.ones((1, 3, 1)), np.array([[4.0]]), True)
    none = Limits(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0))
    on = Relaxation.of(layout, r, (np.zeros((3, 1)), upper), rr.retention(upper / 2, r), rows, none)
    now = steps.first(on)
    share = np.zeros_like(now.shares[0])
    share[:, 0] = 1.0
    nu = np.zeros_like(now.nu)
    nu[0, 0] = 0.05
    mu = np.full((1, 1), 0.03)
    found = evaluate(on, replace(now, shares=(share,), nu=nu, mu=mu), None, 0)
    top = rr.retention(upper, r)

    def most(index: int, slope: float, price: float) -> float:
        e = np.linspace(0, upper[index, 0], 200_001)
        return float(np.max(slope * rr.retention(e, r[index, 0]) - price * e))

    inner = 0.05 * 4.0 + most(1, top[2, 0], 0.05) + most(2, 0.0, 0.05)
    e = np.linspace(0, upper[0, 0], 200_001)
    outer = np.max(rr.retention(e, 4.0) * (inner - 0.05 * e) - 0.03 * e)
    assert float(found.bound[0]) == pytest.approx(0.03 * 4.0 + float(outer), rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_no_feasible_split_passes_the_bound_of_a_box_with_ceilings(seed: int) -> None:
    arrays, rng = random_problem(seed, "weighted_sum", ceilings=True), np.random.default_rng(seed)
    splits = [split for split in (random_split(arrays, rng) for _ in range(200)) if not broken(arrays, split)]
    question = Question.of(arrays)
    unit = question.scale * cut_off(question.layout)
    for split in splits[:12]:
        wide = 10.0 ** rng.uniform(-9, 0, split.shape)
        lower = np.maximum(split - wide * rng.random(split.shape), arrays.lower)[:, None]
        upper = np.minimum(split + wide * rng.random(split.shape), arrays.upper)[:, None]
        point = rr.retention(rng.uniform(lower, upper), question.r)
        on = question.relaxation(lower, upper, point)
        for passes in (0, 3):
            bound = float(evaluate(on, random_multipliers(on, rng), None, passes).bound[0])
            assert value(arrays, split) <= bound * unit * (1 + 1e-15)


@pytest.mark.slow
def test_two_levels_close_far_more_of_the_gap() -> None:
    # 8 attributes, all triples: the budget multiplied once leaves about three times the gap
    moments = [[i, j, k] for i in range(8) for j in range(i) for k in range(j)]
    arrays = build("weighted_sum", [2, 3, 4, 5, 6, 8, 10, 12], moments, 8.0)
    question = Question.of(arrays)
    on = question.relaxation(question.lower, question.upper, rr.retention(np.full((8, 1), 1.0), question.r))
    found = {}
    for nested in (0.0, 1e-3):
        now = evaluate(on, steps.first(on), None, 20).multipliers
        now = replace(now, nu=now.nu + 0.1 * now.mu[:, None], nested=now.nested + nested * now.mu[:, None])
        best, memory = np.inf, None
        for _ in range(80):
            step = evaluate(on, now, None, 20)
            best = min(best, float(step.bound[0]))
            gradient = subgradient(on, step, Mixture.of(on, step))
            memory = steps.direction(on.layout, gradient, step.multipliers, memory)
            now = steps.moved(on, step.multipliers, memory, 0.2 * step.bound)
        found[nested] = best
    assert found[1e-3] < 0.85 * found[0.0]


@pytest.mark.parametrize("seed", range(2))
def test_rounding_and_loose_maxima_stay_small_and_on_the_safe_side(seed: int) -> None:
    arrays, rng = random_arrays(seed, 5, floored=False), np.random.default_rng(seed)
    on, _, _ = relaxation(arrays, rng, 5)
    found = evaluate(on, random_multipliers(on, rng), None, 0)
    psi, point = found.outer.psi, found.outer.point
    at_points = np.maximum(psi.value(psi.low), psi.value(np.clip(point, psi.low, psi.high)))
    loose = np.sum(found.outer.each - at_points, axis=0)
    with mpmath.workdps(40):
        for b in range(on.count):
            exact = Exact(on, found, b).bound()
            assert exact <= found.bound[b]
            assert found.bound[b] - loose[b] <= exact + 1e-9 * (1 + abs(exact))
