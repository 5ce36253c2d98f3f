"""The one style of all figures: told apart by colour-blind readers, and in grey print.

Colour is never the only difference: lines have dashes, bars hatches, points shapes, marks a direction.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# the palette of Okabe and Ito, 2008
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
DARK = "#222222"
GREY = "#666666"
LIGHT = "#C4C4C4"
GRID = "#E2E2E2"
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (1, 3)))
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "++++")
MARKERS = ("o", "s", "^", "D", "v", "P")
SHADES = "Blues"
"""The colour map of shares: one hue, the darker the more, in grey print too."""
SMALL = 8.0
"""Points: the size of names and numbers inside a figure."""

_MARK = {"s": 120, "edgecolor": DARK, "linewidths": 0.8, "zorder": 4, "clip_on": False}
AT_LEAST: dict[str, Any] = {**_MARK, "marker": [(0, -1), (0, 1), (1.4, 0), (0, -1)], "facecolor": "#F0E442"}
"""The mark of a lower limit: its base is at the limit, and it points to where one may be."""
AT_MOST: dict[str, Any] = {**_MARK, "marker": [(0, -1), (0, 1), (-1.4, 0), (0, -1)], "facecolor": "#D55E00"}
"""The mark of an upper limit."""
PINNED: dict[str, Any] = {**_MARK, "marker": "D", "s": 26, "facecolor": "white"}
"""The mark of a number that is fixed."""

GROWS = "budget-opt: takes the size of what is drawn"
"""The id of figures that `files` makes without a size."""
_SCRIPTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Arial Unicode MS",
)


def axes(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """The given axes, or those of a new figure of `width` x `height` inches."""
    if ax is not None:
        figure = ax.get_figure(root=True)
        if figure is not None and figure.get_gid() == GROWS:
            figure.set_size_inches(width, height)
        return ax
    import matplotlib.pyplot as plt

    made: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return made


def quiet(ax: Axes, lines: str = "both") -> None:
    """Light grid behind the data along `lines` ("x", "y", "both"), no frame where there are no numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.grid(visible=False)
    ax.grid(
        visible=True,
        axis="both" if lines == "both" else "x" if lines == "x" else "y",
        color=GRID,
        linewidth=0.6,
    )
    ax.tick_params(labelsize=SMALL + 0.5, color=GREY, labelcolor=DARK)
    ax.set_axisbelow(True)


def legend_above(
    ax: Axes, columns: int = 5, handles: Mapping[str, Any] | None = None, lift: float = 0.2
) -> None:
    """The legend in one line above the axes, `lift` letters over them, where it covers nothing.

    `handles` by label, those of the axes by default.
    """
    stated = {} if handles is None else {"handles": list(handles.values()), "labels": list(handles)}
    ax.legend(
        **stated,
        fontsize=SMALL,
        frameon=False,
        ncols=columns,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=lift,
        columnspacing=1.4,
        handlelength=2.4,
        alignment="left",
    )


def axis_words(ax: Axes, x: str, y: str = "") -> None:
    """What the axes measure."""
    ax.set_xlabel(x, fontsize=SMALL + 1, color=DARK)
    ax.set_ylabel(y, fontsize=SMALL + 1, color=DARK)


def ink_on(colour: Any) -> str:
    """Black or white, whichever stands out more on this colour: at least 4.5 to 1 (WCAG 2.2, 1.4.3)."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if luminance > 0.179 else "white"


def shade(share: float) -> Any:
    """The colour of a share from 0 to 1."""
    from matplotlib import colormaps

    return colormaps[SHADES](share)


def plain_logarithms(axis: Axis, form: str, steps: Sequence[float] = (1.0,)) -> None:
    """Numbers as people write them, not as powers, on a logarithmic axis; `steps` of every decade."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(StrMethodFormatter(form))
    axis.set_minor_formatter(NullFormatter())


def finished(ax: Axes) -> Axes:
    """The axes with the fonts that names in other scripts need, where the machine has them."""
    from matplotlib.text import Text

    for text in ax.findobj(Text):
        if not text.get_text().isascii():
            text.set_fontfamily(list(families()))
    return ax


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """For figures whose letters the machine need not have: those of a page, and those drawn many times."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


@cache
def families() -> tuple[str, ...]:
    """The font of the style, then the installed fonts of other scripts."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return ("DejaVu Sans", *(name for name in _SCRIPTS if name in installed))
