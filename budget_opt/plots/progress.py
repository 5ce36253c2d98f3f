"""How a solve closes the gap between its best split and the proved bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from budget_opt.errors import InputError
from budget_opt.plots.style import COLOURS, axes, axis_words, finished, legend_above, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.solvers.answer import Report

VIEW = 2.0
"""Values and bounds are in view that differ from the last ones by this many times the gap of halfway."""
SMALLEST_VIEW = 1e-5
"""Of the value: what differs less is not told apart."""


class ProgressLog:
    """Collects where a solve stands: `log = ProgressLog(); bo.solve(problem, progress=log)`.

    `reports` is what `progress_plot` takes; `log.plot()` is short for it.
    """

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def __call__(self, report: Report) -> None:
        """Take one report."""
        self.reports.append(report)

    def plot(self, ax: Axes | None = None) -> Axes:
        """`progress_plot` of the reports so far."""
        return progress_plot(self.reports, ax=ax)


def progress_plot(reports: Sequence[Report], ax: Axes | None = None) -> Axes:
    """Value of the best split and the proved bound against seconds; between them is what is not known.

    `reports` are those that `solve` gives to `progress`, at least one. Raises `InputError` for none.
    """
    if not reports:
        raise InputError(
            "reports: is empty, must hold at least one report. "
            "Collect them with bo.solve(problem, progress=log), log = ProgressLog()."
        )
    ax = axes(ax, width=6.4, height=3.8)
    values = [(report.seconds, report.value) for report in reports if _is_known(report.value)]
    bounds = [(report.seconds, report.bound) for report in reports if _is_known(report.bound)]
    _draw(ax, bounds, "proved bound", {"color": COLOURS[5], "linestyle": "--", "marker": "s"})
    _draw(ax, values, "value of the best split", {"color": COLOURS[0], "linestyle": "-", "marker": "o"})
    both = [r for r in reports if _is_known(r.value) and _is_known(r.bound)]
    if both:
        ax.fill_between(
            [r.seconds for r in both],
            [r.value or 0.0 for r in both],
            [r.bound or 0.0 for r in both],
            step="post",
            facecolor="none",
            edgecolor="#BBBBBB",
            linewidth=0,
            hatch="////",
            label="not known",
        )
        ax.set_ylim(*_view(both))
    axis_words(ax, f"seconds\n{_end(reports[-1])}", "objective")
    ax.set_xlim(0.0, 1.02 * max(reports[-1].seconds, 1e-9))
    ax.ticklabel_format(axis="y", useOffset=False)
    quiet(ax)
    legend_above(ax)
    return finished(ax)


def _is_known(number: float | None) -> bool:
    return number is not None and math.isfinite(number)


def _draw(ax: Axes, points: Sequence[tuple[float, float | None]], name: str, style: dict[str, Any]) -> None:
    if points:
        seconds, numbers = zip(*points, strict=True)
        every = max(1, len(points) // 20)
        ax.plot(
            seconds,
            numbers,
            drawstyle="steps-post",
            label=name,
            markersize=4,
            markevery=every,
            linewidth=1.6,
            **style,
        )


def _view(reports: Sequence[Report]) -> tuple[float, float]:
    """Limits in which the end can be seen: first bounds may be thousands of times the value."""
    gaps = sorted(abs((r.bound or 0.0) - (r.value or 0.0)) for r in reports)
    last = reports[-1]
    low, high = sorted((last.value or 0.0, last.bound or 0.0))
    reach = max(VIEW * gaps[len(gaps) // 2], 2 * (high - low), 1e-3 * max(abs(low), abs(high)), 1e-12)
    numbers = [number for r in reports for number in (r.value or 0.0, r.bound or 0.0)]
    least, most = max(min(numbers), low - reach), min(max(numbers), high + reach)
    margin = max(0.06 * (most - least), SMALLEST_VIEW * max(abs(low), abs(high)), 1e-12)
    return least - margin, most + margin


def _end(last: Report) -> str:
    nodes = "" if last.nodes is None else f", {last.nodes:,} boxes"
    gap = f"relative gap {last.relative_gap:.2g}" if math.isfinite(last.relative_gap) else "no bound yet"
    return f"{gap} after {last.seconds:.3g} s{nodes}"
