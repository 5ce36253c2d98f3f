"""Figures as files, without a window system and without pyplot's global state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def save_figure(path: Path, draw: Callable[[Axes], Axes], title: str = "") -> None:
    """Draw into a new figure of 7.5 x 4.2 inches and write it; the ending of `path` says the format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure.add_subplot()).set_title(title, loc="left")
    figure.savefig(path, dpi=150)
