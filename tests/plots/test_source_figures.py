"""Figures of splits with a source, which has no retention, with a background, and with next to nothing."""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import budget_opt as bo
from budget_opt.plots import precision_plot, retention_curves, retention_matrix

SHARES = [0.5, 0.3, 0.17, 0.03]
SOURCE = {"distributions": [[0.6, 0.3, 0.1]]}


@pytest.fixture(scope="module")
def split() -> bo.Allocation:
    """Three attributes with a retention, one of them with next to nothing, and one without any."""
    problem = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=3),
            bo.Attribute("b", categories=4, marginal=SHARES, background="marginal"),
            bo.Attribute("c", categories=5),
            bo.Attribute("s", categories=3, source=SOURCE, epsilon=1.0),
        ],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("a", "c")],
        total_epsilon=6.0,
    )
    return bo.allocation_from(problem, {"a": 2.0, "b": 3.0, "c": 1e-12, "s": 1.0})


def drawn(ax: Axes) -> Axes:
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    return ax


def test_there_is_a_curve_for_each_block_with_a_retention_and_none_for_a_source(split: bo.Allocation) -> None:
    """1 / 0.03 = 33.3..., said as people say it."""
    legend = retention_curves(allocation=split).get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["3 categories", "5", "33.3"]


def test_the_matrix_says_why_an_attribute_is_not_in_it_and_covers_no_cell(split: bo.Allocation) -> None:
    ax = drawn(retention_matrix(split))
    (note,) = [text for text in ax.texts if text.get_text().startswith("retention (%)")]
    assert "without those randomized by source (1)" in note.get_text()
    assert "less epsilon" not in note.get_text()
    assert note.get_window_extent().y0 >= ax.get_window_extent().y1
    (note,) = [text for text in retention_matrix(split, largest=2).texts if "framed" in text.get_text()]
    assert "1 other attribute with less epsilon not shown" in note.get_text()


def test_errors_over_many_decades_have_numbers_beside_them(split: bo.Allocation) -> None:
    ax = drawn(precision_plot(bo.plan(split, 1000)))
    low, high = ax.get_ylim()
    assert high > 1e6 * low
    shown = [tick for tick in ax.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert len([tick for tick in shown if tick.label1.get_text()]) >= 2
