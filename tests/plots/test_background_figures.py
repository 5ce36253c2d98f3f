"""Figures and notes of an allocation whose cells are replaced by another law than the uniform one."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.api.checking.checking import check
from budget_opt.plots.curves import retention_curves
from budget_opt.plots.transitions import transition_plot
from budget_opt.tables.printing import percent


def asked() -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("x", categories=3, marginal=[0.6, 0.3, 0.1], background="marginal"),
            bo.Attribute("y", categories=4),
        ],
        moments=[bo.CrossMoment("x", "y")],
        total_epsilon=4.0,
    )


def test_the_transition_figure_has_the_column_of_the_background_in_every_row() -> None:
    x = bo.uniform(asked())["x"]
    ax = transition_plot(bo.uniform(asked()), "x")
    shown = [text.get_text() for text in ax.texts]
    assert f"{100 * x.truth_probabilities[0]:.1f}" in shown
    assert shown.count(f"{100 * x.other_probabilities[2]:.1f}") == 2
    least, most = map(percent, x.truth_range)
    assert any(f"the truth in {least} to {most}" in text for text in shown)


def test_a_point_lies_on_the_curve_of_its_effective_cardinality() -> None:
    allocation = bo.uniform(asked())
    ax = retention_curves(allocation=allocation)
    legend = ax.get_legend() or ax.figure.legends[0]
    assert {text.get_text() for text in legend.get_texts()} == {"4 categories", "10"}
    curve = next(line for line in ax.get_lines() if line.get_label() == "10")
    at = abs(curve.get_xdata() - 2.0).argmin()
    assert curve.get_ydata()[at] == pytest.approx(allocation["x"].retention, abs=5e-3)
    assert "x (10)" in [text.get_text() for text in ax.texts]


def test_check_says_what_a_background_costs() -> None:
    (note,) = (note for note in check(asked()).warnings if "background" in note)
    assert "x: replaced cells are drawn from another background than the uniform one (marginal)" in note
    assert "as much as with 10 categories, and there are 3" in note
