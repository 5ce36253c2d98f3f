"""The mark on figures that were computed from the originals: they must not leave the house (DESIGN 3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARK = "budget-opt: internal"


def watermark(ax: Axes, notice: str) -> None:
    """Write the notice across the axes, and above them where it can be read."""
    wrapped = notice.replace(": ", ":\n").replace(", ", ",\n")
    ax.text(
        0.5,
        0.5,
        wrapped,
        transform=ax.transAxes,
        rotation=24,
        ha="center",
        va="center",
        fontsize=21,
        fontweight="bold",
        color="#B00020",
        alpha=0.16,
        zorder=5,
        gid=_MARK,
    )
    ax.text(
        0.0, 1.01, notice, transform=ax.transAxes, fontsize=8, fontweight="bold", color="#B00020", va="bottom"
    )


def notice_of(figure: Figure) -> str | None:
    """The notice that a figure carries, None where it carries none."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if text.get_gid() == _MARK and isinstance(text, Text):
            return " ".join(text.get_text().split())
    return None
