"""The one style of all figures: colours that colour-blind readers tell apart, readable in print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# the palette of Okabe and Ito, 2008
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
GREY = "#777777"
DASHES = ("-", "--", "-.", ":")


def axes(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """The given axes, or those of a new figure (inches)."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    made: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return made


def quiet(ax: Axes) -> None:
    """Light grid behind the data, no frame on the sides that carry no numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="both", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
