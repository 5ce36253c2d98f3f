"""Horizontal bars with limits as marks: what the figures of splits and of retentions share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.plots.style import (
    AT_LEAST,
    AT_MOST,
    COLOURS,
    DARK,
    GREY,
    LIGHT,
    PINNED,
    SMALL,
    axes,
    axis_words,
    legend_above,
    quiet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VALUE = "value of a row"
"""The id of the texts that give the numbers of the bars."""


@dataclass(frozen=True)
class Bar:
    """One row: a value, another split's beside it, and the limits of the value, None where there is none."""

    label: str
    value: float
    beside: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    pinned: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Rest:
    """The rows that are not shown, as one: their label and the range of their values."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Words:
    """What the axes and the legend say."""

    value: str
    beside: str
    axis: str
    at_least: str
    at_most: str
    pinned: str = "fixed"


def bars(rows: Sequence[Bar], rest: Rest | None, words: Words, ax: Axes | None = None) -> Axes:
    """Draw the rows from the top downward, the rest as a line from least to most with the median marked."""
    count = len(rows) + (rest is not None)
    paired = any(row.beside is not None for row in rows)
    ax = axes(ax, width=7.4, height=1.35 + count * (0.40 if paired else 0.30))
    places = np.arange(len(rows))
    height = 0.42 if paired else 0.66
    shift = height / 2 if paired else 0.0
    ax.barh(places - shift, [row.value for row in rows], height, color=COLOURS[0], label=words.value)
    if paired:
        others = [row.beside or 0.0 for row in rows]
        style: dict[str, Any] = {"color": LIGHT, "edgecolor": "white", "hatch": "/////", "linewidth": 0}
        ax.barh(places + shift, others, height, label=words.beside, **style)
    if rest is not None:
        _draw_rest(ax, rest, len(rows))
    _draw_limits(ax, rows, places - shift, words)
    beside_axes: dict[str, Any] = {
        "transform": ax.get_yaxis_transform(),
        "va": "center",
        "fontsize": SMALL,
        "color": DARK,
    }
    for place, row in zip(places - shift, rows, strict=True):
        ax.text(1.015, place, row.note, gid=VALUE, **beside_axes)
    ax.set_yticks(np.arange(count), [row.label for row in rows] + ([rest.label] if rest else []))
    ax.set_ylim(count - 0.4, -0.6)
    ax.set_xlim(0, 1.02 * max(_widest(rows, rest), 1e-9))
    axis_words(ax, words.axis)
    quiet(ax, "x")
    ax.tick_params(axis="y", length=0)
    legend_above(ax)
    return ax


def _widest(rows: Sequence[Bar], rest: Rest | None) -> float:
    numbers = [n for r in rows for n in (r.value, r.beside, r.at_least, r.at_most, r.pinned) if n is not None]
    return max([*numbers, *(rest.values if rest else ())], default=1.0)


def _draw_limits(ax: Axes, rows: Sequence[Bar], places: np.ndarray, words: Words) -> None:
    kinds = (
        ("at_least", words.at_least, AT_LEAST),
        ("at_most", words.at_most, AT_MOST),
        ("pinned", words.pinned, PINNED),
    )
    for field, name, style in kinds:
        marked = [(getattr(row, field), place) for row, place in zip(rows, places, strict=True)]
        marked = [(limit, place) for limit, place in marked if limit is not None]
        if marked:
            ax.scatter(*zip(*marked, strict=True), label=name, **style)


def _draw_rest(ax: Axes, rest: Rest, place: int) -> None:
    low, middle, high = np.quantile(rest.values, (0, 0.5, 1))
    ax.hlines(place, low, high, color=GREY, linewidth=1.5)
    ax.scatter([low, middle, high], [place] * 3, marker="|", s=70, color=GREY, linewidths=1.5)
    ax.annotate(
        "least, median, most",
        xy=(high, place),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL - 0.5,
        color=GREY,
        style="italic",
    )
