"""Time limits, interruption, progress, and the choice of a method."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from budget_opt.solvers.answer import Report, Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build


def _dense(n: int = 12) -> tuple[list[int], list[list[int]]]:
    return [2 + i % 7 for i in range(n)], [[i, j] for i in range(n) for j in range(i)]


@pytest.mark.parametrize("objective", ["weighted_sum", "geometric_mean"])
def test_an_interrupted_solve_returns_its_best_split_with_an_honest_gap(objective: str) -> None:
    arrays = build(objective, *_dense(), 9.0, floor=[0.001] * 66)
    seen: list[Report] = []

    def interrupt(report: Report) -> None:
        seen.append(report)
        raise KeyboardInterrupt

    method = "local search" if objective == "weighted_sum" else "interior point"
    found = solve(arrays, Settings(solver=method), interrupt)
    assert len(seen) == 1
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.bound >= found.certificate.value


def test_a_short_time_limit_still_returns_a_split_inside_its_constraints() -> None:
    arrays = build("weighted_sum", *_dense(20), 14.0)
    found = solve(arrays, Settings(time_limit=0.3, solver="local search"))
    assert broken(arrays, found.epsilon) == []
    assert found.status == "feasible"
    assert found.seconds < 6.0


def test_a_limit_that_has_passed_leaves_the_first_split() -> None:
    arrays = build("weighted_sum", *_dense(), 9.0)
    found = solve(arrays, Settings(time_limit=1e-9, solver="local search"))
    assert found.epsilon == pytest.approx(np.full(12, found.epsilon[0]))


def test_progress_reports_values_that_never_get_worse() -> None:
    seen: list[Report] = []
    solve(build("weighted_sum", *_dense(), 9.0), Settings(solver="local search"), seen.append)
    values = [report.value for report in seen if report.value is not None]
    assert values
    assert values == sorted(values)
    assert all(later.seconds >= earlier.seconds for earlier, later in pairwise(seen))


def test_convex_progress_reports_a_bound_above_the_value() -> None:
    seen: list[Report] = []
    solve(build("geometric_mean", *_dense(), 9.0), Settings(solver="interior point"), seen.append)
    for report in seen:
        assert report.value is not None
        assert report.bound is not None
        assert report.bound >= report.value


def test_linear_algebra_has_one_thread_inside_the_solve_and_its_own_number_afterwards() -> None:
    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before, during = threads(), list[int]()
    arrays = build("geometric_mean", *_dense(), 9.0)
    solve(arrays, Settings(), lambda _: during.extend(threads()))
    assert set(during) == {1}
    assert threads() == before


def test_no_global_random_state_is_touched() -> None:
    np.random.seed(7)  # noqa: NPY002 (the state that must not move)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    solve(build("weighted_sum", [4, 3, 5], [[0, 1], [1, 2]], 3.0), Settings(solver="local search"))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
