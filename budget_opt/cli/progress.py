"""Live lines on standard error while work goes on; silent where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from budget_opt.api.frontiers.making import FrontierProgress
    from budget_opt.solvers.answer import Report


@contextmanager
def solve_progress() -> Iterator[Callable[[Report], None] | None]:
    """A status line with value, bound and gap, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status("solving") as status:
        yield lambda report: status.update(_line(report))


def _line(report: Report) -> str:
    value = "-" if report.value is None else f"{report.value:.6g}"
    bound = "-" if report.bound is None else f"{report.bound:.6g}"
    nodes = "" if report.nodes is None else f"{report.nodes:,} nodes, "
    return f"value {value}, bound {bound}, gap {report.relative_gap:.1e}, {nodes}{report.seconds:.1f} s"


@contextmanager
def points_progress() -> Iterator[Callable[[FrontierProgress], None] | None]:
    """A bar with the points that are done and the last value, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("solving", total=None)
        yield lambda report: bar.update(
            task, completed=report.done, total=report.points, description=_point(report)
        )


def _point(report: FrontierProgress) -> str:
    return f"at {report.at:g}: value {'-' if report.value is None else f'{report.value:.6g}'}"


@contextmanager
def rows_progress() -> Iterator[Callable[[int, float], None] | None]:
    """A bar with the share of the input that was read and the rows so far, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("randomizing", total=1.0)
        yield lambda rows, share: bar.update(task, completed=share, description=f"{rows:,} rows")
