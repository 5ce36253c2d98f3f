"""Weak duality: whatever the multipliers, no feasible split passes the bound (DESIGN 2.5)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate import Multipliers, certify
from budget_opt.certificate.convex import Frame, bound
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray, Objective
from budget_opt.model.objectives import value
from tests.solvers.random_problems import broken, build, random_problem, random_split

CONVEX: list[Objective] = ["geometric_mean", "max_min", "min_epsilon", "min_variance"]


def _passes(arrays: Arrays, epsilon: FloatArray, limit: float) -> bool:
    reached = value(arrays, epsilon)
    return reached < limit if arrays.objective in MINIMIZED else reached > limit


def _random_multipliers(arrays: Arrays, rng: np.random.Generator, point: FloatArray) -> Multipliers:
    def some(count: int) -> FloatArray:
        return rng.exponential(size=count) * 10.0 ** rng.uniform(-4, 2) * (rng.random(count) < 0.7)

    scale = np.array([1.0 / float(budget.cap) for budget in arrays.budgets])
    return Multipliers(
        some(arrays.moments), some(arrays.moments), some(scale.size) * scale, some(arrays.moments), point
    )


@given(seed=st.integers(0, 10**6), objective=st.sampled_from(CONVEX), ceilings=st.booleans())
@settings(max_examples=25)
def test_no_feasible_split_passes_the_bound_of_any_multipliers(
    seed: int, objective: Objective, ceilings: bool
) -> None:
    arrays = random_problem(seed, objective, ceilings=ceilings)
    rng = np.random.default_rng(seed)
    frame = Frame.of(arrays)
    splits = [random_split(arrays, rng) for _ in range(20)]
    feasible = [split for split in splits if not broken(arrays, split)]
    for _ in range(3):
        point = splits[0]
        limit = bound(frame, point, _random_multipliers(arrays, rng, point))
        assert not any(_passes(arrays, split, limit) for split in feasible)


@pytest.mark.parametrize("objective", CONVEX)
def test_negative_and_undefined_multipliers_are_taken_as_zero(objective: Objective) -> None:
    arrays = build(objective, [4, 4, 3], [[0, 1], [1, 2]], 3.0, floor=[0.1, 0.05])
    split = np.array([1.0, 1.0, 1.0])
    wild = Multipliers(np.array([-1.0, np.nan]), np.array([np.inf, -2.0]), np.array([np.nan]), np.zeros(2))
    limit = bound(Frame.of(arrays), split, wild)
    assert limit == bound(Frame.of(arrays), split, Multipliers.zero(arrays))


@pytest.mark.parametrize("size", [1.7e308, 5e-324])
def test_shares_of_any_size_are_those_of_the_same_proportions(size: float) -> None:
    # targets below 1: without shares that sum to 1 the bound would be 1, and splits are better
    arrays = build("max_min", [2, 2, 2], [[0, 1], [2]], 2.0, target=[0.1, 0.1])
    split, nothing = np.array([0.7, 0.7, 0.6]), np.zeros(2)
    stated = Multipliers(nothing, np.full(2, size), np.zeros(1), nothing)
    limit = bound(Frame.of(arrays), split, stated)
    assert limit == bound(Frame.of(arrays), split, Multipliers(nothing, np.ones(2), np.zeros(1), nothing))
    assert limit >= value(arrays, split) > 1.0


def test_the_bound_uses_the_exact_cap_and_not_the_double_near_it() -> None:
    # three pins of 0.1 leave 0.3 - 0.3 = 0 in decimals, while 0.1 + 0.1 + 0.1 > 0.3 in doubles
    arrays = build("geometric_mean", [4, 4, 4], [[0, 1], [1, 2]], 0.3, lower=[0.1] * 3, upper=[0.1] * 3)
    certificate = certify(arrays, np.full(3, 0.1))
    assert certificate.relative_gap <= 1e-12


def test_an_even_split_of_alike_attributes_is_proved_from_the_split_alone() -> None:
    arrays = build("geometric_mean", [4] * 5, [[i, j] for i in range(5) for j in range(i)], 5.0)
    certificate = certify(arrays, np.ones(5))
    assert certificate.bound >= certificate.value
    assert certificate.relative_gap <= 1e-10


def test_a_poor_split_gets_an_honest_gap() -> None:
    arrays = build("geometric_mean", [4] * 5, [[i, j] for i in range(5) for j in range(i)], 5.0)
    certificate = certify(arrays, np.array([3.0, 0.5, 0.5, 0.5, 0.5]))
    best = certify(arrays, np.ones(5))
    assert certificate.bound >= best.value
    assert certificate.relative_gap >= 0.9 * (best.value - certificate.value) / certificate.value
