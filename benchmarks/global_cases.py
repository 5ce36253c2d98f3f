"""The global search beside SCIP: the problems of shared/instances/global, and all pairs of 50 attributes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import scip_form
from benchmarks.apart import FailedError, LimitError, Times, Worker, stopwatch
from budget_opt import Problem, solve
from budget_opt.solvers.answer import Report

INSTANCES = Path(__file__).resolve().parents[2] / "shared" / "instances" / "global"
GAPS = (1e-2, 1e-4, 1e-6)
LIMIT = 60.0
_SPARE = 60.0
"""Seconds above the limit after which a process is ended."""
LARGE = "dense50_0.7"
SEED = 20261129


@dataclass(frozen=True)
class SearchRun:
    """`times` until each gap was proved, None where it was not; then the whole call and where it ended.

    `root_gap` is what was proved at the first report with a bound.
    """

    times: tuple[Times | None, ...]
    total: Times
    nodes: int
    value: float
    gap: float
    root_gap: float | None


def all_pairs(attributes: int, per_attribute: float, seed: int = SEED) -> dict[str, Any]:
    """The document of a problem with all pairs, 2 to 16 categories and lognormal weights."""
    rng = np.random.default_rng([seed, attributes])
    names = [f"a{m}" for m in range(1, attributes + 1)]
    pairs = list(combinations(names, 2))
    return {
        "format": "budget-opt/problem",
        "version": 1,
        "objective": "weighted_sum",
        "total_epsilon": per_attribute * attributes,
        "attributes": [{"name": name, "categories": int(rng.integers(2, 17))} for name in names],
        "moments": [{"attributes": list(pair), "weight": float(rng.lognormal())} for pair in pairs],
    }


def document(name: str) -> dict[str, Any]:
    """The problem of that name."""
    if name == LARGE:
        return all_pairs(50, 0.7)
    read: dict[str, Any] = json.loads((INSTANCES / f"{name}.json").read_text("utf-8"))["problem"]
    return read


def known_optimum(name: str) -> float | None:
    """The stated optimum, None where there is none."""
    if name == LARGE:
        return None
    return float(json.loads((INSTANCES / f"{name}.json").read_text("utf-8"))["expect"]["value"])


def names() -> list[str]:
    """The shared problems, none where they are absent, and the large one behind them."""
    return [*sorted(path.stem for path in INSTANCES.glob("*.json")), LARGE]


def ours(problem: dict[str, Any], limit: float) -> SearchRun:
    """`budget_opt.solve` as users call it: from the problem to the allocation with its gap and prices."""
    fresh = Problem.from_dict(problem)
    seen: list[tuple[Times, Report]] = []
    now = stopwatch()
    allocation = solve(fresh, GAPS[-1], limit, lambda report: seen.append((now(), report)))
    total = now()
    gap, reached = allocation.objective.relative_gap, allocation.objective.value
    assert gap is not None
    assert reached is not None
    seen.append((total, Report(None, None, gap, total.wall)))
    times = tuple(next((at for at, report in seen if report.relative_gap <= asked), None) for asked in GAPS)
    searched = [report for _, report in seen if report.nodes is not None]
    return SearchRun(
        times=times,
        total=total,
        nodes=max((report.nodes or 0 for report in searched), default=0),
        value=reached,
        gap=gap,
        root_gap=searched[0].relative_gap if searched else None,
    )


def scip(problem: dict[str, Any], limit: float) -> scip_form.ScipRun:
    """SCIP on the same problem."""
    return scip_form.run(Problem.from_dict(problem).arrays, GAPS, limit)


def warm_up() -> None:
    """A small problem through both."""
    small = all_pairs(4, 0.7)
    ours(small, LIMIT)
    scip(small, LIMIT)


def rows(wanted: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """A row an instance: what both took, or what went wrong."""
    worker = Worker(warm_up)
    try:
        for name in wanted:
            problem = document(name)
            yield {
                "name": name,
                "attributes": len(problem["attributes"]),
                "moments": len(problem["moments"]),
                "known_optimum": known_optimum(name),
                "ours": _run(worker, ours, problem, limit),
                "scip": _run(worker, scip, problem, limit),
            }
    finally:
        worker.end()


def _run(worker: Worker, form: Callable[..., Any], problem: dict[str, Any], limit: float) -> dict[str, Any]:
    try:
        return asdict(worker(form, problem, limit, limit=limit + _SPARE))
    except (LimitError, FailedError) as error:
        return {"error": str(error)}
