"""What the box, its budgets and the ceilings' chords leave out is never feasible."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate.box import root_box
from budget_opt.certificate.pruning.question import Question
from tests.solvers.random_problems import broken, build, random_problem, random_split


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25)
def test_every_feasible_split_lies_in_the_box(seed: int) -> None:
    arrays = random_problem(seed, ceilings=True)
    box = root_box(arrays)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        split = random_split(arrays, rng)
        if not broken(arrays, split):
            assert not box.empty
            assert np.all(box.lower <= split)
            assert np.all(split <= box.upper)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_every_feasible_split_lies_below_the_rows_of_a_box_around_it(seed: int) -> None:
    arrays = random_problem(seed, "weighted_sum", ceilings=True)
    question, rng = Question.of(arrays), np.random.default_rng(seed)
    for _ in range(20):
        split = random_split(arrays, rng)
        if broken(arrays, split):
            continue
        column = split[:, None]
        lower = column * rng.random((split.size, 3))
        upper = column + rng.random((split.size, 3)) * rng.choice([1e-6, 1.0])
        rows = question.rows(lower, upper)
        spent = np.sum(rows.coefficient * column, axis=1)
        assert np.all(spent <= rows.limit)


def test_a_floor_raises_the_lower_bounds_of_its_attributes() -> None:
    arrays = build("geometric_mean", [4, 4], [[0, 1]], 5.0, floor=[0.3])
    box = root_box(arrays)
    assert np.all(box.lower > 0.5)
    assert np.all(box.upper < 5.0)


def test_floors_that_cannot_hold_within_the_bounds_empty_the_box() -> None:
    arrays = build("geometric_mean", [4, 4], [[0, 1]], 5.0, upper=[0.1, 9.0], floor=[0.3])
    assert root_box(arrays).empty
