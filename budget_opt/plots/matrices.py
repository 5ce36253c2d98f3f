"""The retention of every pair of attributes as a heat map, moments of other orders listed beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.plots.choosing import others_in_words
from budget_opt.plots.names import distinct, label, moment_label
from budget_opt.plots.style import DARK, GREY, SHADES, SMALL, axes, finished, ink_on, shade
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

    from budget_opt.allocation import Allocation
    from budget_opt.allocation.allocation import AllocatedMoment

MOST_ATTRIBUTES = 50
MOST_NUMBERS = 24
"""Attributes up to which the cells carry numbers."""
MOST_LISTED = 14
LABEL_WIDTH = 20


def retention_matrix(allocation: Allocation, ax: Axes | None = None, largest: int = MOST_ATTRIBUTES) -> Axes:
    """Retention in percent of each pair of attributes, and of each attribute alone on the diagonal.

    Pairs that are no moment of the problem are hatched and lighter. Moments of three attributes and more are
    listed beside. Of more than `largest` attributes those with the most epsilon are shown.
    """
    shown = _shown(allocation, largest)
    names, count = [allocation.attributes[m].name for m in shown], len(shown)
    size = 0.50 if count <= 12 else 0.36 if count <= MOST_NUMBERS else 0.19
    listed = _of_higher_order(allocation)
    ax = axes(ax, width=2.2 + size * count + (2.6 if listed else 0.4), height=2.1 + size * count)
    kept = _pairs(allocation, names)
    asked = {frozenset(moment.attributes) for moment in allocation.moments}
    stated = np.array([[frozenset((a, b)) in asked for b in names] for a in names])
    norm = _norm(float(np.nanmax(kept)))
    _draw_cells(ax, kept, stated, norm)
    if count <= MOST_NUMBERS:
        _write_numbers(ax, kept, stated, norm)
    labels = distinct(label(name, LABEL_WIDTH) for name in names)
    _frame(ax, labels, _left_out(allocation, count))
    if listed:
        ax.annotate(
            "\n".join(listed),
            xy=(1.03, 1.0),
            xycoords="axes fraction",
            va="top",
            fontsize=SMALL,
            color=DARK,
            linespacing=1.5,
        )
    return finished(ax)


def _shown(allocation: Allocation, largest: int) -> list[int]:
    order = np.argsort([-attribute.epsilon for attribute in allocation.attributes], kind="stable")
    with_retention = [int(m) for m in order if allocation.attributes[m].has_retention]
    return sorted(with_retention[:largest])


def _left_out(allocation: Allocation, count: int) -> list[str]:
    """Lines on the attributes that are not among the `count` shown, by reason."""
    by_source = sum(not attribute.has_retention for attribute in allocation.attributes)
    less = len(allocation.attributes) - by_source - count
    lines = [f"{others_in_words(less, 'attribute')} with less epsilon not shown"] if less else []
    return [*lines, f"without those randomized by source ({by_source})"] if by_source else lines


def _pairs(allocation: Allocation, names: list[str]) -> np.ndarray:
    """Retentions, the lower triangle with the diagonal; NaN above."""
    kept = np.full((len(names), len(names)), np.nan)
    for i, first in enumerate(names):
        kept[i, i] = allocation[first].retention
        for j, second in enumerate(names[:i]):
            kept[i, j] = allocation.retention(first, second)
    return kept


def _norm(most: float) -> Normalize:
    """Shades by the square root of the share: most retentions are small, and must differ all the same."""
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0.0, vmax=min(1.0, math.ceil(10 * most + 1e-9) / 10))


def _draw_cells(ax: Axes, kept: np.ndarray, stated: np.ndarray, norm: Normalize) -> None:
    """Full colour for moments, a light one with hatching for the rest, a frame for the diagonal."""
    count = len(kept)
    edges = np.arange(count + 1) - 0.5
    diagonal = np.eye(count, dtype=bool)
    many = count > MOST_NUMBERS
    style: dict[str, Any] = {
        "cmap": SHADES,
        "norm": norm,
        "edgecolors": "white",
        "linewidth": 0.8,
        "rasterized": many,
    }
    full = ax.pcolormesh(edges, edges, np.where(stated | diagonal, kept, np.nan), **style)
    rest = ~stated & ~diagonal & ~np.isnan(kept)
    ax.pcolormesh(edges, edges, np.where(rest, kept, np.nan), alpha=0.35, **style)
    _outline(ax, np.argwhere(rest), 1.0, {"edgecolor": "#BBBBBB", "linewidth": 0, "hatch": "///"})
    _outline(ax, np.argwhere(diagonal), 0.92, {"edgecolor": DARK, "linewidth": 0.9})
    figure = ax.get_figure()
    if count > MOST_NUMBERS and figure is not None:
        bar = figure.colorbar(full, ax=ax, shrink=0.5, location="left", pad=0.01, format="{x:.0%}")
        bar.set_label("retention", fontsize=SMALL)
        bar.ax.tick_params(labelsize=SMALL)


def _outline(ax: Axes, cells: np.ndarray, side: float, style: dict[str, Any]) -> None:
    """One shape around all these cells."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if len(cells):
        square = side * (np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]) - 0.5)
        squares = [Path(square + cell[::-1], closed=True) for cell in cells]
        ax.add_patch(PathPatch(Path.make_compound_path(*squares), facecolor="none", **style))


def _write_numbers(ax: Axes, kept: np.ndarray, stated: np.ndarray, norm: Normalize) -> None:
    size = SMALL if len(kept) <= 12 else SMALL - 2
    for i, j in np.argwhere(~np.isnan(kept)):
        full = stated[i, j] or i == j
        colour = ink_on(shade(float(norm(kept[i, j])))) if full else DARK
        weight = "bold" if i == j else "normal"
        ax.text(
            j, i, _number(kept[i, j]), ha="center", va="center", fontsize=size, color=colour, weight=weight
        )


def _number(share: float) -> str:
    """Percent in at most four characters."""
    hundredth = 100 * share
    if share == 0:
        return "0"
    return f"{hundredth:.0f}" if hundredth >= 9.95 else f"{hundredth:.1f}" if hundredth >= 0.05 else "<.1"


def _frame(ax: Axes, labels: list[str], left_out: list[str]) -> None:
    count = len(labels)
    ax.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), aspect="equal")
    size = SMALL if count <= MOST_NUMBERS else SMALL - 1.5
    ax.set_xticks(range(count), labels, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
    ax.set_yticks(range(count), labels, fontsize=size)
    ax.tick_params(length=0, labelcolor=DARK)
    ax.spines[:].set_visible(False)
    lines = ("retention (%)", "framed: an attribute alone", "hatched: no moment of the problem", *left_out)
    ax.annotate(
        "\n".join(lines),
        xy=(0.0, 1.0),
        xycoords="axes fraction",
        xytext=(0, 4),
        textcoords="offset points",
        va="bottom",
        fontsize=SMALL,
        color=GREY,
        linespacing=1.4,
    )


def _of_higher_order(allocation: Allocation) -> list[str]:
    """The lines of the list: moments of three attributes and more, those with the largest weight."""
    found = [moment for moment in allocation.moments if len(moment.attributes) > 2]
    if not found:
        return []
    listed = sorted(found, key=lambda moment: -moment.weight)[:MOST_LISTED]
    lines = ["moments of more attributes", *map(_line, listed)]
    rest = len(found) - len(listed)
    return [*lines, f"and {others_in_words(rest, 'moment')}"] if rest else lines


def _line(moment: AllocatedMoment) -> str:
    return f"{moment_label(moment.attributes)}: {percent(moment.retention)}"
