"""Figures show the numbers that they are about: labels and values, not pixels."""

from __future__ import annotations

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.mechanisms.randomized_response import retention
from budget_opt.plots import (
    allocation_bars,
    precision_plot,
    retention_bars,
    retention_curves,
    retention_matrix,
    transition_plot,
)
from budget_opt.plots.bars import VALUE


def marks(ax, label):
    """Where the marks of this name stand, on the axis of values."""
    found = [points for points in ax.collections if points.get_label() == label]
    return [float(x) for points in found for x in points.get_offsets()[:, 0]]


def names(labels):
    return [label.get_text() for label in labels]


def legend(ax):
    return set(names(ax.get_legend().get_texts()))


def annotations(ax):
    return [text.get_text() for text in ax.texts]


def test_the_curves_are_ruizs_equation_4_for_the_cardinalities_asked_for(ax):
    assert retention_curves((2, 10), ax=ax) is ax
    assert legend(ax) == {"2 categories", "10"}
    for line, r in zip(ax.get_lines(), (2, 10), strict=True):
        epsilon, kept = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        expected = np.expm1(epsilon) / (np.expm1(epsilon) + r)
        assert kept == pytest.approx(expected, abs=1e-12)
        assert kept == pytest.approx(retention(epsilon, r))
    assert "epsilon" in ax.get_xlabel()


def test_the_attributes_of_a_split_stand_on_the_curve_of_their_cardinality_with_their_names(ax, allocation):
    retention_curves(ax=ax, allocation=allocation)
    assert legend(ax) == {"2 categories", "4", "5"}
    points = np.asarray(ax.collections[0].get_offsets())
    assert points[:, 0] == pytest.approx(allocation.epsilons)
    assert points[:, 1] == pytest.approx([attribute.retention for attribute in allocation.attributes])
    assert set(annotations(ax)) == {"smoker (2)", "income (5)", "region (4)", "sex (2)"}


def test_the_bars_are_the_retentions_in_percent_with_floors_and_ceilings_as_marks(ax, allocation, even):
    assert retention_bars(allocation, beside=even, ax=ax) is ax
    expected = [100 * moment.retention for moment in (*allocation.moments, *even.moments)]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(expected)
    assert names(ax.get_yticklabels()) == [moment.label for moment in allocation.moments]
    assert marks(ax, "floor") == pytest.approx([20.0])
    assert marks(ax, "ceiling") == pytest.approx([40.0])
    assert legend(ax) == {"this split", "even split", "floor", "ceiling"}


def test_a_floor_that_is_missed_is_said_in_words(ax):
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=2)],
        moments=[bo.CrossMoment("a", "b", floor=0.9)],
        total_epsilon=1,
        objective="geometric_mean",
    )
    retention_bars(bo.uniform(problem), ax=ax)
    assert [text for text in annotations(ax) if "floor missed" in text]


def test_the_bars_of_a_split_are_its_epsilons_with_what_each_attribute_may_have(ax, allocation, even):
    assert allocation_bars(allocation, beside=even, ax=ax) is ax
    expected = [*allocation.epsilons, *even.epsilons]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(expected)
    assert marks(ax, "at least") == [0.2]
    assert marks(ax, "at most") == [1.5]
    assert marks(ax, "fixed") == [0.5]


def test_bounds_of_a_split_that_was_read_from_a_file_come_from_its_problem(ax, problem, allocation, tmp_path):
    allocation.write(tmp_path / "allocation.json")
    read = bo.Allocation.read(tmp_path / "allocation.json")
    allocation_bars(read, problem=problem, ax=ax)
    assert marks(ax, "fixed") == [0.5]


def test_of_many_moments_those_with_limits_are_shown_and_the_others_as_a_range(ax, wide):
    retention_bars(wide, ax=ax)
    labels = names(ax.get_yticklabels())
    assert len(labels) == 31
    assert labels[-1] == "1,195 other moments"
    assert wide.moments[1000].label in labels
    low, middle, high = ax.collections[1].get_offsets()[:, 0]
    shown = set(labels)
    rest = [100 * moment.retention for moment in wide.moments if moment.label not in shown]
    assert (low, middle, high) == pytest.approx((min(rest), np.median(rest), max(rest)))


def test_the_matrix_has_the_retention_of_every_pair_and_of_every_attribute_alone(ax, allocation):
    retention_matrix(allocation, ax=ax)
    cells = np.full((4, 4), np.nan)
    for mesh in ax.collections[:2]:
        values = np.ma.filled(mesh.get_array(), np.nan).reshape(4, 4)
        cells = np.where(np.isnan(cells), values, cells)
    for i, first in enumerate(allocation.attributes):
        assert cells[i, i] == pytest.approx(first.retention)
        for j, second in enumerate(allocation.attributes[:i]):
            assert cells[i, j] == pytest.approx(allocation.retention(first.name, second.name))
            assert np.isnan(cells[j, i])
    assert names(ax.get_yticklabels()) == ["smoker", "income", "region", "sex"]


def test_pairs_that_are_no_moment_of_the_problem_are_drawn_apart(ax, allocation):
    retention_matrix(allocation, ax=ax)
    full, pale = (~np.ma.getmaskarray(mesh.get_array()).reshape(4, 4) for mesh in ax.collections[:2])
    # smoker x income, smoker x region, region x sex; the other three pairs are no moments
    assert {(int(i), int(j)) for i, j in np.argwhere(full) if i != j} == {(1, 0), (2, 0), (3, 2)}
    assert {(int(i), int(j)) for i, j in np.argwhere(pale)} == {(2, 1), (3, 0), (3, 1)}
    assert ax.collections[1].get_alpha() < 1
    assert [patch.get_hatch() for patch in ax.patches] == ["///", None]


def test_moments_of_three_attributes_are_listed_beside_the_matrix(ax, allocation):
    retention_matrix(allocation, ax=ax)
    (listed,) = [text for text in annotations(ax) if "smoker x income x region" in text]
    assert f"{100 * allocation.moments[3].retention:.1f} %" in listed


def test_a_transition_matrix_is_what_the_sampler_implements(ax, allocation):
    transition_plot(allocation, "region", ax=ax)
    matrix = np.asarray(ax.collections[0].get_array()).reshape(4, 4)
    attribute = allocation["region"]
    assert matrix.sum(axis=1) == pytest.approx(np.ones(4))
    assert np.diag(matrix) == pytest.approx(np.full(4, attribute.truth_probability))
    assert matrix[0, 1:] == pytest.approx(np.full(3, attribute.other_probability))


def test_of_many_categories_the_first_and_the_last_are_shown(ax):
    problem = bo.Problem(
        attributes=[bo.Attribute("county", categories=254)],
        moments=[bo.CrossMoment("county")],
        total_epsilon=5,
        objective="geometric_mean",
    )
    transition_plot(bo.uniform(problem), "county", ax=ax)
    assert names(ax.get_yticklabels()) == ["0", "1", "2", "3", "4", "247 more", "252", "253"]


def test_precision_is_the_plans_error_at_the_allocations_retention(ax, allocation):
    from budget_opt.api.planning import plan

    planned = plan(allocation, n=10_000)
    precision_plot(planned, ax=ax)
    drawn = sorted(tuple(point) for points in ax.collections for point in points.get_offsets())
    expected = sorted((100 * moment.retention, moment.relative_error) for moment in planned.moments)
    assert np.array(drawn) == pytest.approx(np.array(expected))
    assert legend(ax) == {"pairs", "triples"}
    assert set(annotations(ax)) == {moment.label for moment in planned.moments}
    assert "10,000 records" in ax.get_xlabel()


def test_too_few_rows_for_any_error_are_told_with_the_least_that_will_do(ax, allocation):
    from budget_opt.api.planning import plan

    for n in (1, 2):
        with pytest.raises(bo.InputError, match=f"n: is {n}, too few rows .* Give at least 3"):
            precision_plot(plan(allocation, n=n), ax=ax)
    precision_plot(plan(allocation, n=3), ax=ax)


def test_a_plan_of_nothing_that_is_released_says_so(ax):
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=2, epsilon_max=2) for name in "ab"],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=1,
    )
    with pytest.raises(bo.InputError, match="Plan a split that releases"):
        precision_plot(bo.plan(problem.allocation_from({"a": 1, "b": 0}), n=2), ax=ax)


def test_without_axes_a_new_figure_is_made(allocation):
    made = retention_bars(allocation)
    assert made.figure is not None


def test_values_stand_beside_the_axes_where_they_cover_nothing(ax, allocation):
    retention_bars(allocation, ax=ax)
    values = [text for text in ax.texts if text.get_gid() == VALUE]
    assert len(values) == len(allocation.moments)
    assert all(text.get_position()[0] > 1 for text in values)


def test_what_is_not_released_and_many_at_one_place_share_a_label(ax):
    names = [f"q{i}" for i in range(12)]
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=2 if i < 9 else 3) for i, name in enumerate(names)],
        moments=[bo.CrossMoment("q0", "q1")],
        total_epsilon=6,
    )
    split = {**dict.fromkeys(names[:5], 0.9), "q9": 0.7, "q10": 0.7}
    allocation = bo.allocation_from(problem, {**dict.fromkeys(names, 0), **split})
    retention_curves(ax=ax, allocation=allocation)
    assert set(annotations(ax)) == {"q0 + 4 more (2)", "q9 (3)", "q10 (3)", "5 not released"}


def test_one_attribute_that_is_not_released_is_named(ax):
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=2)],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=1,
    )
    retention_curves(ax=ax, allocation=bo.allocation_from(problem, {"a": 1, "b": 0}))
    assert set(annotations(ax)) == {"a (2)", "b: not released"}
