"""The known optima of larger shared problems, proved by the search."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.solvers.test_global_search import proves_the_known_optimum

CLOSED = [
    "dense15_0.7", "dense15_2.0", "dense20_0.7", "dense20_2.0", "floor10", "floor15", "mix12_1.0",
    "sparse30_0.7", "sparse50_0.7", "sym12",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED)
def test_the_known_optimum_is_proved(shared_instances: Path, name: str) -> None:
    proves_the_known_optimum(shared_instances, name)
