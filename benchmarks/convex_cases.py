"""The convex objectives at many sizes: ours beside cvxpy, in logarithms and as a geometric program.

    python benchmarks/convex_cases.py [--largest MOMENTS] [--largest-gp MOMENTS] [--json]

Cases of shared/CONVEX_SOLVER.md: total = number of attributes, 2 to 16 categories, moments of orders 2 to 4,
lognormal weights, a fixed seed. Times are CPU seconds of one process after imports, best of `REPEATS`: ours
from arrays to a certified split; cvxpy's from arrays through its own build to Clarabel's answer at default
tolerances, which has no certificate: `difference` is how far the value of its split, made to keep the caps,
lies from ours (floors may be missed). Clarabel's threads count.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from budget_opt.allocation.rounding import fitted
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import TOTAL, Arrays, Budget, FloatArray, Objective
from budget_opt.model.objectives import log_retentions, value
from budget_opt.solvers import convex_method, disciplined
from budget_opt.solvers.reduction import reduce

SIZES = ((10, 45), (40, 780), (200, 5_000), (1_000, 10_000), (1_000, 100_000))
REPEATS = 3
SEED = 20261129
TIGHT = 0.999
"""Of the largest common floor that the total admits."""


@dataclass(frozen=True)
class Row:
    """One case and what it took; None where a form was not run or gave nothing."""

    kind: str
    attributes: int
    moments: int
    ours: float
    gap: float
    cvxpy: float | None
    cvxpy_difference: float | None
    gp: float | None
    gp_difference: float | None


def plain(objective: Objective, attributes: int, moments: int, total: float | None = None) -> Arrays:
    """A problem without floors; the total is one nat an attribute unless stated."""
    rng = np.random.default_rng([SEED, attributes, moments])
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < moments:
        order = int(rng.integers(2, 5))
        chosen.add(tuple(sorted(rng.choice(attributes, order, replace=False).tolist())))
    listed = sorted(chosen)
    columns = [i for members in listed for i in members]
    starts = np.cumsum([0, *(len(members) for members in listed)])
    cap = float(attributes) if total is None else total
    incidence = csr_array((np.ones(len(columns)), columns, starts), shape=(moments, attributes))
    return Arrays(
        objective=objective,
        cardinality=rng.integers(2, 17, attributes).astype(np.float64),
        lower=np.zeros(attributes),
        upper=np.full(attributes, cap),
        stated_upper=np.full(attributes, np.inf),
        incidence=incidence,
        weight=rng.lognormal(0.0, 1.0, moments),
        log_floor=np.full(moments, -np.inf),
        log_ceiling=np.zeros(moments),
        target=np.ones(moments),
        variance=np.ones(moments),
        detail=np.ones(moments),
        spread_block=np.arange(attributes),
        spread_a=np.ones(attributes),
        spread_b=np.ones(attributes),
        spread_incidence=incidence,
        budgets=(Budget(TOTAL, np.arange(attributes), exact(cap)),),
    )


def least_total(attributes: int, moments: int) -> Arrays:
    """`min_epsilon` with a floor on every moment, 0.3 to 1 of what the even split keeps; no total."""
    arrays = plain("min_epsilon", attributes, moments)
    share = np.random.default_rng([SEED, attributes, moments, 1]).uniform(0.3, 1.0, moments)
    floors = log_retentions(arrays, np.ones(attributes)) + np.log(share)
    return replace(arrays, log_floor=floors, budgets=(), upper=arrays.stated_upper)


def tight_floors(attributes: int, moments: int) -> Arrays:
    """`geometric_mean` with a floor on every moment, at 0.999 of the largest common one."""
    arrays = plain("geometric_mean", attributes, moments)
    even = replace(arrays, objective="max_min", weight=np.ones(moments))
    highest = convex_method.solve_quietly(even)[1].value
    return replace(arrays, log_floor=np.full(moments, np.log(TIGHT * highest)))


KINDS: dict[str, Callable[[int, int], Arrays]] = {
    "max_min": lambda m, k: plain("max_min", m, k),
    "min_variance": lambda m, k: plain("min_variance", m, k),
    "min_epsilon, all floors": least_total,
    "geometric_mean": lambda m, k: plain("geometric_mean", m, k),
    "geometric_mean, all floors at .999": tight_floors,
}


def as_problem(arrays: Arrays) -> dict[str, Any]:
    """The document of a problem file with these numbers, for what takes the whole way."""
    names = [f"a{m}" for m in range(arrays.blocks)]
    moments = []
    for k in range(arrays.moments):
        moment: dict[str, Any] = {
            "attributes": [names[m] for m in arrays.members(k)],
            "weight": float(arrays.weight[k]),
        }
        if np.isfinite(arrays.log_floor[k]):
            moment["floor"] = float(np.exp(arrays.log_floor[k]))
        moments.append(moment)
    total = {"total_epsilon": float(arrays.budgets[0].cap)} if arrays.budgets else {}
    return {
        "format": "budget-opt/problem",
        "version": 1,
        "objective": arrays.objective,
        "attributes": [
            {"name": name, "categories": int(r)} for name, r in zip(names, arrays.cardinality, strict=True)
        ],
        "moments": moments,
        **total,
    }


def logarithmic(arrays: Arrays) -> FloatArray | None:
    """The split (M,) of cvxpy's logarithmic form, the readable reference of `solvers.disciplined`."""
    reduction = reduce(arrays)
    found = disciplined.answer(reduction.program)
    return None if found is None else reduction.expand(found.epsilon)


def geometric(arrays: Arrays) -> FloatArray | None:
    """The split (M,) of the geometric program of DESIGN 2.4, with u = exp(epsilon), built by cvxpy."""
    r, m = arrays.cardinality, arrays.blocks
    kept, u = cp.Variable(m, pos=True), cp.Variable(m, pos=True)
    limits = [kept + cp.multiply(r - 1.0, kept / u) + 1.0 / u <= 1.0]
    limits += [cp.geo_mean(u) <= float(np.exp(float(budget.cap) / m)) for budget in arrays.budgets]
    moments = [cp.prod(kept[arrays.members(k)]) for k in range(arrays.moments)]
    limits += [moments[k] >= float(np.exp(arrays.log_floor[k])) for k in arrays.floors]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            goal, more = _goal(arrays, moments, u)
            cp.Problem(goal, limits + more).solve(gp=True, solver=cp.CLARABEL)
    except (cp.error.SolverError, ValueError, ArithmeticError):
        return None
    return None if u.value is None else np.log(np.maximum(u.value, 1.0))


def _goal(arrays: Arrays, moments: list[Any], u: Any) -> tuple[Any, list[Any]]:
    if arrays.objective == "max_min":
        level = cp.Variable(pos=True)
        used = zip(moments, arrays.target, strict=True)
        return cp.Maximize(level), [moment >= level * target for moment, target in used]
    if arrays.objective == "min_epsilon":
        return cp.Minimize(cp.geo_mean(u)), []
    if arrays.objective == "min_variance":
        terms = zip(arrays.weight, moments, strict=True)
        return cp.Minimize(cp.sum([weight * moment**-2.0 for weight, moment in terms])), []
    shares = zip(arrays.weight / np.sum(arrays.weight), moments, strict=True)
    return cp.Maximize(cp.prod(cp.hstack([moment**share for share, moment in shares]))), []


def measured(arrays: Arrays, form: Callable[[Arrays], FloatArray | None]) -> tuple[float, FloatArray | None]:
    """CPU seconds of one run, and the split it gave."""
    start = time.process_time()
    split = form(arrays)
    return time.process_time() - start, split


def run(kind: str, attributes: int, moments: int, *, with_cvxpy: bool = True, with_gp: bool = True) -> Row:
    """One case through all forms."""
    arrays = KINDS[kind](attributes, moments)
    seconds = []
    for _ in range(REPEATS):
        fresh = replace(arrays)  # nothing is remembered from the run before
        start = time.process_time()
        _, certificate = convex_method.solve_quietly(fresh)
        seconds.append(time.process_time() - start)
    found = [
        measured(arrays, form) if wanted else (None, None)
        for form, wanted in ((logarithmic, with_cvxpy), (geometric, with_gp))
    ]
    parts = [(took, _difference(arrays, split, certificate.value)) for took, split in found]
    return Row(kind, attributes, moments, min(seconds), certificate.relative_gap, *parts[0], *parts[1])


def _difference(arrays: Arrays, split: FloatArray | None, best: float) -> float | None:
    return None if split is None else abs(value(arrays, fitted(arrays, split)) - best) / abs(best)


def rows(largest: int = 100_000, largest_gp: int = 780) -> Iterator[Row]:
    """All cases up to so many moments, in order of size; the geometric program only up to its own limit."""
    for attributes, moments in SIZES:
        if moments <= largest:
            for kind in KINDS:
                yield run(kind, attributes, moments, with_gp=moments <= largest_gp)


def main() -> None:
    """Prints one line a case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=100_000, metavar="MOMENTS")
    parser.add_argument("--largest-gp", type=int, default=780, metavar="MOMENTS")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if not asked.json:
        columns = " ".join(f"{name:>8}" for name in ("ours", "gap", "cvxpy", "off by", "gp", "off by"))
        print(f"{'case':36} {'size':>12} {columns}")
    for row in rows(asked.largest, asked.largest_gp):
        print(json.dumps(asdict(row)) if asked.json else _line(row), flush=True)


def _line(row: Row) -> str:
    times = [row.cvxpy, row.cvxpy_difference, row.gp, row.gp_difference]
    shown = ["-" if number is None else f"{number:.3g}" for number in times]
    size = f"{row.attributes} x {row.moments}"
    return f"{row.kind:36} {size:>12} {row.ours:8.4f} {row.gap:8.1e} " + " ".join(f"{s:>8}" for s in shown)


if __name__ == "__main__":
    main()
