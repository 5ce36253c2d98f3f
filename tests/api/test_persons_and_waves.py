"""Whose privacy is stated, and for how many waves, goes from the problem into every split of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import budget_opt as bo

PROBLEM = bo.Problem(
    total_epsilon=2.0,
    objective="geometric_mean",
    attributes=[bo.Attribute(name, categories=3) for name in "abc"],
    moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c")],
    unit={"of": "person", "id": "pid", "max_rows": 4},
    waves=3,
    dropped=["pid"],
)
SPLITS: dict[str, Callable[[], bo.Allocation]] = {
    "solve": lambda: bo.solve(PROBLEM),
    "uniform": lambda: bo.uniform(PROBLEM),
    "by hand": lambda: bo.allocation_from(PROBLEM, {"a": 0.5, "b": 1, "c": 0.5}),
    "rounded": lambda: bo.rounded(bo.solve(PROBLEM), 0.05).allocation,
    "judged": lambda: bo.judge(PROBLEM, {"a": 0.5, "b": 1, "c": 0.5}).allocation,
    "frontier": lambda: bo.frontier(PROBLEM, total_epsilon=[1.0, 2.0]).points[-1].allocation,
}


@pytest.mark.parametrize("name", SPLITS)
def test_every_split_carries_the_unit_and_the_waves_and_keeps_the_budget_of_one_record(
    name: str, tmp_path: Path
) -> None:
    made = SPLITS[name]()
    made.write(tmp_path / "a.json")
    for allocation in (made, bo.Allocation.read(tmp_path / "a.json")):
        assert allocation.unit == PROBLEM.unit
        assert allocation.waves == 3
        assert allocation.spent_epsilon <= 2.0
        assert allocation.unit_loss == pytest.approx(4 * allocation.loss, rel=1e-15)
        assert allocation.planned_loss == pytest.approx(12 * allocation.loss, rel=1e-15)
        assert bo.verify(allocation).holds


def test_another_unit_or_number_of_waves_is_another_problem() -> None:
    others = [
        PROBLEM.with_fields(waves=2),
        PROBLEM.with_fields(unit={"of": "person", "id": "pid", "max_rows": 3}),
        PROBLEM.with_fields(unit={"of": "record"}),
    ]
    assert len({PROBLEM.sha256, *(other.sha256 for other in others)}) == 4
