"""Searches that walk the tree of another total: every box of theirs is bounded as their own question asks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from budget_opt.certificate.boxes.bound import cut_off
from budget_opt.certificate.pruning.question import Question
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.objectives import value
from budget_opt.solvers.answer import Clock, Settings, Task
from budget_opt.solvers.global_search import together
from budget_opt.solvers.global_search.guided import Guide, walked
from budget_opt.solvers.global_search.method import begun
from budget_opt.solvers.global_search.recording import Recording
from budget_opt.solvers.global_search.search import Search
from budget_opt.solvers.table import solve, solve_series
from tests.solvers.test_warm_starts import FLOORED, GROUPED, drawn

GAP = 1e-5


def search_of(total, recording=None, **given):
    """A search of a total that has not begun."""
    task = Task(drawn(1, total, **given), Settings(gap=GAP), Clock(None))
    name = 0 if recording is None else recording.root()
    return Search(
        Question.of(task.arrays), GAP, begun(task), task.clock.check, recording=recording, name=name
    )


def guide_of(total, **given):
    """The tree of a total."""
    search = search_of(total, Recording(), **given)
    together.begun([search], lambda *_: None).go_on()
    return Guide(search.recording, search.name)


def points_in(question, rng, count=400):
    """Random splits (M, count) in the root box that spend the total."""
    share = rng.dirichlet(np.full(len(question.lower), 0.3), count).T
    return np.clip(share * question.caps[0], question.lower, question.upper)


@pytest.mark.parametrize(
    ("at", "given"),
    [
        pytest.param(3.0, {}, id="total"),
        pytest.param(4.4, FLOORED, id="floor", marks=pytest.mark.slow),
        pytest.param(7.0, GROUPED, id="group", marks=pytest.mark.slow),
    ],
)
def test_a_guided_search_proves_what_a_search_of_its_own_proves(given, at):
    guide = guide_of(4.0, **given)
    assert guide.knows
    search = search_of(at, **given)
    together.follow([search], [guide], lambda *_: None)
    alone = solve(drawn(1, at, **given), Settings(gap=1e-7))
    assert alone.certificate.relative_gap <= 1e-7
    assert search.bound >= alone.certificate.value * (1 - 1e-12)
    assert search.bound <= search.incumbent.value * (1 + GAP)


def test_every_good_split_is_in_a_box_that_the_walk_left_open():
    # the cut is so low that nothing but constraints and order may end a box
    search = search_of(7.0)
    search.incumbent.best.value *= 0.7
    walk = together.Running([search], [walked(search, guide_of(4.0))], lambda _: None)
    walk.go_on(0)
    question = search.question
    lost = 0
    for split in (search.incumbent.split, *points_in(question, np.random.default_rng(3)).T):
        good = value(question.arrays, split) > search.cut * question.scale * cut_off(question.layout)
        boxes = [node for *_, node in search.queue.entries]
        inside = any(np.all((node.lower <= split + 1e-9) & (split <= node.upper + 1e-9)) for node in boxes)
        lost += good and not inside
    assert lost == 0
    assert len(search.queue.entries) > 1


def test_a_guide_that_says_nonsense_leads_to_no_wrong_bound():
    guide, rng = guide_of(4.0), np.random.default_rng(5)
    recording = guide.recording
    for name, numbers in recording.numbers.items():
        recording.numbers[name] = (numbers * rng.uniform(0, 3, numbers.shape)).astype(np.float32)
    recording.at = [float(at) * rng.uniform(0, 2) for at in recording.at]
    search = search_of(4.4)
    together.follow([search], [guide], lambda *_: None)
    optimum = solve(drawn(1, 4.4), Settings(gap=1e-7)).certificate.value
    assert search.bound >= optimum * (1 - 1e-12)
    assert search.bound <= search.incumbent.value * (1 + GAP)


def test_a_search_that_ended_at_its_root_guides_nobody():
    search = search_of(4.0, Recording())
    search.incumbent.best.value *= 10.0
    together.begun([search], lambda *_: None).go_on()
    assert not Guide(search.recording, search.name).knows


@pytest.mark.slow
def test_many_totals_guide_each_other_to_the_answers_of_single_solves():
    totals = [2.0 + 0.5 * k for k in range(8)]
    series = [drawn(2, total) for total in totals]
    asked = Settings(gap=GAP)
    for arrays, found in zip(series, solve_series(series, asked, Clock(None), lambda *_: None), strict=True):
        alone = solve(arrays, asked)
        assert found.certificate.relative_gap <= GAP
        assert found.certificate.bound >= alone.certificate.value * (1 - 1e-12)
        assert math.isclose(found.certificate.value, alone.certificate.value, rel_tol=GAP)
        assert np.all(rr.retention(found.epsilon, arrays.cardinality) <= 1)
