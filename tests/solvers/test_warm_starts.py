"""Starts and neighbours only help: the answer is as good, the bound holds, and nonsense does no harm."""

import math
from functools import cache

import numpy as np
import pytest

from budget_opt.certificate.pruning.question import Question
from budget_opt.errors import InfeasibleError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.objectives import value
from budget_opt.solvers.answer import Clock, OutOfTimeError, Settings, Task
from budget_opt.solvers.ascent import Sum, within
from budget_opt.solvers.global_search import together
from budget_opt.solvers.global_search.bounding import bounded
from budget_opt.solvers.global_search.method import begun
from budget_opt.solvers.global_search.search import Search
from budget_opt.solvers.global_search.together import Several, kind
from budget_opt.solvers.table import solve, solve_quickly, solve_series
from tests.solvers.random_problems import broken, build

GAP = 1e-3
ASKED = Settings(gap=GAP)
PAIRS = [(i, j) for i in range(6) for j in range(i)]


def drawn(seed, total, **given):
    """Six attributes and all their pairs."""
    rng = np.random.default_rng([5, seed])
    cardinality = rng.integers(2, 9, 6).astype(np.float64)
    weight = rng.uniform(0.1, 3, len(PAIRS))
    return build("weighted_sum", cardinality, PAIRS, total, weight=weight, **given)


FLOORED = {"floor": [0.05] + [0.0] * 14}
GROUPED = {"groups": (((0, 1, 2), 2.5),)}
CAPPED = {"ceiling": [0.3] + [1.0] * 14}


NONSENSE = {
    "nan": [np.full(6, np.nan)],
    "inf and negative": [np.full(6, np.inf), -np.ones(6)],
    "zero": [np.zeros(6)],
    "far too much": [np.full(6, 1e9)],
    "other shapes": [np.ones(3), np.ones((6, 2))],
    "a corner": [np.array([4.0, 0, 0, 0, 0, 0])],
}
EVERY = [start for starts in NONSENSE.values() for start in starts]


KINDS = {"total": {}, "floor": FLOORED, "group": GROUPED, "ceiling": CAPPED}


@cache
def without_a_start(name):
    """The answer of a solve of its own."""
    return solve(drawn(0, 4.0, **KINDS[name]), ASKED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("starts", "name"),
    [(starts, "total") for starts in NONSENSE.values()] + [(EVERY, name) for name in [*KINDS][1:]],
    ids=[*NONSENSE, "all under a floor", "all under a group", "all under a ceiling"],
)
def test_no_start_makes_an_answer_worse_than_its_gap(starts, name):
    arrays = drawn(0, 4.0, **KINDS[name])
    cold, warm = without_a_start(name), solve(arrays, ASKED, starts=starts)
    assert broken(arrays, warm.epsilon) == []
    assert warm.status == "optimal"
    assert warm.certificate.value >= cold.certificate.value * (1 - GAP)
    assert warm.certificate.bound >= cold.certificate.value * (1 - 1e-12)


def test_the_optimum_nearby_is_a_start_as_good_as_many():
    near, arrays = without_a_start("total").epsilon, drawn(0, 4.4)
    cold, warm = solve(arrays, ASKED), solve(arrays, ASKED, starts=[near])
    assert math.isclose(warm.certificate.value, cold.certificate.value, rel_tol=GAP)
    assert warm.certificate.relative_gap <= GAP


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, FLOORED, GROUPED, CAPPED], ids=["total", "floor", "group", "ceiling"])
def test_a_series_proves_for_every_total_what_a_search_of_its_own_proves(given):
    totals = [3.5, 6.0]
    series = [drawn(1, total, **given) for total in totals]
    asked = Settings(gap=2e-2) if given is CAPPED else ASKED  # ceilings take long to prove
    ended = []
    told = solve_series(series, asked, Clock(None), lambda k, _v, _b, end: ended.append(k) if end else None)
    assert sorted(ended) == [0, 1]
    for arrays, in_step in zip(series, told, strict=True):
        alone = solve(arrays, asked)
        proved = in_step.certificate
        assert broken(arrays, in_step.epsilon) == []
        assert proved.relative_gap <= asked.gap
        assert math.isclose(proved.value, value(arrays, in_step.epsilon), rel_tol=1e-12)
        assert proved.bound >= alone.certificate.value * (1 - 1e-12)
        assert proved.value <= alone.certificate.bound * (1 + 1e-12)


def test_a_series_is_the_same_with_other_weights_beside_it():
    # questions of another kind go their own way
    one, other = drawn(1, 4.0), drawn(2, 5.0)
    assert kind(Question.of(one)) == kind(Question.of(drawn(1, 5.0)))
    assert kind(Question.of(one)) != kind(Question.of(other))
    found = solve_series([one, other], ASKED, Clock(None), lambda *_: None)
    for arrays, candidate in zip([one, other], found, strict=True):
        assert candidate.certificate.relative_gap <= GAP
        assert candidate.certificate.bound >= solve(arrays, ASKED).certificate.value * (1 - 1e-12)


def test_an_impossible_total_in_a_series_is_told_and_the_others_are_solved():
    series = [drawn(0, total, floor=[0.2] + [0.0] * 14) for total in (0.3, 6.0)]
    asked = Settings(gap=GAP, explanation_limit=0.0)
    below, above = solve_series(series, asked, Clock(None), lambda *_: None)
    assert isinstance(below, InfeasibleError)
    assert above.status == "optimal"


def test_boxes_side_by_side_have_the_relaxation_of_their_own_question():
    questions = [Question.of(drawn(0, total, **CAPPED)) for total in (2.0, 5.0)]
    lower = np.hstack([question.lower for question in questions])
    upper = np.hstack([question.upper for question in questions])
    point = rr.retention(0.5 * (lower + upper), questions[0].r)
    caps = np.stack([question.caps for question in questions], axis=1)
    both = Several(questions[0], caps).relaxation(lower, upper, point)
    for k, question in enumerate(questions):
        own = question.relaxation(lower[:, [k]], upper[:, [k]], point[:, [k]])
        some = both.only(np.array([k]))
        np.testing.assert_array_equal(some.rows.limit, np.broadcast_to(own.rows.limit, some.rows.limit.shape))
        np.testing.assert_array_equal(some.rows.coefficient, own.rows.coefficient)
        np.testing.assert_array_equal(some.high, own.high)


def started(total, **given):
    """A search of a total with its root, ready to be bounded."""
    task = Task(drawn(2, total, **given), Settings(gap=1e-9), Clock(None))
    search = Search(Question.of(task.arrays), 1e-9, begun(task), task.clock.check)
    return search, next(search.rounds(lambda *_: None))


@pytest.mark.slow
@pytest.mark.parametrize("given", [GROUPED, CAPPED], ids=["group", "ceiling"])
def test_boxes_side_by_side_are_bounded_as_they_are_alone(given):
    searches, roots = zip(*(started(total, **given) for total in (3.0, 7.0)), strict=True)
    shares = together.side_by_side(searches, roots, 10)
    for search, root, share in zip(searches, roots, shares, strict=True):
        alone = bounded(search.question, root, search.cut, 10)
        np.testing.assert_allclose(share.batch.bound, alone.batch.bound, rtol=1e-12)
        np.testing.assert_array_equal(share.kept, alone.kept)
        np.testing.assert_array_equal(share.attribute, alone.attribute)


def test_after_ctrl_c_the_clock_stops_whoever_looks_at_it():
    clock = Clock(None)
    with clock.ending_early():
        raise KeyboardInterrupt
    assert clock.interrupted
    with pytest.raises(OutOfTimeError):
        clock.check()


def test_ctrl_c_ends_a_solve_with_an_honest_answer_that_says_so():
    def stop(_):
        raise KeyboardInterrupt

    found = solve(drawn(0, 4.0), Settings(gap=1e-9), stop)
    assert found.interrupted
    assert found.certificate.bound >= found.certificate.value
    assert not solve(drawn(0, 4.0), ASKED).interrupted


@pytest.mark.parametrize("name", ["total", "ceiling"])
def test_a_quick_split_keeps_everything_and_its_bound_holds(name):
    arrays = drawn(0, 4.0, **KINDS[name])
    quick, best = solve_quickly(arrays, [np.full(6, 4.0 / 6)], steps=3), without_a_start(name)
    assert broken(arrays, quick.epsilon) == []
    assert quick.certificate.value >= 0.95 * best.certificate.value
    assert quick.certificate.bound >= best.certificate.value
    assert quick.status == "feasible"


def test_any_numbers_become_a_split_within_bounds_and_the_rest():
    rows = build("weighted_sum", [3, 3, 3], [(0, 1), (1, 2)], 2.0).incidence
    lower, upper = np.array([0.1, 0, 0]), np.array([1.0, 2, 0.5])
    total = Sum(np.ones(2), rows, np.full(3, 3.0), lower, upper, 1.2)
    for numbers in ([9, 9, 9], [-1, 0, 0], [0.2, 0.1, 0.1], [1e300, 0, 0]):
        split = within(total, np.array(numbers, dtype=np.float64))
        assert np.all((lower <= split) & (split <= upper))
        assert np.sum(split - lower) <= 1.2 * (1 + 1e-12)
