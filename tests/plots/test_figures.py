"""Figures show the numbers that they are about: labels and values, not pixels."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import budget_opt as bo
from budget_opt.mechanisms.randomized_response import retention
from budget_opt.plots import retention_bars, retention_curves


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture
def allocation():
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=3)],
        moments=[bo.CrossMoment("a", "b", floor=0.1), bo.CrossMoment("a")],
        total_epsilon=2,
        objective="geometric_mean",
    )
    return bo.uniform(problem)


def test_the_curves_are_ruizs_equation_4_for_the_cardinalities_asked_for(ax):
    assert retention_curves((2, 10), ax=ax) is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["r = 2", "r = 10"]
    for line, r in zip(ax.get_lines(), (2, 10), strict=True):
        epsilon, kept = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        expected = np.expm1(epsilon) / (np.expm1(epsilon) + r)
        assert kept == pytest.approx(expected, abs=1e-12)
        assert kept == pytest.approx(retention(epsilon, r))
    assert "epsilon" in ax.get_xlabel()


def test_the_bars_are_the_retentions_in_percent_with_floors_as_marks(ax, allocation):
    assert retention_bars(allocation, beside=allocation, ax=ax) is ax
    widths = [bar.get_width() for bar in ax.patches]
    expected = [100 * moment.retention for moment in allocation.moments]
    assert widths == pytest.approx(2 * expected)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a x b", "a"]
    assert ax.collections[0].get_offsets()[0][0] == pytest.approx(10.0)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"this split", "even split", "floor"}


def test_without_axes_a_new_figure_is_made(allocation):
    import matplotlib.pyplot as plt

    made = retention_bars(allocation)
    assert made.figure is not None
    plt.close("all")
