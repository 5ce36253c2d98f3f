"""A split and what it keeps as an image that is drawn again many times a second, for `explorer`.

What stays is drawn once, axes where their scale changes; a new split draws its bars over them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.plots.style import (
    AT_LEAST,
    COLOURS,
    DARK,
    LIGHT,
    SMALL,
    axis_words,
    finished,
    legend_above,
    quiet,
    without_glyph_warnings,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

DPI = 96
SHRINKS = 0.3
"""An axis is kept as long as the largest number fills this share of it, so that the eye can compare."""
FADED = "#B9CBD8"
FADED_TEXT = "#8A8A8A"
"""A split that is not that of the wishes."""


@dataclass(frozen=True)
class Row:
    """One bar: its value, the mark of its floor, and the number that is written beside it."""

    value: float
    floor: float | None
    note: str


@dataclass(frozen=True)
class Side:
    """What stays of one of both panels: the names of its rows, what it measures, the values at the start."""

    labels: Sequence[str]
    measures: str
    start: Sequence[float]


class LiveBars:
    """Panels of bars side by side."""

    def __init__(self, sides: Sequence[Side]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        rows = max(4, *(len(side.labels) for side in sides))
        self._figure = Figure(figsize=(10.5, 1.2 + 0.24 * rows), layout="constrained", dpi=DPI)
        # matplotlib's own annotations leave these methods out
        self._canvas: Any = FigureCanvasAgg(self._figure)
        places = self._figure.subplots(1, len(sides), squeeze=False)[0]
        self._panels = [_Panel(ax, side) for ax, side in zip(places, sides, strict=True)]
        self._still: object = None
        self._background: object = None

    def png(self, rows: Sequence[Sequence[Row]], faded: bool = False) -> bytes:
        """The image of these rows, a list a panel; `faded` where they are not those of the wishes."""
        with without_glyph_warnings():
            return self._drawn(rows, faded)

    def _drawn(self, rows: Sequence[Sequence[Row]], faded: bool) -> bytes:
        rescaled = [panel.update(wanted, faded) for panel, wanted in zip(self._panels, rows, strict=True)]
        if self._still is None:
            self._lay_out()
        if any(rescaled):
            self._background = self._over(self._still, [panel.scaled for panel in self._panels])
        self._over(self._background, [panel.moving for panel in self._panels])
        return self._encoded()

    def _over(self, layer: object, groups: Sequence[Sequence[Artist]]) -> object:
        """Draw these over the layer; the result as a layer."""
        self._canvas.restore_region(layer)
        for panel, group in zip(self._panels, groups, strict=True):
            panel.draw(group)
        return self._canvas.copy_from_bbox(self._figure.bbox)

    def _lay_out(self) -> None:
        """Draw what stays; where things are is found once, as that takes longer than all the rest."""
        self._canvas.draw()
        self._figure.set_layout_engine("none")
        self._still = self._canvas.copy_from_bbox(self._figure.bbox)

    def _encoded(self) -> bytes:
        from matplotlib.image import imsave

        buffer = io.BytesIO()
        pixels = np.asarray(self._canvas.buffer_rgba())
        imsave(buffer, pixels, format="png", dpi=DPI, pil_kwargs={"compress_level": 1})
        return buffer.getvalue()


def round_end(needed: float) -> float:
    """The next of 1, 2, 5, 10, 20, … times a power of ten."""
    decade = 10.0 ** math.floor(math.log10(max(needed, 1e-9)))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= needed * (1 - 1e-12))


class _Panel:
    """One axes in three layers: names, which stay, `scaled` with the axis, and `moving` with the split."""

    def __init__(self, ax: Axes, side: Side) -> None:
        places = np.arange(len(side.labels))
        self._ax = ax
        self._places = places
        self._start = side.start
        before = ax.barh(places + 0.22, side.start, 0.36, color=LIGHT, label="at the start", animated=True)
        self._bars = ax.barh(places - 0.16, side.start, 0.44, color=COLOURS[0], label="now", animated=True)
        self._floors = ax.scatter([], [], label="floor", animated=True, **AT_LEAST)
        write: dict[str, Any] = {
            "transform": ax.get_yaxis_transform(),
            "va": "center",
            "fontsize": SMALL,
            "color": DARK,
        }
        self._notes = [ax.text(1.015, place, "000 %", animated=True, **write) for place in places - 0.08]
        ax.set_yticks(places, side.labels)
        ax.set_ylim(len(places) - 0.4, -0.6)
        axis_words(ax, side.measures)
        quiet(ax, "x")
        ax.tick_params(axis="y", length=0)
        legend_above(ax)
        finished(ax)
        ax.xaxis.set_animated(True)
        self.scaled: list[Artist] = [ax.xaxis, *before]
        self.moving: list[Artist] = [*self._bars, self._floors, *self._notes]
        self._end = 0.0

    def update(self, rows: Sequence[Row], faded: bool) -> bool:
        """Move the bars; True where the axis has another scale than before."""
        for bar, note, row in zip(self._bars, self._notes, rows, strict=True):
            bar.set_width(row.value)
            bar.set_facecolor(FADED if faded else COLOURS[0])
            note.set_text(row.note)
            note.set_color(FADED_TEXT if faded else DARK)
        marked = [
            (row.floor, place) for row, place in zip(rows, self._places - 0.16, strict=True) if row.floor
        ]
        self._floors.set_offsets(np.array(marked or np.empty((0, 2))))
        needed = max([*self._start, *(row.value for row in rows), *(row.floor or 0.0 for row in rows)])
        if SHRINKS * self._end <= needed <= self._end:
            return False
        self._end = round_end(needed)
        self._ax.set_xlim(0, self._end)
        return True

    def draw(self, artists: Sequence[Artist]) -> None:
        """Draw these of the panel's artists."""
        for artist in artists:
            self._ax.draw_artist(artist)
