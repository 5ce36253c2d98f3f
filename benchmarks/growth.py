"""How our time grows with the number of attributes M and of moments K, and the figure of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, floor, log10
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import convex_rows, global_cases
from benchmarks.apart import FailedError, LimitError, Times, Worker
from benchmarks.convex_cases import plain
from budget_opt.model.arrays import Objective
from budget_opt.solvers.table import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONVEX: tuple[Objective, ...] = ("max_min", "min_variance", "geometric_mean")
WITH_ATTRIBUTES = (10, 20, 50, 100, 200, 500, 1_000)
MOMENTS_EACH = 10
WITH_MOMENTS = (200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
ATTRIBUTES = 200
SEARCHED = (4, 6, 8, 10, 12, 15, 18, 22, 26)
PER_ATTRIBUTE = (0.7, 2.0)
"""Totals, in nats an attribute, of the weighted sums."""
DRAWS = 3
"""Of each weighted sum; their median is drawn."""
LIMIT = 20.0
_SPARE = 60.0
_PANELS = (
    (
        "attributes", "attributes", f"Convex, K = {MOMENTS_EACH} M", "number of attributes M",
        (10, 30, 100, 300, 1_000),
    ),
    (
        "moments", "moments", f"Convex, M = {ATTRIBUTES}", "number of moments K",
        (100, 1_000, 10_000, 100_000),
    ),
    ("search", "attributes", "Weighted sum of all pairs", "number of attributes M", (4, 6, 8, 12, 18, 26)),
)  # fmt: skip
"""Name, field of the horizontal axis, title, label, ticks."""


@dataclass(frozen=True)
class Point:
    """One problem: `seconds` are of the processors; `proved` is whether the gap of 1e-6, or 1e-8, was."""

    panel: str
    series: str
    attributes: int
    moments: int
    draw: int
    seconds: float
    proved: bool


def _convex(objective: Objective, attributes: int, moments: int) -> tuple[Times, float]:
    arrays = plain(objective, attributes, moments)
    times, found = convex_rows.fastest(lambda: solve(replace(arrays)))
    return times, found.certificate.relative_gap


def _searched(attributes: int, per_attribute: float, draw: int, limit: float) -> tuple[Times, float]:
    problem = global_cases.all_pairs(attributes, per_attribute, global_cases.SEED + draw)
    run = global_cases.ours(problem, limit)
    return run.total, run.gap


def warm_up() -> None:
    """A small problem of each kind."""
    for objective in CONVEX:
        _convex(objective, 4, 6)
    _searched(4, 0.7, 0, LIMIT)


def rows(limit: float = LIMIT, *, quick: bool = False) -> Iterator[dict[str, Any]]:
    """A point a problem; `quick`: the smaller half of the sizes, one draw of each."""
    worker = Worker(warm_up)

    def sizes(all_sizes: Sequence[int]) -> Sequence[int]:
        return all_sizes[: len(all_sizes) // 2] if quick else all_sizes

    convex = [("attributes", m, MOMENTS_EACH * m) for m in sizes(WITH_ATTRIBUTES)]
    convex += [("moments", ATTRIBUTES, k) for k in sizes(WITH_MOMENTS)]
    try:
        for panel, m, k in convex:
            for objective in CONVEX:
                point = Point(panel, objective, m, k, 0, float("nan"), False)
                yield _run(worker, _convex, (objective, m, k), point, limit, 1e-8)
        for m in sizes(SEARCHED):
            for each in PER_ATTRIBUTE:
                for draw in range(1 if quick else DRAWS):
                    name, pairs = f"E = {each:g} M", m * (m - 1) // 2
                    point = Point("search", name, m, pairs, draw, float("nan"), False)
                    yield _run(worker, _searched, (m, each, draw, limit), point, limit, 1e-6)
    finally:
        worker.end()


def _run(
    worker: Worker, call: Any, arguments: tuple[object, ...], point: Point, limit: float, gap: float
) -> dict[str, Any]:
    try:
        times, reached = worker(call, *arguments, limit=limit + _SPARE)
    except (LimitError, FailedError) as error:
        return {**asdict(point), "seconds": None, "error": str(error)}
    return asdict(replace(point, seconds=times.cpu, proved=reached <= gap))


def draw(points: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The figure: time against attributes and against moments (convex), against attributes (search).

    There are points with a time among `points`.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from budget_opt.plots.style import quiet

    figure, panels = plt.subplots(1, 3, figsize=(12.6, 4.2), layout="constrained", sharey=True)
    shown = [one for one in points if one["seconds"] is not None]
    for ax, (panel, field, title, label, ticks) in zip(panels, _PANELS, strict=True):
        _lines(ax, [one for one in shown if one["panel"] == panel], field)
        ax.set(xscale="log", yscale="log", title=title, xlabel=label)
        ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        ax.set_xlim(0.8 * ticks[0], 1.25 * ticks[-1])
        ax.minorticks_off()
        quiet(ax)
        if ax.lines:
            ax.legend(frameon=False, loc="upper left")
    # whole powers of ten, with room for the legends above the lines
    times = [one["seconds"] for one in shown]
    panels[0].set_ylim(10.0 ** floor(log10(min(times))), 10.0 ** ceil(log10(max(times)) + 0.5))
    panels[0].set_ylabel("CPU seconds")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _lines(ax: Axes, points: Sequence[Mapping[str, Any]], field: str) -> None:
    """A line a series through the medians; hollow where fewer than half were proved within the limit."""
    from budget_opt.plots.style import COLOURS, DASHES

    for i, series in enumerate(dict.fromkeys(one["series"] for one in points)):
        own = [one for one in points if one["series"] == series]
        sizes = sorted({one[field] for one in own})
        drawn = [[one for one in own if one[field] == size] for size in sizes]
        middle = [median(one["seconds"] for one in group) for group in drawn]
        open_sizes = [2 * sum(one["proved"] for one in group) < len(group) for group in drawn]
        style: dict[str, Any] = {"color": COLOURS[i], "markersize": 5}
        ax.plot(sizes, middle, DASHES[i], marker="o", label=series, **style)
        hollow = [(x, y) for x, y, is_open in zip(sizes, middle, open_sizes, strict=True) if is_open]
        if hollow:
            ax.plot(*zip(*hollow, strict=True), "o", mfc="white", zorder=3, **style)
