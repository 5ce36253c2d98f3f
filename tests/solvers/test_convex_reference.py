"""cvxpy with Clarabel as the readable reference: its own split, made feasible, with an honest gap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import InputError, NotSolvedError
from budget_opt.model.arrays import MINIMIZED, Objective
from budget_opt.solvers import disciplined
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, random_problem

CONVEX: list[Objective] = ["geometric_mean", "max_min", "min_epsilon", "min_variance"]
REFERENCE = Settings(solver="cvxpy")


@given(seed=st.integers(0, 10**6), objective=st.sampled_from(CONVEX), ceilings=st.booleans())
@settings(max_examples=10)
def test_each_method_s_bound_holds_for_the_other_s_split(
    seed: int, objective: Objective, ceilings: bool
) -> None:
    arrays = random_problem(seed, objective, ceilings=ceilings)
    sign = -1.0 if objective in MINIMIZED else 1.0
    try:
        theirs = solve(arrays, REFERENCE)
    except NotSolvedError:
        return  # Clarabel says so where it has no split
    ours = solve(arrays).certificate
    assert theirs.solver == "cvxpy"
    assert broken(arrays, theirs.epsilon) == []
    assert sign * theirs.certificate.value <= sign * ours.bound
    assert sign * ours.value <= sign * theirs.certificate.bound


@pytest.mark.parametrize("objective", CONVEX)
def test_at_usual_totals_both_find_the_same_optimum(objective: Objective) -> None:
    arrays = build(
        objective, [2, 5, 7, 3], [[0, 1], [1, 2], [2, 3], [0, 3, 1]], 8.0, [([0, 1], 4.0)],
        floor=[0.05, 0.02, 0.3, 0.01], spread_a=[1.5, 1, 2, 1.1], spread_b=[4.0, 9, 1, 2],
    )  # fmt: skip
    ours, theirs = solve(arrays).certificate, solve(arrays, REFERENCE).certificate
    assert theirs.value == pytest.approx(ours.value, rel=1e-6)
    assert theirs.relative_gap <= 1e-5


def test_the_reference_s_split_is_clarabel_s_and_not_polished(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = np.array([1.5, 0.9, 0.6])
    answer = disciplined.Answer(stated, np.zeros(0), np.zeros(1))
    monkeypatch.setattr(disciplined, "answer", lambda program, seconds: answer)
    found = solve(build("geometric_mean", [4, 3, 5], [[0, 1], [1, 2]], 3.0), REFERENCE)
    assert found.epsilon == pytest.approx(stated, rel=1e-9)
    assert found.status == "feasible"


def test_clarabel_is_given_what_is_left_of_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def answer(program: object, seconds: float) -> None:
        seen.append(seconds)

    monkeypatch.setattr(disciplined, "answer", answer)
    arrays = build("geometric_mean", [4, 3], [[0, 1]], 3.0)
    with pytest.raises(NotSolvedError, match="Use the solver 'interior point'"):
        solve(arrays, Settings(solver="cvxpy", time_limit=30))
    assert 0 < seen[0] < 30


def test_a_time_limit_that_clarabel_meets_leaves_a_split_inside_with_an_honest_gap() -> None:
    arrays = build("max_min", [4] * 20, [[i, j] for i in range(20) for j in range(i)], 20.0)
    found = solve(arrays, Settings(solver="cvxpy", time_limit=1e-3))
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.bound >= found.certificate.value


@pytest.mark.parametrize(
    ("objective", "names"),
    [("max_min", "interior point, cvxpy"), ("weighted_sum", "global search, local search")],
)
def test_an_unknown_method_is_refused_with_the_known_ones(objective: Objective, names: str) -> None:
    with pytest.raises(InputError, match=f"solver: is 'magic', must be one of {names} for {objective}"):
        solve(build(objective, [4, 4], [[0, 1]], 2.0), Settings(solver="magic"))
