"""Where several splits are optimal, the one with the least sum of squares: alike for what is alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray, Objective
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, random_problem, random_split

CONVEX: list[Objective] = ["geometric_mean", "max_min", "min_epsilon", "min_variance"]


def test_attributes_beside_the_bottleneck_get_the_least_sum_of_squares_that_keeps_the_optimum() -> None:
    # the first pair's bounds fix the optimum; the second pair, of 6 and 3 categories, must only reach it
    arrays = build("max_min", [4, 4, 6, 3], [[0, 1], [2, 3]], 10.0, upper=[0.5, 0.5, np.inf, np.inf])
    needed = 2 * rr.log_retention(0.5, 4)

    def other(e: float) -> float:
        return float(rr.epsilon_for_log_retention(needed - rr.log_retention(e, 6.0), 3.0))

    least = minimize_scalar(
        lambda e: e**2 + other(e) ** 2, bounds=(0.3, 3), method="bounded", options={"xatol": 1e-12}
    ).x
    assert solve(arrays).epsilon == pytest.approx([0.5, 0.5, least, other(least)], rel=1e-6)


def test_what_a_full_group_leaves_of_the_total_is_not_spent() -> None:
    arrays = build("max_min", [4, 4, 6, 6, 6], [[0, 1], [2, 3], [3, 4]], 10.0, [([0, 1], 1.0)])
    found = solve(arrays)
    kept = np.exp(log_retentions(arrays, found.epsilon))
    assert kept == pytest.approx([kept[0]] * 3, rel=1e-6)
    assert np.sum(found.epsilon) < 3.0
    assert found.epsilon[2] == pytest.approx(found.epsilon[4], rel=1e-6)


def test_an_attribute_that_only_a_floor_uses_gets_what_the_floor_needs() -> None:
    arrays = build(
        "geometric_mean", [4, 4, 6, 6], [[0, 1], [2, 3]], 10.0,
        upper=[1, 1, np.inf, np.inf], weight=[1, 0], floor=[0, 0.1],
    )  # fmt: skip
    needed = rr.epsilon_for_retention(np.sqrt(0.1), 6.0)
    assert solve(arrays).epsilon == pytest.approx([1, 1, needed, needed], rel=1e-6)


def test_alike_attributes_meet_a_ceiling_alike() -> None:
    found = solve(build("geometric_mean", [4, 4], [[0, 1]], 10.0, ceiling=[0.2])).epsilon
    assert found == pytest.approx([rr.epsilon_for_retention(np.sqrt(0.2), 4.0)] * 2, rel=1e-6)


@given(seed=st.integers(0, 10**6), objective=st.sampled_from(CONVEX))
@settings(max_examples=12)
def test_identical_attributes_get_the_same_epsilon(seed: int, objective: Objective) -> None:
    rng = np.random.default_rng(seed)
    pairs = [[0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    first, second, last = rng.lognormal(0, 1, 3)
    floor = np.repeat(rng.uniform(0.001, 0.03, 3), [2, 2, 1])
    upper = np.where(rng.random() < 0.5, [np.inf, np.inf, 0.9, 1.0], np.inf)
    arrays = build(
        objective, [5, 5, 3, 8], pairs, 12.0,
        weight=[first, first, second, second, last], floor=floor, upper=upper,
    )  # fmt: skip
    epsilon = solve(arrays).epsilon
    assert epsilon[0] == pytest.approx(epsilon[1], rel=1e-6)


def permuted(arrays: Arrays, order: FloatArray) -> Arrays:
    """The same problem with its attributes in another order."""
    place = np.argsort(order)
    parts: dict[str, Any] = {
        name: getattr(arrays, name)[order]
        for name in ("cardinality", "lower", "upper", "stated_upper", "spread_a", "spread_b")
    }
    budgets = tuple(replace(b, members=np.sort(place[b.members])) for b in arrays.budgets)
    incidence = arrays.incidence[:, order]
    return replace(arrays, incidence=incidence, spread_incidence=incidence, budgets=budgets, **parts)


@given(seed=st.integers(0, 10**6), objective=st.sampled_from(CONVEX))
@settings(max_examples=12)
def test_permuting_attributes_permutes_the_answer(seed: int, objective: Objective) -> None:
    arrays = random_problem(seed, objective)
    order = np.random.default_rng(seed).permutation(arrays.blocks)
    plain, turned = solve(arrays).epsilon, solve(permuted(arrays, order)).epsilon
    assert turned == pytest.approx(plain[order], rel=1e-4, abs=1e-6 * np.max(plain))


def test_repeated_solves_agree_to_the_last_bit() -> None:
    for seed in range(8):
        arrays = random_problem(seed, CONVEX[seed % 4], ceilings=seed > 3)
        assert np.array_equal(solve(arrays).epsilon, solve(replace(arrays)).epsilon)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8)
def test_no_optimal_split_has_a_smaller_sum_of_squares(seed: int) -> None:
    """Random splits between the answer and others that stay optimal: none is less in squares."""
    rng = np.random.default_rng(seed)
    arrays = build(
        "max_min", rng.integers(2, 9, 5), [[0, 1], [2, 3], [3, 4], [2, 4]], 20.0,
        upper=[*rng.uniform(0.3, 1.0, 2), np.inf, np.inf, np.inf],
    )  # fmt: skip
    found = solve(arrays)
    for _ in range(200):
        other = found.epsilon + rng.uniform(-1, 1, 5) * 10 ** rng.uniform(-4, -1) * [0, 0, 1, 1, 1]
        other = np.maximum(other, 0.0) if rng.random() < 0.8 else random_split(arrays, rng)
        as_good = np.min(np.exp(log_retentions(arrays, other))) >= found.certificate.value
        if as_good and not broken(arrays, other):
            assert np.sum(other**2) >= np.sum(found.epsilon**2) * (1 - 1e-9)
