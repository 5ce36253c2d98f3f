"""Figures of what changes: along a frontier, and while a solve goes on."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection

import budget_opt as bo
from budget_opt.api.frontiers.frontier import Frontier, FrontierPoint, SupportChange
from budget_opt.api.planning import plan
from budget_opt.plots import ProgressLog, frontier_plot, progress_plot
from budget_opt.solvers.answer import Report

TOTALS = (1.0, 3.0, 4.0, 6.0)


def solved(problem, at):
    try:
        return FrontierPoint(at, bo.solve(problem.with_total(at)))
    except (bo.InfeasibleError, bo.ProblemError) as failure:
        return FrontierPoint(at, None, failure if isinstance(failure, bo.InfeasibleError) else None)


@pytest.fixture(scope="module")
def frontier(problem):
    points = tuple(solved(problem.with_fields(attributes=free(problem)), at) for at in TOTALS)
    changes = (SupportChange(3.0, 4.0, ("sex",), ()), SupportChange(4.0, 6.0, (), ("region",)))
    return Frontier(problem, "total_epsilon", points, True, points[0].why.least_total, changes)


def free(problem):
    """The attributes without their bounds."""
    return [
        bo.Attribute(attribute.name, categories=attribute.cardinality) for attribute in problem.attributes
    ]


def expected(frontier, members):
    splits = [point.allocation for point in frontier.points if point.allocation is not None]
    return np.array([[100 * split.moments[k].retention for k in members] for split in splits])


@pytest.mark.parametrize(
    ("by", "kinds"),
    [("order", {"pairs": (0, 1, 2), "triples": (3,)}), ("floor", {"with": (0,), "without": (1, 2, 3)})],
)
def test_every_kind_of_moments_has_its_least_median_and_most(frontier, ax, by, kinds):
    assert frontier_plot(frontier, by=by, ax=ax) is ax
    lines = [line for line in ax.get_lines() if line.get_marker() not in ("None", "")]
    for line, members in zip(lines, kinds.values(), strict=True):
        kept = expected(frontier, members)
        assert line.get_xdata() == pytest.approx(TOTALS[1:])
        assert line.get_ydata() == pytest.approx(np.median(kept, axis=1))
        if len(members) > 1:
            heights = np.concatenate([path.vertices[:, 1] for path in ax.collections[0].get_paths()])
            assert (heights.min(), heights.max()) == pytest.approx((kept.min(), kept.max()))


def test_the_frontier_says_where_floors_become_possible_and_where_the_support_changes(frontier, ax):
    frontier_plot(frontier, ax=ax)
    words = [text.get_text() for text in ax.texts]
    (said,) = [word for word in words if word.startswith("possible from")]
    # rounded up: what is read off suffices
    assert frontier.feasible_from <= float(said.split()[-1]) <= frontier.feasible_from * 1.001
    assert "+ sex" in words
    assert "\N{MINUS SIGN} region" in words
    marked = [points for points in ax.collections if isinstance(points, PathCollection)]
    assert [points.get_offsets()[0][0] for points in marked] == [3.5, 5.0]
    assert ax.get_xlim() == (1.0, 6.0)


def test_the_least_total_that_is_read_off_suffices(problem, allocation, ax):
    points = (FrontierPoint(3.0, None, bo.InfeasibleError("no")), FrontierPoint(6.0, allocation))
    frontier_plot(Frontier(problem, "total_epsilon", points, True, 5.330372, ()), ax=ax)
    assert "possible from 5.331" in [text.get_text() for text in ax.texts]


def test_few_moments_are_named_at_the_end_of_their_lines(frontier, ax):
    frontier_plot(frontier, ax=ax)
    words = {text.get_text() for text in ax.texts}
    assert {moment.label for moment in frontier.problem.moments} <= words


def test_many_moments_are_bands_alone(wide, ax):
    points = (FrontierPoint(1.0, wide), FrontierPoint(2.0, wide))
    frontier_plot(
        Frontier(wide.question, "weight of question 00 x question 01", points, True, None, ()), ax=ax
    )
    assert len(ax.texts) == 0
    assert len(ax.get_lines()) == 2  # with a floor, and without
    assert ax.get_xlabel() == "weight of question 00 x question 01"


def test_along_a_floor_the_impossible_end_is_above(problem, allocation, ax):
    why = bo.InfeasibleError("no")
    points = (FrontierPoint(0.1, allocation), FrontierPoint(0.2, allocation), FrontierPoint(0.9, None, why))
    frontier_plot(Frontier(problem, "floor of smoker x region", points, False, 0.6, ()), ax=ax)
    assert "possible up to 0.6" in [text.get_text() for text in ax.texts]
    assert "ended early" in ax.get_xlabel()


def test_along_n_the_errors_of_the_plan_are_drawn(problem, allocation, ax):
    sizes = (1000, 100_000)
    points = tuple(FrontierPoint(float(n), allocation) for n in sizes)
    frontier_plot(Frontier(problem, "n", points, True, None, ()), ax=ax)
    line = next(line for line in ax.get_lines() if line.get_marker() not in ("None", ""))
    errors = [[moment.relative_error for moment in plan(allocation, n=n).moments[:3]] for n in sizes]
    assert line.get_ydata() == pytest.approx(np.median(errors, axis=1))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_the_plot_of_a_frontier_is_this_one(frontier, ax):
    assert frontier.plot(ax=ax) is ax


def test_a_frontier_without_a_split_has_no_figure(problem, ax):
    points = (FrontierPoint(0.1, None, bo.InfeasibleError("no")),)
    with pytest.raises(bo.InputError, match="no point with a split"):
        frontier_plot(Frontier(problem, "total_epsilon", points, True, None, ()), ax=ax)


def test_progress_is_value_and_bound_of_the_reports_against_seconds(problem, ax):
    log = ProgressLog()
    bo.solve(problem.with_objective("weighted_sum"), progress=log)
    assert log.plot(ax=ax) is ax
    drawn = {line.get_label(): line for line in ax.get_lines()}
    known = [report for report in log.reports if report.bound is not None]
    assert list(drawn["proved bound"].get_ydata()) == [report.bound for report in known]
    assert drawn["value of the best split"].get_ydata()[-1] == log.reports[-1].value
    assert f"{log.reports[-1].relative_gap:.2g}" in ax.get_xlabel()


def test_a_first_bound_that_is_far_away_does_not_hide_the_end(ax):
    bounds = (1e9, 5.0, 4.0, 3.5, 3.2)
    reports = [Report(3.0, bound, bound / 3 - 1, 0.1 * i) for i, bound in enumerate(bounds)]
    progress_plot(reports, ax=ax)
    low, high = ax.get_ylim()
    assert low < 3.0
    assert 3.2 < high < 10


def test_a_solve_that_has_no_bound_yet_is_drawn_too(ax):
    progress_plot([Report(None, None, float("inf"), 0.0), Report(1.0, None, float("inf"), 0.2)], ax=ax)
    assert "no bound yet" in ax.get_xlabel()


def test_no_reports_have_no_figure(ax):
    with pytest.raises(bo.InputError, match="ProgressLog"):
        progress_plot([], ax=ax)
