"""Labels of points in a column beside the axes: they never cover each other or the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from budget_opt.plots.style import DARK, GREY, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 1.45
"""Height of a line of labels, in heights of its letters."""
POINTS_AN_INCH = 72


@dataclass(frozen=True)
class Labelled:
    """A point of the data and the text beside it."""

    x: float
    y: float
    text: str


def side_labels(ax: Axes, points: Sequence[Labelled]) -> None:
    """Write the texts right of the axes, in the order of the points' heights, a thin line to each.

    The limits and scales of the axes must be final.
    """
    if not points:
        return
    places = (ax.transScale + ax.transLimits).transform([(point.x, point.y) for point in points])
    # from low to high; of points at one height the leftmost gets the uppermost label: lines do not cross
    order = np.lexsort((-places[:, 0], places[:, 1]))
    heights = spread(places[order, 1], _line(ax))
    for i, height in zip(order, heights, strict=True):
        ax.annotate(
            points[i].text,
            xy=(points[i].x, points[i].y),
            xytext=(1.03, height),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            color=DARK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": GREY,
                "linewidth": 0.5,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


def room(ax: Axes) -> int:
    """How many labels fit beside the axes."""
    return int(1.0 / _line(ax))


def spread(wanted: np.ndarray, gap: float) -> np.ndarray:
    """The places nearest to the increasing `wanted` ones, in squares, at least `gap` apart.

    Inside 0 to 1 where they fit. What would overlap stands as one block around its mean.
    """
    offsets = gap * np.arange(len(wanted))
    blocks: list[tuple[float, int]] = []
    for place in np.asarray(wanted) - offsets:
        blocks.append((float(place), 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (low, m), (high, n) = blocks[-2:]
            blocks[-2:] = [((m * low + n * high) / (m + n), m + n)]
    placed = np.concatenate([np.full(count, mean) for mean, count in blocks])
    inside: np.ndarray = np.clip(placed, 0.0, max(1.0 - offsets[-1], 0.0)) + offsets
    return inside


def _line(ax: Axes) -> float:
    """Height of a line of labels as a share of the axes."""
    figure = ax.get_figure(root=True)
    inches = 4.0 if figure is None else figure.get_size_inches()[1] * ax.get_position().height
    return LINE * SMALL / POINTS_AN_INCH / max(float(inches), 0.5)
