"""Any split beside what is possible: value, bound, gap, and what it breaks."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.allocation.rounding import fitted
from budget_opt.api.splits import read_split
from budget_opt.model.arrays import OBJECTIVES, Objective
from budget_opt.model.objectives import relative_gap
from budget_opt.verifier.static import constraint_checks
from tests.solvers.random_problems import random_split


def problem(objective: Objective = "geometric_mean", **fields: Any) -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("smoker", categories=2, epsilon_max=1.5),
            bo.Attribute("income", categories=5, epsilon_min=0.2),
            bo.Attribute("region", categories=4),
        ],
        moments=[
            bo.CrossMoment("smoker", "income", weight=3.0, floor=0.15),
            bo.CrossMoment("income", "region", ceiling=0.25),
        ],
        groups=[bo.Group("health", attributes=["smoker", "income"], epsilon_max=3.5)],
        total_epsilon=4.0,
        objective=objective,
        **fields,
    )


GOOD = {"smoker": 1.2, "income": 1.8, "region": 1.0}


def test_the_retentions_of_ruiz_follow_from_a_split_by_hand() -> None:
    """Ruiz 2026, Table 1, second configuration."""
    names = [f"X{i}" for i in range(1, 6)]
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in names],
        moments=[bo.CrossMoment("X1", "X2"), bo.CrossMoment("X1", "X3")],
        total_epsilon=5.0,
    )
    third = 1 / 3 - 1e-17
    split = {"X1": 2, "X2": 2, "X3": third, "X4": third, "X5": third}
    judged = bo.judge(question, split, quick=True)
    assert judged.keeps_all
    assert [round(100 * moment.retention, 1) for moment in judged.allocation.moments] == [37.8, 5.5]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_split_that_keeps_all_has_the_gap_to_the_optimum(objective: Objective) -> None:
    # a search that is short of time proves less
    question, gap = problem(objective), 0.1 if objective == "weighted_sum" else 1e-6
    judged = bo.judge(question, GOOD, gap=gap, time_limit=3)
    best = bo.solve(question, gap=gap, time_limit=3)
    assert judged.keeps_all
    assert judged.bound == pytest.approx(best.objective.bound, rel=2 * gap)
    assert judged.best is not None
    assert judged.value is not None
    assert judged.bound is not None
    assert judged.relative_gap == pytest.approx(relative_gap(judged.value, judged.bound), rel=1e-6)
    assert judged.allocation.objective.status == "feasible"
    assert list(judged.allocation.epsilons) == list(GOOD.values())
    itself = bo.judge(question, best, gap=gap, time_limit=3)
    if objective != "weighted_sum":
        assert itself.allocation.objective.status == "optimal"
    assert itself.allocation.attributes[0].sampler == best.attributes[0].sampler


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_split_that_keeps_all_is_beyond_the_bound_quick_or_not(objective: Objective) -> None:
    question, rng = problem(objective), np.random.default_rng(20261129)
    bounds = {
        bo.judge(question, GOOD, gap=1e-2, time_limit=3).bound,
        bo.judge(question, GOOD, quick=True).bound,
    }
    kept = 0
    for _ in range(100):
        split = fitted(question.arrays, random_split(question.arrays, rng))
        one = bo.allocation_from(question, dict(zip(question.names, map(float, split), strict=True)))
        if not all(check.holds for check in constraint_checks(one, question)):
            continue
        kept, value = kept + 1, one.objective.value
        assert value is not None
        for bound in bounds:
            assert bound is not None
            assert value >= bound if objective in ("min_epsilon", "min_variance") else value <= bound
    assert kept > 1


def test_everything_that_is_broken_is_named_with_how_much() -> None:
    judged = bo.judge(problem(), {"smoker": 1.75, "income": 0.1, "region": 2.5}, quick=True)
    broken = {one.constraint: one for one in judged.broken}
    assert set(broken) == {
        "epsilon of a record",
        "floor of smoker x income",
        "bounds of smoker",
        "bounds of income",
    }
    assert broken["epsilon of a record"].measured == 4.35
    assert broken["epsilon of a record"].off_by == pytest.approx(0.35)
    assert broken["bounds of smoker"].off_by == pytest.approx(0.25)
    assert broken["bounds of income"].off_by == pytest.approx(0.1)
    floor = broken["floor of smoker x income"]
    assert floor.off_by == pytest.approx(0.15 - judged.allocation.moments[0].retention)
    assert judged.relative_gap is None
    assert judged.allocation.objective.status == "given"
    assert "broken: floor of smoker x income: " in str(judged)
    group = bo.judge(problem(), {"smoker": 1.5, "income": 2.2, "region": 0.3}, quick=True)
    assert [one.constraint for one in group.broken] == ["epsilon of group health"]
    ceiling = bo.judge(problem(), {"smoker": 0.2, "income": 2.0, "region": 1.8}, quick=True)
    assert "ceiling of income x region" in {one.constraint for one in ceiling.broken}


def test_epsilons_are_taken_as_decimals_and_never_rounded() -> None:
    attributes = [bo.Attribute(f"a{i}", categories=3) for i in range(3)]
    question = bo.Problem(attributes=attributes, moments=[bo.CrossMoment("a0")], total_epsilon=0.3)
    for tenth in (0.1, Decimal("0.1"), np.float64(0.1)):
        judged = bo.judge(question, {f"a{i}": tenth for i in range(3)}, quick=True)
        assert judged.keeps_all
        assert judged.allocation.spent_epsilon == 0.3
    more = bo.judge(question, {"a0": 0.1, "a1": 0.1, "a2": 0.10000000000000002}, quick=True)
    assert [one.constraint for one in more.broken] == ["epsilon of a record"]


def test_a_split_by_hand_is_an_allocation_like_any_other(tmp_path: Path) -> None:
    allocation = bo.allocation_from(problem(), GOOD)
    assert allocation.objective.status == "given"
    assert allocation.objective.bound is None
    assert allocation.sensitivity == {}
    assert {attribute.shadow_price for attribute in allocation.attributes} == {None}
    allocation.write(tmp_path / "a.json")
    assert bo.Allocation.read(tmp_path / "a.json").to_dict() == allocation.to_dict()
    assert bo.verify(allocation, problem=problem()).holds
    even = bo.uniform(problem())
    assert bo.judge(problem(), even, quick=True).allocation.epsilons.tolist() == even.epsilons.tolist()


def test_all_faults_of_a_split_are_told_at_once() -> None:
    with pytest.raises(bo.InputError) as caught:
        bo.allocation_from(problem(), {"smoker": -1, "incme": 2, "region": "1"})
    named = {fault.where: str(fault) for fault in caught.value.faults}
    assert set(named) == {"smoker", "incme", "income", "region"}
    assert 'Did you mean "income"?' in named["incme"]
    assert "Give 0 to leave the attribute out" in named["income"]
    with pytest.raises(bo.InputError, match="split: is a list"):
        bo.judge(problem(), [1, 2, 3])
    *same, last = problem().attributes
    other = bo.uniform(problem().with_fields(attributes=[*same, last.with_fields(categories=5)]))
    with pytest.raises(bo.InputError, match=r"region \(5, the problem's 4\)"):
        bo.judge(problem(), other)


def test_a_split_for_an_impossible_problem_is_judged_without_a_bound() -> None:
    impossible = bo.Problem(
        attributes=[bo.Attribute("a", categories=4)],
        moments=[bo.CrossMoment("a", floor=0.9)],
        total_epsilon=1.0,
        objective="max_min",
    )
    judged = bo.judge(impossible, {"a": 1.0})
    assert judged.bound is None
    assert judged.best is None
    assert judged.no_bound
    assert [one.constraint for one in judged.broken] == ["floor of a"]


def test_a_file_that_holds_no_split_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1, 2]")
    with pytest.raises(bo.InputError, match="holds no object"):
        read_split(tmp_path / "a.json")
    (tmp_path / "b.json").write_text('{"a": 1, "a": 2}')
    with pytest.raises(bo.InputError, match="appears twice"):
        read_split(tmp_path / "b.json")
