"""The figure of `wang.py`: where the Laplace design is better, the table's statistics, and the graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.wang_claims import CATEGORIES, LDL
from benchmarks.wang_designs import dispersion, squared_distance, wrong_guess, wrong_value
from benchmarks.wang_graph_rows import GraphRow
from benchmarks.wang_search import excess, fails_until, mean_variance, total_variance, triangles_cross
from benchmarks.wang_table import Row, entropy_gradient

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from benchmarks.wang_designs import FloatArray


def draw(table: Sequence[Row], graph: Sequence[GraphRow], path: Path) -> None:
    """Write the figure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from budget_opt.plots.style import quiet

    figure, axes = plt.subplots(2, 4, figsize=(17.0, 8.2), layout="constrained")
    three_categories(axes[0, 0])
    uniform_shares(axes[0, 1])
    both_ends(axes[0, 2])
    variance_ratios(axes[0, 3])
    estimates(axes[1, 0], table, "entropy", "Entropy of LDL, bits (true: line)")
    estimates(axes[1, 1], table, "chi-square", "Chi-square of LDL and TC (true: line)")
    graph_errors(axes[1, 2], graph, "triangles", "Triangles of a node, mean absolute error")
    graph_errors(axes[1, 3], graph, "degree", "Degree of a node, mean absolute error")
    for ax in axes.flat:
        quiet(ax)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def three_categories(ax: Axes) -> None:
    """Theorem 4 at t = 3: shares (1 - s) / 2, s, (1 - s) / 2."""
    from budget_opt.plots.style import COLOURS, DARK

    middles, epsilons = np.linspace(0.002, 0.6, 120), np.geomspace(0.1, 4.0, 120)
    shares = np.column_stack([(1 - middles) / 2, middles, (1 - middles) / 2])
    grids = {
        name: np.array([excess(criterion, e, shares) for e in epsilons])
        for name, criterion in (
            ("wrong value", wrong_value), ("squared distance", squared_distance), ("wrong guess", wrong_guess)
        )
    }  # fmt: skip
    first = grids["wrong value"]
    ax.contourf(middles, epsilons, first, levels=[first.min() - 1, 0.0], colors=[COLOURS[4]], alpha=0.45)
    for i, (name, grid) in enumerate(grids.items()):
        ax.contour(
            middles, epsilons, grid, levels=[-1e-6], colors=[COLOURS[i]], linestyles=["-", "--", "-."][i]
        )
        ax.plot([], [], ["-", "--", "-."][i], color=COLOURS[i], label=name)
    ax.plot(0.1, 0.5, "o", color=DARK, markersize=5)
    ax.annotate("shares .45 .1 .45", (0.1, 0.5), (0.13, 0.46), fontsize=8)
    ax.set(yscale="log", title="Theorem 4, t = 3: fails below the lines", ylabel="epsilon")
    ax.set_xlabel("share of the middle category, the ends alike")
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    _plain_epsilons(ax, "y", (0.1, 0.2, 0.5, 1, 2, 4))


def uniform_shares(ax: Axes) -> None:
    """Theorem 4 by squared distance, and the mean of the categories, with uniform shares."""
    from budget_opt.plots.style import COLOURS, DARK

    sizes = range(3, 15)
    even = {t: np.full(t, 1.0 / t) for t in sizes}
    distance = [fails_until(squared_distance, even[t]) for t in sizes]
    ax.fill_between(list(sizes), 0.1, distance, color=COLOURS[4], alpha=0.45, linewidth=0)
    ax.plot(
        list(sizes), distance, "--", color=COLOURS[1], marker="o", ms=4, label="squared distance (eq. 12)"
    )
    means = [fails_until(mean_variance, even[t]) for t in sizes]
    ax.plot(list(sizes), means, "-.", color=COLOURS[2], marker="^", ms=4, label="variance of the mean level")
    ax.plot(6, 1.0, "o", color=DARK, markersize=5)
    ax.annotate("t = 6, epsilon 1", (6, 1.0), (6.3, 0.9), fontsize=8)
    ax.set(
        yscale="log", title="Uniform shares: fails below the lines", xlabel="categories t", ylabel="epsilon"
    )
    ax.set_ylim(0.1, 6)
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    _plain_epsilons(ax, "y", (0.1, 0.2, 0.5, 1, 2, 4))


def both_ends(ax: Axes) -> None:
    """Theorem 4 at its worst: half of the shares at each end."""
    from budget_opt.plots.style import COLOURS, DARK, DASHES

    epsilons = np.geomspace(0.1, 8.0, 80)
    for i, t in enumerate(CATEGORIES):
        shares = np.full(t, 0.001 / t)
        shares[[0, -1]] += 0.4995
        more = [100 * float(excess(wrong_value, e, shares)) for e in epsilons]
        ax.plot(epsilons, more, DASHES[i], color=COLOURS[i], label=f"t = {t}")
    ax.axhline(0.0, color=DARK, linewidth=0.8)
    ax.set(xscale="log", title="Theorem 4 at its worst: shares at both ends", ylim=(-25, 25))
    ax.set(xlabel="epsilon", ylabel="% more wrong values by Laplace")
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    _plain_epsilons(ax, "x", (0.1, 0.2, 0.5, 1, 2, 4, 8))


def variance_ratios(ax: Axes) -> None:
    """Variance under the Laplace design over that of randomized response, LDL shares."""
    from budget_opt.plots.style import COLOURS, DARK, DASHES

    epsilons, slope = np.geomspace(0.1, 10.0, 60), entropy_gradient(LDL)

    def entropy_variance(P: FloatArray, shares: FloatArray) -> float:
        return float(slope @ dispersion(P, shares) @ slope)

    shown = {"shares (sum)": total_variance, "entropy": entropy_variance, "mean level": mean_variance}
    for i, (name, criterion) in enumerate(shown.items()):
        ratios = [1.0 + excess(criterion, e, LDL) for e in epsilons]
        ax.plot(epsilons, ratios, DASHES[i], color=COLOURS[i], label=name)
    ax.axhline(1.0, color=DARK, linewidth=0.8)
    ax.set(xscale="log", yscale="log", title="LDL levels: Laplace / randomized response")
    ax.set(xlabel="epsilon", ylabel="ratio of variances (below 1: Laplace better)")
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    _plain_epsilons(ax, "x", (0.1, 0.2, 0.5, 1, 2, 5, 10))


def estimates(ax: Axes, table: Sequence[Row], statistic: str, title: str) -> None:
    """As figures 3 and 4 of the paper: mean and one standard deviation of the simulated estimates."""
    from budget_opt.plots.style import COLOURS, DARK, MARKERS

    for i, mechanism in enumerate(("RR", "LM")):
        own = [row for row in table if row.statistic == statistic and row.mechanism == mechanism]
        at = np.array([row.epsilon for row in own]) * (1.0 + 0.05 * (2 * i - 1))
        ax.errorbar(
            at,
            [row.mean for row in own],
            [row.simulated for row in own],
            fmt=MARKERS[i],
            color=COLOURS[i],
            markersize=4,
            capsize=2,
            label={"RR": "randomized response", "LM": "Laplace design"}[mechanism],
        )
    ax.axhline(table[0].truth if not own else own[0].truth, color=DARK, linewidth=0.8)
    ax.set(xscale="log", title=title, xlabel="epsilon of an attribute")
    ax.legend(frameon=False, fontsize=8, loc="lower right" if statistic == "entropy" else "upper right")
    _plain_epsilons(ax, "x", (0.5, 1, 2, 4, 8))


def graph_errors(ax: Axes, graph: Sequence[GraphRow], statistic: str, title: str) -> None:
    """As figures 5 and 6 of the paper."""
    from budget_opt.plots.style import COLOURS, DARK, DASHES, MARKERS

    own = {
        m: [one for one in graph if one.statistic == statistic and one.mechanism == m] for m in ("RR", "LM")
    }
    epsilons = [one.epsilon for one in own["RR"]]
    lines = {
        "RR, corrected": [one.corrected for one in own["RR"]],
        "LM, corrected": [one.corrected for one in own["LM"]],
        "RR, raw": [one.raw for one in own["RR"]],
        "LM-global (output)": [one.noisy for one in own["RR"]],
    }
    for i, (name, errors) in enumerate(lines.items()):
        ax.plot(epsilons, errors, DASHES[i], marker=MARKERS[i], ms=4, color=COLOURS[i], label=name)
    if statistic == "triangles":
        cross = triangles_cross()
        ax.axvline(cross, color=DARK, linewidth=0.8, linestyle=":")
        ax.annotate(f" {cross:.2f}", (cross, 2.0), fontsize=8)
    ax.set(xscale="log", yscale="log", title=title, xlabel="epsilon")
    ax.legend(frameon=False, fontsize=8, loc="upper right" if statistic == "triangles" else "lower left")
    _plain_epsilons(ax, "x", (0.25, 0.5, 1, 2, 4, 8))


def _plain_epsilons(ax: Axes, which: str, ticks: Sequence[float]) -> None:
    from matplotlib.ticker import NullLocator

    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())
