"""The rows of the benchmarks as lines of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """How a part is shown: its title, the heads of its columns, and the cells of a row."""

    title: str
    heads: tuple[str, ...]
    cells: Callable[[Row], list[str]]


def table(layout: Layout, rows: Iterable[Row]) -> list[str]:
    """The lines of a Markdown table."""
    return [*heads(layout), *(line(layout.cells(row)) for row in rows)]


def heads(layout: Layout) -> list[str]:
    """Its first two lines; all columns but the first are numbers."""
    return [line(layout.heads), "|---|" + "--:|" * (len(layout.heads) - 1)]


def line(cells: Sequence[str]) -> str:
    """One line of it."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def joined(lines: Sequence[str]) -> str:
    """A file of these lines."""
    return "\n".join(lines).rstrip("\n") + "\n"


def _search(row: Row) -> list[str]:
    """An instance; - where the time limit came before the gap."""
    shown = [row["name"], str(row["attributes"]), str(row["moments"])]
    for run in (row["ours"], row["scip"]):
        if "error" in run:
            shown += [run["error"], *["-"] * 5]
            continue
        shown += ["-" if at is None else _seconds(at["wall"]) for at in run["times"]]
        shown += [_seconds(run["total"]["cpu"]), str(run["nodes"]), _share(run["gap"])]
    return [*shown, _search_ratio(row["ours"], row["scip"])]


def _search_ratio(ours: Row, scip: Row) -> str:
    """Of the times to the last gap; a bound where one of them did not get there."""
    if "error" in ours or "error" in scip:
        return "-"
    (our_time, we_end), (their_time, they_end) = (
        ((run["times"][-1] or run["total"])["wall"], run["times"][-1] is not None) for run in (ours, scip)
    )
    if not we_end and not they_end:
        return "-"
    sign = "" if we_end and they_end else "> " if we_end else "< "
    return f"{sign}{their_time / our_time:.3g}"


def _convex(row: Row) -> list[str]:
    ours = row["ours"]
    shown = [row["kind"], f"{row['attributes']:,} x {row['moments']:,}"]
    if "error" in ours:
        shown += [ours["error"], "-", "-"]
    else:
        shown += [_seconds(ours["times"]["wall"]), _seconds(ours["times"]["cpu"]), _share(ours["gap"])]
    for run in (row["logarithmic"], row["gp"]):
        if "error" in run:
            shown += [run["error"], "-", "-", "-"]
            continue
        shown += [_seconds(run["times"]["wall"]), _seconds(run["times"]["cpu"])]
        shown += ["-", "-"] if "error" in ours else _beside(run, ours)
    return shown


def _beside(theirs: Row, ours: Row) -> list[str]:
    apart = abs(theirs["value"] - ours["value"]) / abs(ours["value"])
    return [_share(apart), f"{theirs['times']['wall'] / ours['times']['wall']:.3g}"]


def _growth(row: Row) -> list[str]:
    took = row["error"] if row["seconds"] is None else _seconds(row["seconds"])
    proved = "yes" if row["proved"] else "no"
    return [row["series"], str(row["attributes"]), str(row["moments"]), str(row["draw"]), took, proved]


def _seconds(number: float) -> str:
    return f"{number:.3g}" if number < 100 else f"{number:.0f}"


def _share(number: float | None) -> str:
    return "-" if number is None else f"{number:.1e}"


LAYOUTS = {
    "global": Layout(
        "Weighted sums: the global search beside SCIP",
        (
            "instance", "M", "K",
            "ours to 1e-2, s", "to 1e-4", "to 1e-6", "CPU", "nodes", "gap left",
            "SCIP to 1e-2, s", "to 1e-4", "to 1e-6", "CPU", "nodes", "gap left",
            "SCIP / ours",
        ),
        _search,
    ),
    "convex": Layout(
        "Convex objectives: ours beside cvxpy with Clarabel",
        (
            "case", "M x K", "ours, s", "CPU", "certified gap",
            "cvxpy log, s", "CPU", "off by", "/ ours",
            "cvxpy gp, s", "CPU", "off by", "/ ours",
        ),
        _convex,
    ),
    "growth": Layout(
        "Growth of our time", ("problem", "M", "K", "draw", "CPU", "proved"), _growth
    ),
}  # fmt: skip
"""The parts of `solve.py`, in order."""
