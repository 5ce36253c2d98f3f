"""The figure of `benchmarks/joint.py`, after figures 3 to 5 of Castell (2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import joint_compared as compared
from budget_opt.plots.style import COLOURS, DARK, GREY, LIGHT, SMALL, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Document = Mapping[str, Any]

DRAWN = (
    ("RR-Independent", COLOURS[5], "-", "s"),
    ("RR-Ind-Joint", COLOURS[0], "-", "o"),
    ("hybrid", COLOURS[3], "--", "D"),
    ("truncated", COLOURS[1], "-", "^"),
    ("RR-Joint on the simplex", GREY, ":", "v"),
    ("LoPub", COLOURS[4], "-.", "P"),
    ("default", DARK, "-", "o"),
)
"""The methods that are drawn, with colour, dash and marker."""
_WIDTHS = (2, 3, 4, 5, 6)


def write(document: Document, path: Path) -> None:
    """Draw and save it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 4, figsize=(17, 8.4), layout="constrained")
    for ax, table in zip(panels[0], document["tables"], strict=True):
        _by_width(ax, document, table["title"], "attribute", 1.0, "avd")
        _paper_crossover(ax, table["paper_w"])
        ax.set(
            title=f"{table['title']}, epsilon 1 an attribute", ylabel="AVD", ylim=(0.02, 50), xlim=(1.8, 6.3)
        )
    _cell_errors(panels[1][0], document)
    _domain(panels[1][1], document["growth"])
    _by_width(panels[1][2], document, "Adult", "attribute", 3.0, "avd")
    panels[1][2].set(title="Adult, epsilon 3 an attribute", ylabel="AVD", ylim=(0.001, 5))
    _by_width(panels[1][3], document, "Adult", "total", 6.0, "avd")
    panels[1][3].set(title="Adult, total 6 for the set", ylabel="AVD", ylim=(0.001, 50))
    handles, labels = panels[0][0].get_legend_handles_labels()
    labels = [f"{one} (this set only)" if one.startswith("RR-Joint") else one for one in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _by_width(ax: Axes, document: Document, data: str, budget: str, epsilon: float, field: str) -> None:
    for method, colour, dash, marker in DRAWN:
        rows = compared.series(document["rows"], data, budget, epsilon, method)
        if rows:
            errors = [row[field] for row in rows]
            style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "label": method}
            ax.plot([row["w"] for row in rows], errors, dash, lw=2.2 if method == "default" else 1.3, **style)
    ax.set(xlabel="number of attributes w", yscale="log", xticks=_WIDTHS)
    quiet(ax)


def _paper_crossover(ax: Axes, w_star: int) -> None:
    """The paper's w*, or that it lies to the right."""
    if w_star <= _WIDTHS[-1]:
        ax.axvline(w_star, color=LIGHT, lw=1.2, zorder=0)
        ax.text(w_star + 0.05, 0.023, "paper's w*", color=GREY, fontsize=SMALL)
    else:
        ax.text(_WIDTHS[-1], 0.023, f"paper's w* = {w_star}", color=GREY, fontsize=SMALL, ha="right")


def _cell_errors(ax: Axes, document: Document) -> None:
    """What the paper probably reports as AVD, with its figures."""
    _by_width(ax, document, "Adult", "attribute", 1.0, "cell_error")
    zeros = compared.series(document["rows"], "Adult", "attribute", 1.0, "all zeros")
    ax.plot([row["w"] for row in zeros], [row["cell_error"] for row in zeros], color=LIGHT, lw=5, zorder=0)
    ax.text(2.1, zeros[0]["cell_error"] * 1.35, "all zeros", color=GREY, fontsize=SMALL)
    for value, name, side in (
        (compared.PAPER_HYBRID, "paper: hybrid", "bottom"),
        (compared.PAPER_TRUNCATED, "paper: truncated", "top"),
    ):
        ax.axhline(value, color=GREY, lw=0.8, zorder=0)
        ax.text(_WIDTHS[-1], value, name, color=GREY, fontsize=SMALL, ha="right", va=side)
    ax.set(
        title="Adult, epsilon 1: error of a cell", ylabel="mean |truth - estimate| of a cell", ylim=(1e-6, 1)
    )


def _domain(ax: Axes, growth: Sequence[Mapping[str, Any]]) -> None:
    cells = np.array([one["cells"] for one in growth])
    grid = np.linspace(cells.min(), cells.max(), 200)
    intercept, slope = compared.line_through(growth, "cell_error")
    ax.scatter(cells, [one["cell_error"] for one in growth], s=9, color=COLOURS[0], alpha=0.6)
    ax.plot(grid, intercept + slope * grid, color=COLOURS[0], lw=1)
    ax.set(
        title="RR-Ind-Joint, Adult, epsilon 1, w = 2 .. 5",
        xlabel="number of cells",
        ylabel="mean |truth - estimate| of a cell",
    )
    reached = compared.cells_at(growth, "cell_error")
    ax.text(
        0.04,
        0.92,
        f"line reaches 0.5 at {reached:,.0f} cells\n(paper {compared.PAPER_CELLS:,})",
        transform=ax.transAxes,
        fontsize=9,
        va="top",
    )
    quiet(ax)
