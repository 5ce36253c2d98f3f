"""The figure of `hamming.py`, after figures 4 to 7 of Kalantari, Sankar and Sarwate (2018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from benchmarks.hamming import Row


def draw(
    curves: Mapping[int, Sequence[Row]], thresholds: Mapping[int, Sequence[float]], path: Path | None = None
) -> None:
    """Two rows, epsilon and mutual information, a column for each M; shown, or written to `path`."""
    import matplotlib.pyplot as plt

    from budget_opt.plots.style import quiet

    figure, axes = plt.subplots(2, len(curves), figsize=(11.0, 7.6), layout="constrained", squeeze=False)
    for column, (size, rows) in enumerate(curves.items()):
        classes(axes[0, column], size, rows, thresholds[size])
        information(axes[1, column], size, rows)
    for ax in axes.flat:
        quiet(ax)
        ax.set(xlim=(0, 0.92), ylim=(0, None), xlabel="D, share of changed cells in the worst case")
    if path is not None:
        figure.savefig(path, dpi=110)
        plt.close(figure)


def classes(ax: Axes, size: int, rows: Sequence[Row], thresholds: Sequence[float]) -> None:
    """As figures 4 and 5: epsilon by what is known; ticks above the axis where the alphabet shrinks."""
    from budget_opt.plots.style import COLOURS, DARK, DASHES

    at = [row.distortion for row in rows]
    lower, upper = [row.lower for row in rows], [row.upper for row in rows]
    ax.fill_between(at, lower, upper, color=COLOURS[1], alpha=0.35, lw=0, label="III: bounds of folding")
    lines = {
        "I: nothing is known": [row.nothing_known for row in rows],
        "III: two pieces, exact": [row.two_pieces for row in rows],
        "II: the order is known": [row.order_known for row in rows],
    }
    for i, (name, epsilons) in enumerate(lines.items()):
        ax.plot(at, epsilons, color=COLOURS[i], linestyle=DASHES[i], label=name)
    top = ax.get_ylim()[1]
    ax.vlines(
        thresholds, 0, 0.04 * top, color=DARK, linewidth=1.0, label="one category fewer is reported (II)"
    )
    ax.set(title=f"M = {size}", ylabel="least epsilon, nats")
    ax.legend(frameon=False, fontsize=8, loc="upper right")


def information(ax: Axes, size: int, rows: Sequence[Row]) -> None:
    """As figures 6 and 7: differential privacy beside mutual information, classes I and II."""
    from budget_opt.plots.style import COLOURS, DASHES

    at = [row.distortion for row in rows]
    lines = {
        "epsilon, I": [row.nothing_known for row in rows],
        "epsilon, II": [row.order_known for row in rows],
        "mutual information, I": [row.information_nothing for row in rows],
        "mutual information, II": [row.information_order for row in rows],
    }
    for i, (name, leaks) in enumerate(lines.items()):
        ax.plot(at, leaks, color=COLOURS[(0, 2, 5, 3)[i]], linestyle=DASHES[i], label=name)
    ax.set(title=f"M = {size}", ylabel="leakage, nats")
    ax.legend(frameon=False, fontsize=8, loc="upper right")
