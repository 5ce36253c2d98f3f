"""The first 132 problems of benchmarks/random_problems.py, and that its judge sees what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.random_problems import KINDS, SETTINGS, faults, judged, problem
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, TOTAL
from budget_opt.model.objectives import relative_gap
from budget_opt.solvers.table import solve


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 44, 88])
def test_budgets_are_exact_and_certificates_valid_in_132_random_problems_of_all_kinds(first: int) -> None:
    results = [judged(seed) for seed in range(first, first + 44)]
    assert [one for one in results if one.faults] == []
    answered = [one for one in results if one.outcome in {"optimal", "feasible"}]
    assert {one.kind for one in answered} >= set(KINDS) - {"crowded"}


@pytest.mark.parametrize("seed", range(len(OBJECTIVES)))
def test_the_judge_sees_a_bound_that_is_too_good_a_wrong_status_and_a_split_that_overspends(
    seed: int,
) -> None:
    arrays = problem(seed)
    found = solve(arrays, replace(SETTINGS, time_limit=60))  # a busy machine needs more than half a second
    assert list(faults(arrays, found, seed, thorough=True)) == []
    right = found.certificate
    tighter = right.value * (1 + 1e-5 if arrays.objective in MINIMIZED else 1 - 1e-5)
    wrong = replace(right, bound=tighter, relative_gap=relative_gap(right.value, tighter))
    said = list(faults(arrays, replace(found, certificate=wrong), seed, thorough=True))
    assert any("is passed by a split" in fault for fault in said)
    assert list(faults(arrays, replace(found, status="feasible"), seed, thorough=False))
    total = float(arrays.budgets[0].cap)
    more = found.epsilon * (total / np.sum(found.epsilon)) * (1 + 1e-9)
    assert f"breaks {TOTAL}" in list(faults(arrays, replace(found, epsilon=more), seed, thorough=False))
