"""Figures as files and as text, without a window system and without pyplot's global state."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budget_opt.plots.internal import notice_of
from budget_opt.plots.names import escaped
from budget_opt.plots.style import GROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = Callable[["Axes"], "Axes"]
"""What a figure shows: draws into the axes and returns them."""
TITLE = 11
_NOTED = {
    ".png": ("Description",),
    ".svg": ("Description",),
    ".pdf": ("Subject", "Keywords"),
    ".ps": ("Creator",),
    ".eps": ("Creator",),
}
"""The fields of each format that can say what a reader must know."""


def save_figure(
    path: str | Path, draw: Draw, title: str = "", size: tuple[float, float] | None = None
) -> None:
    """Draw into a new figure and write it; the ending of `path` says the format.

    `size` in inches, that of the drawing by default. What was computed from originals is marked as such in
    the file's metadata too, where the format has any.
    """
    figure = drawn(draw, title, size)
    notice = notice_of(figure)
    fields = _NOTED.get(Path(path).suffix.lower(), ())
    metadata: dict[str, Any] = {} if notice is None else dict.fromkeys(fields, notice)
    figure.savefig(path, dpi=150, metadata=metadata or None)


def drawn(draw: Draw, title: str = "", size: tuple[float, float] | None = None) -> Figure:
    """A new figure, outside pyplot, with one axes that `draw` has filled."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or (7.5, 4.2), layout="constrained")
    if size is None:
        figure.set_gid(GROWS)
    FigureCanvasAgg(figure)
    draw(figure.add_subplot())
    figure.set_gid(None)
    if title:
        figure.suptitle(escaped(title), x=0.01, ha="left", fontsize=TITLE)
    return figure


def png_bytes(figure: Figure, dpi: int = 96) -> bytes:
    """The figure as a PNG image."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
