"""The points of a frontier are in order to the last digit, and are ready when Ctrl-C comes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.api.frontiers import splits
from budget_opt.model.arrays import MINIMIZED

TOTALS = (0.3, 1, 2.5, 5, 12)


def capped(**changes: Any) -> bo.Problem:
    """A bound and a ceiling end what more epsilon buys, so that solvers find the same value again."""
    return bo.Problem(
        attributes=[bo.Attribute("a", categories=12), bo.Attribute("b", categories=5, epsilon_max=1.3)],
        moments=[
            bo.CrossMoment("a", weight=2.0, ceiling=0.5),
            bo.CrossMoment("a", "b", floor=0.01, ceiling=0.7),
        ],
        total_epsilon=1.0,
        objective="geometric_mean",
    ).with_fields(**changes)


def grouped(**changes: Any) -> bo.Problem:
    """A group that spends no more from a total of 1.5 on."""
    return bo.Problem(
        attributes=[bo.Attribute("a", categories=3, epsilon_max=1.3), bo.Attribute("b", categories=12)],
        moments=[bo.CrossMoment("a", "b", weight=10.0)],
        groups=[bo.Group("g", attributes=("a", "b"), epsilon_max=1.5)],
        total_epsilon=1.0,
        objective="geometric_mean",
    ).with_fields(**changes)


def in_order(frontier: bo.Frontier) -> bool:
    sign = -1 if frontier.problem.objective in MINIMIZED else 1
    found = [point.allocation.objective for point in frontier.points if point.allocation is not None]
    values = [sign * one.value for one in found if one.value is not None]
    assert len(values) >= 2
    assert all(one.bound is not None and sign * one.bound >= sign * one.value for one in found)
    return all(before <= after for before, after in pairwise(values))


@pytest.mark.parametrize("problem", [capped(), grouped()])
@pytest.mark.parametrize("gap", [1e-4, 1e-3])
def test_stated_values_never_get_worse_by_a_digit(problem: bo.Problem, gap: float) -> None:
    frontier = bo.frontier(problem, TOTALS, gap=gap)
    assert in_order(frontier)
    for point in frontier.points:
        if point.allocation is not None:
            assert point.allocation.total_epsilon == point.at
            assert point.allocation.problem_sha256 == problem.with_total(point.at).sha256
            assert bo.verify(point.allocation, problem.with_total(point.at)).holds


def test_after_ctrl_c_no_point_is_left_to_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[int] = []
    made_after: list[bo.Problem] = []
    real = splits.kept

    def counted(problem: bo.Problem, *given: Any) -> bo.Allocation:
        if stopped:
            made_after.append(problem)
        return real(problem, *given)

    def stop(report: Any) -> None:
        if report.done == 4:
            stopped.append(report.done)
            raise KeyboardInterrupt

    monkeypatch.setattr(splits, "kept", counted)
    frontier = bo.frontier(grouped(groups=()), [1, 2, 3, 4, 5, 6, 7], progress=stop)
    assert frontier.interrupted
    assert len(frontier.points) == 4
    assert all(point.allocation is not None for point in frontier.points)
    assert not made_after
