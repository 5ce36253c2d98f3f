"""How fast a what-if is: a frontier of 20 totals beside 20 single solves, in one run, and a slider's step.

    python benchmarks/whatif.py

20 attributes with all their 190 pairs, totals 1, 2, … 20. Instances: `random 0` to `random 2` have 2 to 8
categories and weights from 0.1 to 3 (numpy's default generator with the seed in the name), `alike` has
weights 1 and 2, 3, … 6 categories in turn. A weighted sum is proved to a relative gap of 1e-3, the convex
objectives to the 1e-6 that is asked for (they end far below). `goal` is what a frontier may take in seconds;
it is compared with the seconds of the CPU. The goals are stated for `random 0`; the others show how much an
instance matters.

A slider's step is `quick_split` from the split before, along totals 5, 5.2, … 8.8; `missed` is how far the
worst of its values stays behind the best one known (a frontier's), relatively. `difference` is the
largest between the values of the frontier and of the single solves, relatively.
"""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import budget_opt as bo
from benchmarks.apart import timed, use_one_thread
from benchmarks.results_files import FOLDER, versions
from budget_opt.api.quick import quick_split
from budget_opt.model.arrays import Objective

SIZE = 20
TOTALS = [float(total) for total in range(1, 21)]
STEPS = [round(5 + 0.2 * k, 1) for k in range(20)]
CONVEX: tuple[Objective, ...] = ("geometric_mean", "max_min", "min_variance")
GAP, CONVEX_GAP = 1e-3, 1e-6
GOAL, CONVEX_GOAL, STEP_GOAL = 10.0, 2.0, 0.2
"""Seconds of a frontier, and of a step of the explorer, of which the split is a part."""


def instance(name: str, objective: Objective) -> bo.Problem:
    """The problem of this name, without a total that matters."""
    names = [f"x{i}" for i in range(SIZE)]
    pairs = list(itertools.combinations(names, 2))
    kind, _, seed = name.partition(" ")
    if kind == "alike":
        cardinality, weight = [2 + i % 5 for i in range(SIZE)], [1.0] * len(pairs)
    else:
        rng = np.random.default_rng(int(seed))
        cardinality = [int(rng.integers(2, 9)) for _ in names]
        weight = [float(rng.uniform(0.1, 3)) for _ in pairs]
    return bo.Problem(
        name=name,
        attributes=[bo.Attribute(one, categories=r) for one, r in zip(names, cardinality, strict=True)],
        moments=[bo.CrossMoment(*pair, weight=w) for pair, w in zip(pairs, weight, strict=True)],
        total_epsilon=5.0,
        objective=objective,
    )


def frontier_row(name: str, objective: Objective) -> dict[str, Any]:
    """A frontier beside single solves of the same totals."""
    problem = instance(name, objective)
    gap = GAP if objective == "weighted_sum" else CONVEX_GAP
    goal = GOAL if objective == "weighted_sum" else CONVEX_GOAL
    cold, alone = timed(lambda: [bo.solve(problem.with_total(total), gap=gap) for total in TOTALS])
    warm, frontier = timed(lambda: bo.frontier(problem, TOTALS, gap=gap))
    found = [point.allocation for point in frontier.points if point.allocation is not None]
    values = [(a.objective.value or 0.0, b.objective.value or 0.0) for a, b in zip(found, alone, strict=True)]
    return {
        "instance": name,
        "objective": objective,
        "gap": gap,
        "cold": vars(cold),
        "warm": vars(warm),
        "ratio": cold.cpu / warm.cpu,
        "goal": goal,
        "within": warm.cpu <= goal,
        "largest_gap": max(one.objective.relative_gap or 0.0 for one in found),
        "largest_difference": max(abs(a - b) / abs(b) for a, b in values),
    }


def step_row(name: str, objective: Objective) -> dict[str, Any]:
    """The steps of a slider for the total."""
    problem = instance(name, objective)
    best = {
        point.at: point.allocation.objective.value
        for point in bo.frontier(problem, STEPS, gap=GAP).points
        if point.allocation is not None
    }
    split = quick_split(problem.with_total(STEPS[0] - 0.2))
    cpu, wall, missed = [], [], []
    for total in STEPS:
        asked, before = problem.with_total(total), split
        times, split = timed(partial(quick_split, asked, before))
        cpu.append(times.cpu)
        wall.append(times.wall)
        value, known = split.objective.value or 0.0, best[total] or 0.0
        worse = value - known if objective == "min_variance" else known - value
        missed.append(max(worse / abs(known), 0.0))
    return {
        "instance": name,
        "objective": objective,
        "median": {"wall": statistics.median(wall), "cpu": statistics.median(cpu)},
        "worst": {"wall": max(wall), "cpu": max(cpu)},
        "goal": STEP_GOAL,
        "within": max(cpu) <= STEP_GOAL,
        "missed": max(missed),
    }


def as_text(frontiers: Sequence[dict[str, Any]], steps: Sequence[dict[str, Any]]) -> str:
    """Both tables for reading."""
    lines = [
        "# Results of `benchmarks/whatif.py`",
        "",
        "What is compared, and how: its docstring. Seconds of the CPU (of the wall).",
        "",
        "## 20 totals, 20 attributes, 190 pairs",
        "",
        "| instance | objective | gap | 20 solves | frontier | ratio | goal | largest gap | difference |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in frontiers:
        goal = f"{row['goal']:g} s{'' if row['within'] else ', missed'}"
        lines.append(
            f"| {row['instance']} | {row['objective']} | {row['gap']:g} | {_seconds(row['cold'])} | "
            f"{_seconds(row['warm'])} | {row['ratio']:.1f} | {goal} | {row['largest_gap']:.1e} | "
            f"{row['largest_difference']:.1e} |"
        )
    lines += [
        "",
        "## A slider's step",
        "",
        "| instance | objective | median | worst | goal | missed |",
        "|---|---|---|---|---|---|",
    ]
    for row in steps:
        goal = f"{row['goal']:g} s{'' if row['within'] else ', missed'}"
        lines.append(
            f"| {row['instance']} | {row['objective']} | {_seconds(row['median'])} | "
            f"{_seconds(row['worst'])} | {goal} | {row['missed']:.1e} |"
        )
    stated = ", ".join(f"{name} {value}" for name, value in versions().items() if value is not None)
    return "\n".join([*lines, "", f"{datetime.now(UTC).date().isoformat()}; {stated}.", ""])


def _seconds(times: dict[str, float]) -> str:
    return f"{times['cpu']:.3g} ({times['wall']:.3g})"


def main(folder: Path = FOLDER) -> None:
    """Measure everything and write both files."""
    use_one_thread()
    bo.frontier(instance("random 9", "weighted_sum"), [1.0, 1.1], gap=0.5)  # imports are not measured
    frontiers, steps = [], []
    for name in ("random 0", "random 1", "random 2", "alike"):
        frontiers.append(frontier_row(name, "weighted_sum"))
        print(json.dumps(frontiers[-1]), flush=True)
    for objective in CONVEX:
        frontiers.append(frontier_row("random 0", objective))
        print(json.dumps(frontiers[-1]), flush=True)
    for name, objective in [
        *((name, "weighted_sum") for name in ("random 0", "random 1", "random 2", "alike")),
        *(("random 0", objective) for objective in CONVEX),
    ]:
        steps.append(step_row(name, objective))
        print(json.dumps(steps[-1]), flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    document = {"versions": versions(), "frontiers": frontiers, "steps": steps}
    (folder / "whatif.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    (folder / "whatif.md").write_text(as_text(frontiers, steps), encoding="utf-8")


if __name__ == "__main__":
    main()
