"""What a split keeps of every moment, beside another split and the floors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from budget_opt.plots.style import COLOURS, GREY, axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.allocation import Allocation


def retention_bars(allocation: Allocation, beside: Allocation | None = None, ax: Axes | None = None) -> Axes:
    """Retention of every moment in percent; `beside` (the even split, say) in grey, floors as marks."""
    moments = allocation.moments
    ax = axes(ax, width=7.0, height=1.2 + 0.45 * len(moments))
    rows = np.arange(len(moments))
    height = 0.8 if beside is None else 0.4
    shift = 0.0 if beside is None else height / 2
    ax.barh(
        rows - shift,
        [100 * moment.retention for moment in moments],
        height,
        color=COLOURS[0],
        label="this split",
    )
    if beside is not None:
        others = [100 * beside.retention(*moment.attributes) for moment in moments]
        ax.barh(rows + shift, others, height, color="#BBBBBB", label=beside.objective.solver)
    floors = [(row, 100 * moment.floor) for row, moment in zip(rows, moments, strict=True) if moment.floor]
    if floors:
        ax.scatter(
            [floor for _, floor in floors],
            [row - shift for row, _ in floors],
            marker="|",
            s=260,
            linewidths=2.5,
            color=COLOURS[5],
            label="floor",
            zorder=3,
        )
    ax.set_yticks(rows, [moment.label for moment in moments])
    ax.invert_yaxis()
    ax.set_xlabel("retention of the cross-moment (%)")
    ax.legend(frameon=False, loc="lower right")
    quiet(ax)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0, labelcolor="black", color=GREY)
    return ax
