"""Ceilings on boxes whose lower ends may be 0: the Weierstrass cut, and what they are worth."""

from __future__ import annotations

import numpy as np
import pytest

from budget_opt.certificate.boxes.bound import evaluate
from budget_opt.certificate.boxes.cuts import Cuts
from budget_opt.certificate.boxes.steps import first
from budget_opt.certificate.pruning.question import Question
from budget_opt.certificate.pruning.tightening import values_and_pulls
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray
from tests.solvers.random_problems import build


def _random_cuts(rng: np.random.Generator, scale: float) -> tuple[Cuts, FloatArray, FloatArray, FloatArray]:
    """Two ceilings on 200 boxes from 0; the cuts, their members, logarithms and upper ends."""
    member = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    high = scale * rng.random((4, 200))
    log_ceiling = np.log(scale) * np.sum(member, axis=1) - rng.exponential(2.0, 2)
    return Cuts.of(member, log_ceiling, high), member, log_ceiling, high


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e-40])
def test_no_point_under_a_ceiling_breaks_its_cut(scale: float) -> None:
    rng = np.random.default_rng(0)
    cuts, member, log_ceiling, high = _random_cuts(rng, scale)
    told = 0
    for _ in range(200):
        z = high * rng.beta(0.7, 0.4, high.shape)
        kept = member @ np.log(np.maximum(z, 1e-300)) <= log_ceiling[:, None]
        assert np.all(cuts.spare(z)[kept] >= 0)
        told += int(np.sum(cuts.spare(z)[~kept] < 0))
    assert told > 1000


def test_the_gap_of_a_cut_is_what_it_misses_of_the_product() -> None:
    rng = np.random.default_rng(1)
    cuts, member, log_ceiling, high = _random_cuts(rng, 1.0)
    z = high * rng.random(high.shape)
    over = np.exp(log_ceiling[:, None] - member @ np.log(high))
    product = np.exp(member @ np.log(z / high))
    expected = (cuts.spare(z) - over + product) * cuts.told
    assert cuts.gap(z) == pytest.approx(expected, abs=1e-10)


def test_an_upper_end_of_0_leaves_a_ceiling_nothing_to_say() -> None:
    cuts = Cuts.of(np.ones((1, 2)), np.log([0.1]), np.array([[0.0], [0.9]]))
    assert not cuts.told.any()
    assert not cuts.limit.any()
    assert not cuts.pull(np.ones((1, 1))).any()


def test_a_ceiling_lowers_the_bound_of_a_box_that_starts_at_0() -> None:
    # z_0 + z_1 with z_0 z_1 <= 0.01: at large totals the best is near 1 + 0.01
    arrays = build("weighted_sum", [4, 4], [[0], [1], [0, 1]], 60.0, weight=[1, 1, 0], ceiling=[1, 1, 0.01])
    question = Question.of(arrays)
    on = question.relaxation(question.lower, question.upper, np.full((2, 1), 0.5))
    multipliers = first(on)
    multipliers.mu[:] = 0.0
    multipliers.capped[:] = 1.0
    assert float(evaluate(on, multipliers).bound[0]) == pytest.approx(1.01, rel=1e-6)
    multipliers.capped[:] = 0.0
    assert float(evaluate(on, multipliers).bound[0]) == pytest.approx(2.0, rel=1e-3)


def test_a_term_with_a_ceiling_is_worth_at_most_that() -> None:
    arrays = build("weighted_sum", [4, 9, 3], [[0, 1, 2], [0, 1]], 40.0, weight=[1, 1], ceiling=[0.2, 0.3])
    question = Question.of(arrays)
    most, pull = values_and_pulls(question.layout, rr.retention(question.upper, question.r))
    assert most[0] == pytest.approx(0.5, rel=1e-12)
    assert pull.min() > 0.9
