"""How long a step of the explorer takes: slider moved, split found, figure and table drawn.

    python -m benchmarks.explorer > benchmarks/results/explorer.txt

20 attributes, all 190 pairs, categories and weights drawn with a seed. A line an objective and a slider:
median and largest milliseconds of the processor over 12 places, and the value of the last quick split as a
ratio to the best that `solve` finds in ten seconds (1 is as good; of a minimum, 1 and above).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import median

import numpy as np

import budget_opt as bo
from budget_opt.explorer.explorer import Explorer
from budget_opt.model.arrays import Objective

SEED = 20261130
ATTRIBUTES = 20
PLACES = 12
SECONDS = 10.0
OBJECTIVES: tuple[Objective, ...] = ("geometric_mean", "max_min", "min_variance", "weighted_sum")


def problem_of(objective: Objective) -> bo.Problem:
    """All pairs at one nat an attribute."""
    draw = np.random.default_rng(SEED)
    names = [f"question {i}" for i in range(ATTRIBUTES)]
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=int(draw.integers(2, 9))) for name in names],
        moments=[
            bo.CrossMoment(*pair, weight=round(float(draw.uniform(0.5, 4.0)), 2))
            for pair in combinations(names, 2)
        ],
        total_epsilon=float(ATTRIBUTES),
        objective=objective,
    )


def sliders(explorer: Explorer) -> Iterator[tuple[str, Callable[[float], None]]]:
    """What moves each slider to a place in 0 to 1."""
    row = explorer.row(*explorer.problem.moments[0].attributes)

    def to(slider: object, low: float, high: float) -> Callable[[float], None]:
        return lambda place: setattr(slider, "value", low + place * (high - low))

    yield "total", to(explorer.total, 15.0, 30.0)
    yield "weight", to(row.weight, 0.5, 8.0)
    yield "floor", to(row.floor, 0.05, 0.6)
    explorer.total.value = 5.0
    yield "impossible floor", to(row.floor, 0.97, 0.98)


def milliseconds(move: Callable[[float], None]) -> list[float]:
    """Of the processor, a number a place; the first, which lays out the figure anew, is left out."""
    taken = []
    for place in np.linspace(0.0, 1.0, PLACES + 1):
        start = time.process_time()
        move(float(place))
        taken.append(1000 * (time.process_time() - start))
    return taken[1:]


def ratio(explorer: Explorer) -> str:
    """The quick split's value over that of a solve."""
    if explorer.why is not None:
        return "-"
    best = bo.solve(explorer.problem, time_limit=SECONDS).objective.value
    found = explorer.allocation.objective.value
    return f"{found / best:.6f}" if found and best else "-"


def main() -> None:
    """Print the table."""
    print(f"{'objective':<16}{'slider':<18}{'median ms':>10}{'largest ms':>12}{'value / best':>14}")
    for objective in OBJECTIVES:
        explorer = bo.explore(problem_of(objective))
        for name, move in sliders(explorer):
            taken = milliseconds(move)
            numbers = f"{median(taken):>10.0f}{max(taken):>12.0f}{ratio(explorer):>14}"
            print(f"{objective:<16}{name:<18}{numbers}", flush=True)


if __name__ == "__main__":
    main()
