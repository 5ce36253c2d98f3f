"""The known optima of larger shared problems, proved by the search within its default limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from budget_opt.solvers.answer import Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken
from tests.solvers.test_global_search import instance, proves_the_known_optimum

CLOSED = [
    "dense10_0.2", "dense12_0.7", "dense15_0.2", "dense15_0.7", "dense15_2.0", "dense20_0.2", "dense20_0.7",
    "dense20_2.0", "floor10", "floor15", "mix12_1.0", "sparse30_0.2", "sparse30_0.7", "sparse30_2.0",
    "sparse50_0.7", "sym10", "sym12",
]  # fmt: skip
OPEN = ["mix20_1.0"]
"""Proved as well, but not on a busy machine within the default limit."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED)
def test_the_known_optimum_is_proved(shared_instances: Path, name: str) -> None:
    proves_the_known_optimum(shared_instances, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPEN)
def test_the_known_optimum_is_found_and_never_excluded(shared_instances: Path, name: str) -> None:
    arrays, known = instance(shared_instances, name)
    found = solve(arrays, Settings(time_limit=10))
    assert found.certificate.value >= known * (1 - 1e-6)
    assert found.certificate.bound >= known
    assert broken(arrays, found.epsilon) == []
