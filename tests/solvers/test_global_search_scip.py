"""The search beside SCIP on small problems with floors, groups, bounds and pins, orders 1 to 4."""

from __future__ import annotations

from itertools import count, islice

import numpy as np
import pytest

from budget_opt.model.arrays import Arrays
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import random_problem

SLACK = 1e-5
"""Relative: SCIP may overspend and fall short of floors by its tolerance of 1e-6."""


def _within_scips_digits(arrays: Arrays) -> bool:
    used = arrays.weight[arrays.weight > 0]
    ordinary = bool(np.max(arrays.cardinality) <= 20 and np.max(used) <= 1e4 * np.min(used))
    return ordinary and 0.5 <= float(arrays.budgets[0].cap) <= 30 and arrays.blocks <= 6


PROBLEMS = [*islice((n for n in count() if _within_scips_digits(random_problem(n, "weighted_sum"))), 8)]


def test_the_problems_are_of_every_kind() -> None:
    problems = [random_problem(seed, "weighted_sum") for seed in PROBLEMS]
    assert any(arrays.floors.size for arrays in problems)
    assert any(len(arrays.budgets) > 1 for arrays in problems)
    assert any(np.any(arrays.lower > 0) for arrays in problems)
    assert max(len(arrays.members(k)) for arrays in problems for k in range(arrays.moments)) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", PROBLEMS)
def test_scip_finds_the_same_optimum(seed: int) -> None:
    pytest.importorskip("pyscipopt")
    from benchmarks.scip_form import run

    arrays = random_problem(seed, "weighted_sum")
    found = solve(arrays, Settings(time_limit=120)).certificate
    scip = run(arrays, (1e-7,), 20.0)
    assert scip.value is not None
    assert found.bound >= scip.value * (1 - SLACK)
    assert found.value <= scip.value * (1 + SLACK) + SLACK * (scip.gap or 0.0) or scip.times[0] is None
    assert found.relative_gap <= 1e-6
