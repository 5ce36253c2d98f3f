"""The sliders and buttons of the explorer."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from budget_opt.errors import InputError
from budget_opt.model.problem import Problem

MOST_ROWS = 12
"""Moments with sliders in view."""
FIRST_ROWS = 8
"""Those that are there from the start, where there are more than fit."""
LARGEST_FLOOR = 0.99


def ipywidgets() -> Any:
    """The package; `InputError` where it is not installed."""
    try:
        return importlib.import_module("ipywidgets")
    except ImportError:
        raise InputError(
            "explore: needs the package ipywidgets and a notebook. "
            "Install them with: python -m pip install 'budget-opt[notebooks]'"
        ) from None


@dataclass(frozen=True)
class Row:
    """The sliders of one moment, in a box with its name."""

    box: Any
    weight: Any
    floor: Any


def total_slider(problem: Problem) -> Any:
    """For the total of one record, in nats; None where the problem has none."""
    total = problem.total_epsilon
    if total is None:
        return None
    return ipywidgets().FloatSlider(
        value=total,
        min=min(0.05, total),
        max=max(10.0, 2 * total),
        step=0.05,
        description="total epsilon",
        readout_format=".2f",
        style={"description_width": "8em"},
        layout={"width": "30em"},
    )


def records_slider(n: int) -> Any:
    """For the number of records that standard errors are for, from 100 to ten million."""
    return ipywidgets().FloatLogSlider(
        value=n,
        base=10,
        min=2,
        max=7,
        step=0.1,
        description="records n",
        readout_format=",.0f",
        style={"description_width": "8em"},
        layout={"width": "30em"},
    )


def moment_row(problem: Problem, k: int, weight: float, floor: float) -> Row:
    """The sliders of moment k at these values."""
    widgets = ipywidgets()
    moment = problem.moments[k]
    style = {"description_width": "4em"}
    weigh = widgets.FloatSlider(
        value=weight,
        min=0.0,
        max=max(10.0, 2 * moment.weight),
        step=0.1,
        description="weight",
        style=style,
        layout={"width": "20em"},
    )
    keep = widgets.FloatSlider(
        value=floor,
        min=0.0,
        max=LARGEST_FLOOR,
        step=0.01,
        description="floor",
        readout_format=".0%",
        style=style,
        layout={"width": "20em"},
    )
    # a widget of plain text would set what stands between two dollars as a formula
    name = widgets.HTML(escape(moment.label), layout={"width": "18em", "overflow": "hidden"})
    return Row(widgets.HBox([name, weigh, keep]), weigh, keep)


def picker(problem: Problem) -> Any:
    """Chooses a moment whose sliders come into view."""
    options = [("choose a moment", -1), *((moment.label, k) for k, moment in enumerate(problem.moments))]
    return ipywidgets().Dropdown(
        options=options, value=-1, description="sliders for", style={"description_width": "8em"}
    )


def button(words: str, tooltip: str, action: Callable[[], object]) -> Any:
    """A button that calls `action`."""
    made = ipywidgets().Button(description=words, tooltip=tooltip)
    made.on_click(lambda _: action())
    return made


def first_moments(problem: Problem) -> list[int]:
    """The moments with sliders from the start: all, or those with floors and the largest weights."""
    if len(problem.moments) <= MOST_ROWS:
        return list(range(len(problem.moments)))
    order = sorted(
        range(len(problem.moments)),
        key=lambda k: (problem.moments[k].floor is None, -problem.moments[k].weight),
    )
    return sorted(order[:FIRST_ROWS])
