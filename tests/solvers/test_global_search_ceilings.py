"""The global search under ceilings: it closes, and boxes that hold the optimum are never dropped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from budget_opt.certificate.boxes.bound import cut_off
from budget_opt.certificate.pruning.question import Question
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.global_search.bounding import bounded
from budget_opt.solvers.global_search.root import first_batch
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, random_problem

CLOSED = [13, 36]
"""Left with gaps of 0.8 % to a factor of 500,000 where the only ceilings' rows are chords of log lambda."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", CLOSED)
def test_searches_under_ceilings_close(seed: int) -> None:
    arrays = random_problem(seed, "weighted_sum", ceilings=True)
    found = solve(arrays, Settings(gap=1e-4))
    assert found.status == "optimal"
    assert not broken(arrays, found.epsilon)


@pytest.mark.slow
def test_a_box_that_holds_the_optimum_is_never_dropped() -> None:
    seed = 38
    arrays = random_problem(seed, "weighted_sum", ceilings=True)
    question, rng = Question.of(arrays), np.random.default_rng(seed)
    found = solve(arrays, Settings(gap=1e-6))
    best = found.epsilon[:, None]
    value = found.certificate.value / question.scale / cut_off(question.layout)
    ends = question.lower, question.upper
    on = question.relaxation(*ends, rr.retention(best, question.r))
    root = first_batch(on, ends, value, lambda _: None)
    for below in (0.9, 0.999, 1 - 1e-7):
        count = 24
        share = rng.random((2, len(best), count)) ** 4
        many = root.only(np.zeros(count, dtype=np.int64))
        lower = best - (best - question.lower) * share[0]
        upper = best + (question.upper - best) * share[1]
        survived = bounded(question, replace(many, lower=lower, upper=upper), value * below)
        assert survived is not None
        assert survived.kept.size == count
        assert np.all(survived.batch.lower <= best * (1 + 1e-12))
        assert np.all(survived.batch.upper >= best * (1 - 1e-12))
