"""What survives as one number of the problem is varied: a band for each kind of moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budget_opt.api.checking.needs import possible_end
from budget_opt.errors import InfeasibleError, InputError
from budget_opt.plots.choosing import order_in_words
from budget_opt.plots.names import distinct, label, moment_label
from budget_opt.plots.side_labels import Labelled, side_labels
from budget_opt.plots.style import (
    COLOURS,
    DARK,
    DASHES,
    GREY,
    HATCHES,
    MARKERS,
    SMALL,
    axes,
    axis_words,
    finished,
    legend_above,
    plain_logarithms,
    quiet,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from budget_opt.allocation import Allocation
    from budget_opt.api.frontiers.frontier import Frontier, FrontierPoint, SupportChange
    from budget_opt.model.moments.moment import CrossMoment

By = Literal["order", "floor"]
MOST_NAMED = 12
"""Moments that are all drawn and named; of more, only the bands are."""
MOST_CHANGES = 8
"""Changes of the support that are written out."""
RECORDS = "n"
ON_WHITE = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}
"""Behind words that stand on lines."""
_AXES = {"total_epsilon": "total epsilon (nats)", RECORDS: "number of records n"}


def frontier_plot(frontier: Frontier, by: By | None = None, ax: Axes | None = None) -> Axes:
    """Retention against the varied number: least, median and most of each kind of moments.

    Kinds are those `by` "order" (number of attributes) or by "floor" (with and without one); by default the
    order where there are several. Up to 12 moments are lines with names as well. Hatched: where no split
    keeps all constraints. Triangles: between which points the split gains (up) or loses (down) an attribute.
    Varied n: the expected relative standard error, as the retention stays. Raises `InputError` where no
    point has a split.
    """
    solved = [point for point in frontier.points if point.allocation is not None]
    if not solved:
        raise InputError(
            "frontier: has no point with a split. Vary the number over a range that is possible."
        )
    ax = axes(ax, width=7.6, height=4.6)
    at = np.array([point.at for point in solved])
    numbers = _numbers(frontier, solved)
    kinds = _kinds(frontier.problem.moments, by)
    handles = {}
    for i, (name, members) in enumerate(kinds.items()):
        words = name if len(members) == 1 else f"{name}: median of {len(members):,}, least to most"
        handles[words] = _draw_band(ax, at, numbers[:, members], i)
    _set_limits(ax, frontier, numbers)
    if numbers.shape[1] <= MOST_NAMED:
        banded = [k for members in kinds.values() if len(members) > 1 for k in members]
        ax.plot(at, numbers[:, banded], color=GREY, linewidth=0.7, zorder=2.5)
        _name_ends(ax, float(at[-1]), numbers[-1], frontier.problem.moments)
    _mark_impossible(ax, frontier)
    _mark_support(ax, frontier.support_changes)
    axis_words(
        ax,
        _axis(frontier),
        "expected relative standard error" if frontier.kind == RECORDS else "retention (%)",
    )
    quiet(ax)
    legend_above(ax, columns=2, handles=handles)
    return finished(ax)


def _numbers(frontier: Frontier, solved: Sequence[FrontierPoint]) -> np.ndarray:
    """What is drawn, a row a point and a column a moment: percent retained, or a standard error."""
    if frontier.kind == RECORDS:
        errors = [frontier.errors_at(point) for point in solved]
        return np.array([[error or np.nan for error in of_point] for of_point in errors])
    return np.array([[100 * moment.retention for moment in _split(point).moments] for point in solved])


def _split(point: FrontierPoint) -> Allocation:
    if point.allocation is None:
        raise InputError(f"frontier: the point at {point.at:g} has no split.")
    return point.allocation


def _kinds(moments: Sequence[CrossMoment], by: By | None) -> dict[str, list[int]]:
    """Positions of the moments of every kind, under its name."""
    orders = sorted({len(moment.attributes) for moment in moments})
    if by is None:
        by = "order" if len(orders) > 1 else "floor"
    kinds: dict[str, list[int]] = {}
    if by == "floor":
        kinds["moments with a floor"] = [k for k, moment in enumerate(moments) if moment.floor is not None]
        kinds["moments without"] = [k for k, moment in enumerate(moments) if moment.floor is None]
    else:
        for order in orders:
            kinds[order_in_words(order)] = [
                k for k, moment in enumerate(moments) if len(moment.attributes) == order
            ]
    found = {name: members for name, members in kinds.items() if members}
    return found if len(found) > 1 else {"all moments": list(range(len(moments)))}


def _draw_band(ax: Axes, at: np.ndarray, numbers: np.ndarray, i: int) -> tuple[Artist, ...]:
    """From the least to the most; the median as a line with dashes and marks of its own."""
    colour = COLOURS[i % len(COLOURS)]
    style: dict[str, Any] = {
        "linestyle": DASHES[i % len(DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markersize": 4,
    }
    line = ax.plot(at, np.nanmedian(numbers, axis=1), color=colour, linewidth=2, zorder=3, **style)[0]
    if numbers.shape[1] == 1:
        return (line,)
    low, high = np.nanmin(numbers, axis=1), np.nanmax(numbers, axis=1)
    ax.fill_between(at, low, high, color=colour, alpha=0.16, linewidth=0)
    edge: dict[str, Any] = {"facecolor": "none", "edgecolor": colour, "alpha": 0.4, "linewidth": 0.8}
    band = ax.fill_between(at, low, high, hatch=HATCHES[1 + i % (len(HATCHES) - 1)], **edge)
    return (band, line)


def _name_ends(ax: Axes, at: float, ends: np.ndarray, moments: Sequence[CrossMoment]) -> None:
    known = [(end, moment) for end, moment in zip(ends, moments, strict=True) if np.isfinite(end)]
    labels = distinct(moment_label(moment.attributes) for _, moment in known)
    side_labels(ax, [Labelled(at, float(end), text) for (end, _), text in zip(known, labels, strict=True)])


def _set_limits(ax: Axes, frontier: Frontier, numbers: np.ndarray) -> None:
    """The whole axis that was asked for, retentions from 0; errors and records by powers of ten."""
    at = [point.at for point in frontier.points]
    if frontier.kind == RECORDS:
        ax.set(xscale="log", yscale="log")
        plain_logarithms(ax.xaxis, "{x:,.0f}")
        plain_logarithms(ax.yaxis, "{x:g}")
    if len(at) > 1:
        ax.set_xlim(min(at), max(at))
    if frontier.kind != RECORDS:
        ax.set_ylim(0, min(1.08 * max(float(np.nanmax(numbers)), 1e-9), 100.0))


def _mark_impossible(ax: Axes, frontier: Frontier) -> None:
    """Hatch the ends of the axis at which no split keeps all constraints."""
    solved = [point.at for point in frontier.points if point.allocation is not None]
    impossible = [point.at for point in frontier.points if isinstance(point.why, InfeasibleError)]
    for below in (True, False):
        side = [at for at in impossible if (at < min(solved) if below else at > max(solved))]
        if not side:
            continue
        end = frontier.feasible_from
        if end is None:
            end = max(side) if below else min(side)
        area = (min(side), end) if below else (end, max(side))
        ax.axvspan(*area, facecolor="#F2F2F2", edgecolor="#BBBBBB", hatch="xxx", linewidth=0, zorder=0.5)
        ax.axvline(end, color=DARK, linewidth=1.0, linestyle=(0, (2, 2)))
        side_word = "from" if below else "up to"
        ax.annotate(
            f"possible {side_word} {possible_end(end, largest=not below):g}",
            xy=(end, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(4 if below else -4, 0),
            textcoords="offset points",
            rotation=90,
            ha="left" if below else "right",
            va="top",
            fontsize=SMALL,
            color=DARK,
            bbox=ON_WHITE,
        )


def _mark_support(ax: Axes, changes: Sequence[SupportChange]) -> None:
    """Triangles on the axis where an attribute enters or leaves the split, with names where they are few."""
    low, high = ax.get_xlim()
    for change in changes:
        middle = (change.after + change.before) / 2
        marker = "^" if change.gained else "v"
        ax.scatter(
            [middle],
            [0.0],
            transform=ax.get_xaxis_transform(),
            marker=marker,
            s=34,
            color=DARK,
            clip_on=False,
            zorder=5,
        )
        if len(changes) > MOST_CHANGES:
            continue
        near_end = middle > low + 0.85 * (high - low)
        ax.annotate(
            _change_in_words(change),
            xy=(middle, 0.0),
            xycoords=("data", "axes fraction"),
            xytext=(-2 if near_end else 3, 6),
            textcoords="offset points",
            ha="right" if near_end else "left",
            rotation=0 if len(changes) == 1 else 60,
            rotation_mode="anchor",
            fontsize=SMALL - 0.5,
            color=DARK,
            bbox=ON_WHITE,
        )


def _change_in_words(change: SupportChange) -> str:
    gained = [f"+ {label(name, 16)}" for name in change.gained]
    lost = [f"\N{MINUS SIGN} {label(name, 16)}" for name in change.lost]
    words = [*gained, *lost]
    return ", ".join(words[:3]) + (f", {len(words) - 3} more" if len(words) > 3 else "")


def _axis(frontier: Frontier) -> str:
    """The name of the varied number; a frontier that was ended early says so."""
    words = _AXES.get(frontier.varied)
    if words is None:
        kind, _, moment = frontier.varied.partition(" of ")
        words = f"{kind} of {moment_label(moment.split(' x '))}"
    return words if frontier.complete else f"{words}\nended early: the points so far"
