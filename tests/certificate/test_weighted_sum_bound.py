"""The bound of weighted sums on the boxes of a problem: valid, convex, exact where it should be."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate import certify
from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import Multipliers, Relaxation, cut_off, evaluate
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.pruning.question import Question
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import log_retentions, value
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, random_problem, random_split


def _root(arrays: Arrays, split: FloatArray) -> tuple[Question, Relaxation]:
    """The relaxation of the whole problem with tangents at a split, and its question."""
    question = Question.of(arrays)
    point = rr.retention(split[:, None], question.r)
    return question, question.relaxation(question.lower, question.upper, point)


def random_multipliers(on: Relaxation, rng: np.random.Generator, scale: float) -> Multipliers:
    """Multipliers of any size, about `scale`, with shares that sum to the weights."""
    base = steps.first(on)
    shares = []
    for share, degree in zip(base.shares, on.layout.degrees, strict=True):
        drawn = rng.exponential(size=share.shape) ** rng.choice([1, 4]) + 1e-30
        shares.append(drawn / np.sum(drawn, axis=1, keepdims=True) * degree.weight[:, None, None])
    price = (float(np.max(base.mu, initial=0.0)) + 1e-9) * 10.0 ** rng.uniform(-2, 1)
    drawn = {
        field.name: rng.exponential(size=array.shape) * price * (rng.random(array.shape) < 0.7)
        for field in fields(base)
        if not isinstance(array := getattr(base, field.name), tuple)
    }
    drawn["kappa"] = rng.exponential(size=base.kappa.shape) * scale * 10.0 ** rng.uniform(-3, 0)
    return replace(base, shares=tuple(shares), **drawn)


@given(seed=st.integers(0, 10**6), ceilings=st.booleans(), passes=st.sampled_from([0, 1, 6]))
@settings(max_examples=15)
def test_no_feasible_split_passes_the_bound_under_any_multipliers(
    seed: int, ceilings: bool, passes: int
) -> None:
    arrays = random_problem(seed, "weighted_sum", ceilings=ceilings)
    rng = np.random.default_rng(seed)
    splits = [random_split(arrays, rng) for _ in range(30)]
    feasible = [value(arrays, split) for split in splits if not broken(arrays, split)]
    question, on = _root(arrays, splits[0])
    unit = question.scale * cut_off(question.layout)
    for _ in range(3):
        multipliers = random_multipliers(on, rng, max(feasible, default=1.0) / question.scale)
        limit = float(evaluate(on, multipliers, None, passes).bound[0]) * unit
        assert all(reached <= limit for reached in feasible)


@given(seed=st.integers(0, 10**6), width=st.floats(-4, -0.3), passes=st.sampled_from([0, 6]))
@settings(max_examples=20)
def test_small_boxes_around_a_split_are_never_bounded_below_its_value(
    seed: int, width: float, passes: int
) -> None:
    # small boxes leave the bound next to no slack, so that a wrong term shows
    rng = np.random.default_rng(seed)
    arrays = random_problem(seed, "weighted_sum", floors=False)
    split = random_split(arrays, rng)
    kept = np.exp(log_retentions(arrays, split))
    floor = np.where((kept > 1e-290) & (rng.random(kept.size) < 0.3), kept * (1 - 1e-9), 0.0)
    with np.errstate(divide="ignore"):
        arrays = replace(arrays, log_floor=np.log(floor))
    question = Question.of(arrays)
    column = split[:, None]
    lower = column - (column - question.lower) * 10.0**width * rng.random(column.shape)
    upper = column + np.maximum(question.upper - column, 0.0) * 10.0**width * rng.random(column.shape)
    on = question.relaxation(lower, upper, rr.retention(column, question.r))
    limits = [
        float(evaluate(on, multipliers, None, passes).bound[0])
        for multipliers in (steps.first(on), random_multipliers(on, rng, 0.1))
    ]
    assert min(limits) * question.scale * cut_off(question.layout) >= value(arrays, split) * (1 - 1e-13)


def test_many_boxes_at_once_say_what_each_says_alone() -> None:
    arrays = random_problem(5, "weighted_sum")
    rng = np.random.default_rng(5)
    question = Question.of(arrays)
    split = random_split(arrays, rng)[:, None]
    lower = np.hstack([question.lower + (split - question.lower) * share for share in (0.0, 0.2, 0.5)])
    upper = np.repeat(question.upper, 3, axis=1)
    point = np.repeat(rr.retention(split, question.r), 3, axis=1)
    many = question.relaxation(lower, upper, point)
    multipliers = random_multipliers(many, rng, 1.0)
    together = evaluate(many, multipliers, passes=0).bound
    for b in range(3):
        index = np.array([b])
        alone = question.relaxation(lower[:, index], upper[:, index], point[:, index])
        own = {
            field.name: tuple(part[..., index] for part in array)
            if isinstance(array := getattr(multipliers, field.name), tuple)
            else array[..., index]
            for field in fields(multipliers)
        }
        assert evaluate(alone, Multipliers(**own), passes=0).bound[0] == pytest.approx(together[b], rel=1e-13)


def test_the_bound_is_convex_in_shares_and_prices_together() -> None:
    arrays = build(
        "weighted_sum", [4, 5, 3, 6], [[0, 1], [1, 2], [0, 1, 2], [2, 3], [0, 1, 2, 3]], 4.0, [([0, 1], 2.5)]
    )
    rng = np.random.default_rng(3)
    _, on = _root(arrays, np.ones(4))
    for _ in range(12):
        here, there = (random_multipliers(on, rng, 0.2) for _ in range(2))
        between = {
            field.name: tuple(0.5 * (a + b) for a, b in zip(one, getattr(there, field.name), strict=True))
            if isinstance(one := getattr(here, field.name), tuple)
            else 0.5 * (one + getattr(there, field.name))
            for field in fields(here)
        }
        ends = [float(evaluate(on, end, passes=0).bound[0]) for end in (here, there)]
        assert float(evaluate(on, Multipliers(**between), passes=0).bound[0]) <= np.mean(ends) * (1 + 1e-9)


def test_the_price_that_is_found_is_never_worse_than_the_stated_one() -> None:
    arrays = random_problem(11, "weighted_sum")
    rng = np.random.default_rng(0)
    _, on = _root(arrays, random_split(arrays, rng))
    for _ in range(10):
        multipliers = random_multipliers(on, rng, 0.1)
        stated = float(evaluate(on, multipliers, passes=0).bound[0])
        assert float(evaluate(on, multipliers, None, 40).bound[0]) <= stated * (1 + 1e-9)


def test_with_a_large_budget_the_root_bound_is_exact() -> None:
    arrays = build("weighted_sum", [4, 4, 4], [[0, 1], [1, 2], [0, 2]], 60.0)
    certificate = certify(arrays, np.full(3, 20.0))
    assert certificate.bound >= certificate.value
    assert certificate.relative_gap <= 1e-6


def test_a_single_active_pair_is_proved_at_the_root() -> None:
    arrays = build("weighted_sum", [4, 4], [[0, 1]], 4.0)
    certificate = certify(arrays, np.array([2.0, 2.0]))
    assert certificate.relative_gap <= 1e-3


def test_weights_of_zero_and_single_attributes_are_understood() -> None:
    arrays = build("weighted_sum", [4, 3, 5], [[0], [1, 2], [0, 1]], 2.0, weight=[1.0, 0.0, 0.0])
    certificate = certify(arrays, np.array([2.0, 0.0, 0.0]))
    assert certificate.value == pytest.approx(float(rr.retention(2.0, 4)))
    assert certificate.relative_gap <= 1e-6
    nothing = replace(arrays, weight=np.zeros(3))
    assert certify(nothing, np.zeros(3)).relative_gap == 0.0


def test_the_layout_lists_every_ordered_pair_of_a_term_once() -> None:
    arrays = build("weighted_sum", [2] * 4, [[0, 1], [0, 1, 2], [3]], 1.0)
    layout = Layout.of(arrays.incidence, arrays.weight)
    pairs = set(zip(layout.centre.tolist(), layout.other.tolist(), strict=True))
    assert pairs == {(i, j) for i in range(3) for j in range(3) if i != j}
    assert layout.single.tolist() == [0, 0, 0, 1]


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@settings(max_examples=3)
def test_budgets_that_hold_few_attributes_down_do_not_make_the_bound_too_low(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, total = int(rng.integers(2, 5)), float(10 ** rng.uniform(-1, 1.4))
    moments = [sorted(rng.choice(m, int(rng.integers(1, min(m, 3) + 1)), replace=False)) for _ in range(6)]
    groups = [
        ([int(i) for i in rng.choice(m, int(rng.integers(1, m)), replace=False)], total * float(share))
        for share in rng.choice([0.014, 0.1, 0.5, 0.9], 2)
    ]
    arrays = build(
        "weighted_sum", rng.integers(2, 17, m), moments, total, groups, weight=rng.lognormal(0, 1, 6)
    )
    found = solve(arrays, Settings(solver="local search"))
    assert found.certificate.bound >= found.certificate.value
    assert certify(arrays, random_split(arrays, rng)).bound >= found.certificate.value
