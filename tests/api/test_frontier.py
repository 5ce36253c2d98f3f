"""`bo.frontier`: honest points, the laws of the frontier, marks, limits, rows."""

import csv
import json
import math
import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.errors import InfeasibleError, InputError, NotSolvedError
from budget_opt.tables.printing import percent, plain_text

GAP = 1e-3
TOTALS = [1.5, 2, 3, 4.5, 6, 9]


def drawn(seed, objective, *, floors=False, groups=False):
    """A random problem of six attributes and nine moments, some of three attributes."""
    rng = np.random.default_rng([4, seed])
    names = [f"a{i}" for i in range(6)]
    moments = []
    for k in range(9):
        members = rng.choice(names, size=3 if k > 6 else 2, replace=False)
        floor = 0.1 if floors and k in (0, 3) else None
        moments.append(bo.CrossMoment(*members, weight=float(rng.uniform(0.1, 3)), floor=floor))
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=int(rng.integers(2, 8))) for name in names],
        moments=moments,
        total_epsilon=4.0,
        objective=objective,
        groups=[bo.Group("g", attributes=names[:2], epsilon_max=1.9)] if groups else [],
    )


def outcomes(frontier):
    return [point.allocation.objective for point in frontier.points if point.allocation is not None]


@pytest.mark.parametrize(
    ("objective", "floors", "groups", "seed"),
    [
        ("weighted_sum", False, False, 0),
        pytest.param("weighted_sum", False, False, 1, marks=pytest.mark.slow),
        pytest.param("weighted_sum", False, True, 1, marks=pytest.mark.slow),
        pytest.param("weighted_sum", True, False, 2, marks=pytest.mark.slow),
        ("geometric_mean", True, True, 0),
        ("max_min", False, True, 1),
        ("min_variance", True, False, 2),
    ],
)
def test_values_never_get_worse_with_the_total_and_bounds_hold_on_both_sides(objective, floors, groups, seed):
    frontier = bo.frontier(drawn(seed, objective, floors=floors, groups=groups), TOTALS, gap=GAP)
    assert frontier.complete
    found = outcomes(frontier)
    sign = -1 if objective == "min_variance" else 1
    for before, after in pairwise(found):
        assert sign * after.value >= sign * before.value - 2e-9 * abs(before.value)
        # a bound proved at a larger total holds at a smaller one
        assert sign * before.bound <= sign * after.bound + 1e-12 * abs(after.bound)
    for outcome in found:
        assert outcome.status == "optimal"
        assert sign * outcome.bound >= sign * outcome.value - 1e-9 * abs(outcome.value)
        assert outcome.relative_gap <= GAP


@pytest.mark.parametrize(
    "objective",
    [pytest.param("weighted_sum", marks=pytest.mark.slow), "geometric_mean", "max_min", "min_variance"],
)
def test_every_point_is_the_problem_with_that_total_and_as_good_as_a_solve_of_its_own(objective):
    problem = drawn(5, objective, floors=True)
    frontier = bo.frontier(problem, TOTALS, gap=GAP)
    for point in frontier.points[-2:]:
        alone = bo.solve(problem.with_total(point.at), gap=GAP)
        assert point.allocation.problem_sha256 == alone.problem_sha256
        value, best = point.allocation.objective.value, alone.objective
        assert abs(value - best.value) <= GAP * abs(best.value)
        inside = sorted([value, point.allocation.objective.bound])
        assert inside[0] * (1 - GAP) <= best.value <= inside[1] * (1 + 1e-6)


@pytest.mark.parametrize("objective", ["geometric_mean", "max_min"])
@pytest.mark.parametrize("seed", range(3))
def test_the_logarithm_of_a_convex_objective_is_concave_in_the_total(objective, seed):
    totals = np.linspace(1, 7, 7)
    found = outcomes(bo.frontier(drawn(seed, objective, floors=False), totals, gap=1e-6))
    logs = np.log([outcome.value for outcome in found])
    assert np.all(np.diff(logs, 2) <= 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_best_weighted_sum_is_convex_in_one_weight(seed):
    problem = drawn(seed, "weighted_sum")
    weights = [0, 1, 2, 3]
    frontier = bo.frontier(problem, moment=problem.moments[1].attributes, weight=weights, gap=1e-6)
    found = outcomes(frontier)
    assert len(found) == len(weights)
    for before, middle, after in zip(found, found[1:], found[2:], strict=False):
        # a maximum of functions that are linear in the weight; with bounds, whatever the splits are
        assert middle.value <= (before.bound + after.bound) / 2 * (1 + 1e-9)


@pytest.mark.parametrize(
    "objective", [pytest.param("weighted_sum", marks=pytest.mark.slow), "geometric_mean", "min_epsilon"]
)
def test_values_get_no_better_with_a_floor_and_end_at_the_largest_that_can_be_kept(objective):
    problem = drawn(1, objective, floors=objective == "min_epsilon")
    attributes = problem.moments[1].attributes
    frontier = bo.frontier(problem, moment=attributes[::-1], floor=[0, 0.1, 0.2, 0.3, 0.5, 0.95], gap=GAP)
    assert frontier.varied == f"floor of {problem.moments[1].label}"
    found = outcomes(frontier)
    sign = -1 if objective == "min_epsilon" else 1
    for before, after in pairwise(found):
        assert sign * after.value <= sign * before.value + 2e-9 * abs(before.value)
    end = frontier.feasible_from
    assert [point.status == "infeasible" for point in frontier.points] == [
        point.at > end for point in frontier.points
    ]
    for point in frontier.points:
        if point.at and point.allocation:
            assert point.allocation.retention(*attributes) >= point.at


def test_totals_below_what_floors_need_say_so_and_the_least_one_is_proved():
    problem = drawn(2, "geometric_mean", floors=True)
    frontier = bo.frontier(problem, [0.2, 0.5, 4, 8])
    low, high = frontier.points[0], frontier.points[-1]
    least = frontier.feasible_from
    assert low.allocation is None
    assert low.status == "infeasible"
    assert low.why.total == 0.2
    assert low.why.least_total == least
    assert 0 <= least - low.why.why.least_total_bound <= 1e-6 * least
    assert high.status == "optimal"
    assert high.why is None
    bo.solve(problem.with_total(float(f"{least * (1 + 1e-5):.6g}")))
    with pytest.raises(InfeasibleError):
        bo.solve(problem.with_total(float(f"{least * (1 - 1e-5):.6g}")))


def test_pins_that_no_total_of_the_axis_holds_are_told_like_floors():
    problem = drawn(0, "weighted_sum")
    pinned = [problem.attributes[0].with_fields(epsilon=2.5), *problem.attributes[1:]]
    frontier = bo.frontier(problem.with_fields(attributes=pinned), [1, 2, 3])
    assert [point.status for point in frontier.points] == ["infeasible", "infeasible", "optimal"]
    assert frontier.feasible_from == 2.5


def test_constraints_that_no_total_can_keep_are_the_reason_at_every_point():
    problem = drawn(0, "geometric_mean", floors=True, groups=False)
    members = problem.moments[0].attributes
    tight = problem.with_fields(groups=[bo.Group("g", attributes=members, epsilon_max=0.01)])
    frontier = bo.frontier(tight, [2, 20])
    assert frontier.feasible_from is None
    assert all(isinstance(point.why, InfeasibleError) for point in frontier.points)
    assert "no split is possible" in str(frontier)


@pytest.mark.slow
def test_changes_of_the_support_stand_between_the_points_that_show_them():
    problem = drawn(1, "weighted_sum")
    frontier = bo.frontier(problem, np.linspace(1, 12, 12), gap=GAP)
    released = {
        point.at: {one.name for one in point.allocation.attributes if one.epsilon > 0}
        for point in frontier.points
    }
    assert frontier.support_changes
    assert {change.after for change in frontier.support_changes} == {
        before for before, after in pairwise(released) if released[before] != released[after]
    }
    for change in frontier.support_changes:
        assert set(change.gained) == released[change.before] - released[change.after]
        assert set(change.lost) == released[change.after] - released[change.before]
        assert f"total epsilon {change.after:g} to {change.before:g}" in str(frontier)


def test_points_over_n_share_the_split_and_have_the_errors_of_the_plan():
    problem = drawn(1, "geometric_mean")
    frontier = bo.frontier(problem, n=[10_000, 100])
    few, many = frontier.points
    assert (few.at, many.at) == (100, 10_000)
    assert few.allocation is many.allocation
    label = problem.moments[0].label
    planned = bo.plan(few.allocation, 100).moments[0].relative_error
    rows = frontier.rows()
    assert rows[0]["n"] == 100
    assert rows[0][f"relative error {label}"] == planned
    assert math.isclose(rows[1][f"relative error {label}"], planned / 10, rel_tol=1e-9)
    beside = bo.frontier(problem, [4.0], n=100)
    assert beside.n == 100
    assert math.isclose(beside.rows()[0][f"relative error {label}"], planned, rel_tol=1e-6)


def test_levels_are_kept_along_the_frontier():
    problem = drawn(0, "geometric_mean")
    moments = [moment.with_fields(level=1 + k % 2) for k, moment in enumerate(problem.moments)]
    frontier = bo.frontier(problem.with_fields(moments=moments), [3, 5])
    for point in frontier.points:
        assert [reached.level for reached in point.allocation.levels] == [1, 2]


@pytest.mark.parametrize("objective", ["weighted_sum", "geometric_mean"])
def test_ctrl_c_keeps_what_is_done(objective):
    def stop(report):
        if report.done >= 2 or objective == "weighted_sum":
            raise KeyboardInterrupt

    problem = drawn(3, objective)
    frontier = bo.frontier(problem, TOTALS, progress=stop)
    assert not frontier.complete
    assert frontier.interrupted
    assert 2 <= len(frontier.points) <= len(TOTALS)
    for point in frontier.points:
        outcome = point.allocation.objective
        assert outcome.bound >= outcome.value * (1 - 1e-9)
        assert (outcome.status == "optimal") == (outcome.relative_gap <= GAP)
        assert point.allocation.spent_epsilon <= point.at


def test_a_time_limit_is_for_all_points_and_keeps_what_is_done():
    frontier = bo.frontier(drawn(3, "weighted_sum"), np.linspace(1, 9, 30), gap=1e-9, time_limit=0.2)
    assert not frontier.complete
    assert not frontier.interrupted
    assert len(frontier.points) < 30 or {"feasible"} <= {point.status for point in frontier.points}
    assert "ended early" in str(frontier)


def test_a_point_that_was_not_solved_says_why(monkeypatch):
    from budget_opt.api import solving

    real, calls = solving.found, []

    def failing(*given):
        calls.append(given)
        if len(calls) == 2:
            raise NotSolvedError("no interior")
        return real(*given)

    monkeypatch.setattr(solving, "found", failing)
    frontier = bo.frontier(drawn(3, "geometric_mean"), [2, 3, 4])
    assert [point.status for point in frontier.points] == ["optimal", "not solved", "optimal"]
    assert frontier.complete
    assert frontier.rows()[1]["why"] == "no interior"


def test_progress_counts_up_to_all_points():
    heard = []
    bo.frontier(drawn(2, "weighted_sum", floors=True), [0.1, 2, 3, 6], progress=heard.append)
    assert heard[-1].done == heard[-1].points == 4
    assert all(before.done <= after.done for before, after in pairwise(heard))
    assert heard[0].done >= 1  # what is impossible is known before


def test_rows_have_the_same_columns_everywhere_and_every_format_holds_them(tmp_path):
    problem = drawn(2, "weighted_sum", floors=True)
    frontier = bo.frontier(problem, [8, 0.2, 4, 4], n=500)
    rows = frontier.rows()
    assert [row["total_epsilon"] for row in rows] == [0.2, 4, 8]
    assert len({tuple(row) for row in rows}) == 1
    assert rows[0]["value"] is None
    point = frontier.points[1].allocation
    assert rows[1]["epsilon a3"] == point["a3"].epsilon
    assert rows[1][f"retention {problem.moments[4].label}"] == point.moments[4].retention
    document = json.loads(json.dumps(frontier.to_dict(), allow_nan=False))
    assert document["points"] == json.loads(json.dumps(rows))
    assert frontier.to_arrow().num_rows == 3
    frontier.write(tmp_path / "frontier.csv")
    with (tmp_path / "frontier.csv").open() as file:
        read = list(csv.DictReader(file))
    assert float(read[2]["value"]) == rows[2]["value"]


def test_names_of_attributes_are_shown_as_they_are():
    names = ["[red]a", "b x c", "a x b", "c"]
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in names],
        moments=[bo.CrossMoment("[red]a", "b x c", floor=0.1), bo.CrossMoment("a x b", "c")],
        total_epsilon=3.0,
        objective="geometric_mean",
    )
    assert "[red]a" in str(bo.frontier(problem, moment=["[red]a", "b x c"], floor=[0.1, 0.2]))
    twins = problem.with_fields(
        moments=[bo.CrossMoment("a x b", "c"), bo.CrossMoment("[red]a", "a x b", "c")]
    )
    assert len(bo.frontier(twins, [1, 2]).rows()[0]) == len(set(bo.frontier(twins, [1, 2]).rows()[0]))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "none of them was given"),
        ({"total_epsilon": [1], "n": [5, 6]}, "total_epsilon and n were given"),
        ({"total_epsilon": 3}, "must be a list of numbers"),
        ({"total_epsilon": []}, "must have 1 to"),
        ({"total_epsilon": [1, math.nan]}, "holds nan"),
        ({"total_epsilon": ["1"]}, "must be a number"),
        ({"total_epsilon": [0]}, "above 0"),
        ({"total_epsilon": [1], "moment": ("a0", "a1")}, "goes with weight or floor"),
        ({"weight": [1, 2]}, "must name the attributes"),
        ({"weight": [1, 2], "moment": "a0 x a1"}, "must name the attributes"),
        ({"weight": [1, 2], "moment": ("a0", "nobody")}, "is not in the problem"),
        ({"weight": [-1]}, "from 0 to"),
        ({"floor": [1.5]}, "a retention below 1"),
        ({"n": [10.5]}, "whole number"),
        ({"n": True}, "must be a number"),
        ({"total_epsilon": [1], "gap": 0}, "gap: is 0"),
        ({"total_epsilon": [1], "time_limit": -1}, "time_limit: is -1"),
    ],
)
def test_arguments_that_make_no_axis_are_refused_with_the_way_out(given, said):
    problem = drawn(0, "weighted_sum")
    with pytest.raises(InputError, match=said):
        bo.frontier(problem, **given)


@pytest.mark.parametrize(
    ("objective", "given"),
    [("min_epsilon", {"total_epsilon": [1]}), ("max_min", {"weight": [1]}), ("min_epsilon", {"weight": [1]})],
)
def test_numbers_that_the_objective_does_not_know_are_refused(objective, given):
    problem = drawn(0, objective, floors=True)
    moment = {} if "total_epsilon" in given else {"moment": problem.moments[0].attributes}
    with pytest.raises(InputError, match=objective):
        bo.frontier(problem, **given, **moment)


def test_a_floor_above_the_moments_ceiling_is_refused():
    problem = drawn(0, "geometric_mean")
    capped = [problem.moments[0].with_fields(ceiling=0.2), *problem.moments[1:]]
    with pytest.raises(InputError, match=r"at 0\.3"):
        bo.frontier(problem.with_fields(moments=capped), moment=capped[0].attributes, floor=[0.1, 0.3])


@cache
def along_a_weight(objective):
    problem = drawn(1, objective)
    return bo.frontier(problem, moment=problem.moments[1].attributes, weight=[0, 0.5, 1000.125], n=500)


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("objective", ["geometric_mean", "weighted_sum"])
def test_the_table_has_the_varied_moment_and_cuts_no_number(objective, width):
    moment, frontier = drawn(1, objective).moments[1], along_a_weight(objective)
    text = plain_text(frontier.renderable(), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert lines[0] == f"varied: weight of {moment.label}; objective: {objective} (larger is better)"
    assert "values cannot be compared" in " ".join(text.split())
    for point in frontier.points:
        kept = sorted(one.retention for one in point.allocation.moments)
        own = percent(point.allocation.retention(*moment.attributes))
        row = next(line for line in lines if line.split()[:2] == [f"{point.at:.12g}", "optimal"])
        cells = re.split(r"\s{3,}", row.strip())
        assert cells[2] == f"{point.allocation.objective.value:.6g}"
        assert own in cells
        assert f"{percent(kept[0])} to {percent(kept[-1])}" in text


def test_only_along_weights_values_are_called_not_comparable():
    problem = drawn(1, "geometric_mean")
    along_floor = str(bo.frontier(problem, moment=problem.moments[1].attributes, floor=[0, 0.1]))
    assert "cannot be compared" not in along_floor
    assert "its" in along_floor.split("least to most", maxsplit=1)[0]
    along_total = str(bo.frontier(problem, [2, 4]))
    assert "cannot be compared" not in along_total
    assert " its " not in along_total.split("least to most", maxsplit=1)[0]


def test_what_is_said_to_suffice_or_to_be_too_little_is_so():
    problem = drawn(2, "geometric_mean", floors=True)
    end = bo.frontier(problem, [1, 8]).feasible_from
    below = float(f"{end * (1 - 1e-7):.7g}")
    why = str(bo.frontier(problem, [below, 8]).points[0].why)
    least, enough = map(float, re.search(r"at least (\S+)\. Raise it to (\S+),", why).groups())
    assert below < least <= end <= enough
    assert bo.solve(problem.with_total(enough))
