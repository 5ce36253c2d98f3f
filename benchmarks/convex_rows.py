"""The cases of `convex_cases` with limits: ours, cvxpy in logarithms, cvxpy with gp=True."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from benchmarks.apart import FailedError, LimitError, Times, Worker, timed
from benchmarks.convex_cases import KINDS, SIZES, geometric, logarithmic
from budget_opt.allocation.rounding import fitted
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import value
from budget_opt.solvers.table import solve

LIMIT = 120.0
"""Seconds for our solve, and for cvxpy in logarithms with Clarabel, building included."""
GP_LIMIT = 30.0
"""Seconds for gp=True; what does not end at one size is not tried at larger ones."""
_TO_BUILD_THE_CASE = 120.0
_REPEATS = 3
"""Of short runs; the fastest counts."""
_SHORT = 5.0


@dataclass(frozen=True)
class ConvexRun:
    """What a form took from arrays to its split, and that split's value once the caps are kept exactly.

    `gap` is certified, and None for cvxpy, which proves none.
    """

    times: Times
    value: float
    gap: float | None


@lru_cache(maxsize=1)
def case(kind: str, attributes: int, moments: int) -> Arrays:
    """The arrays of a case; the last one is kept, since the largest take seconds to draw."""
    return KINDS[kind](attributes, moments)


def _prepare(kind: str, attributes: int, moments: int) -> None:
    case(kind, attributes, moments)


def ours(kind: str, attributes: int, moments: int) -> ConvexRun:
    """The default solver, with its certificate."""
    arrays = case(kind, attributes, moments)
    # a copy each time: nothing is remembered from the run before
    times, found = fastest(lambda: solve(replace(arrays)))
    return ConvexRun(times, found.certificate.value, found.certificate.relative_gap)


def cvxpy_logarithmic(kind: str, attributes: int, moments: int) -> ConvexRun:
    """The logarithmic form, built by cvxpy, with Clarabel at default tolerances."""
    return _cvxpy(logarithmic, case(kind, attributes, moments))


def cvxpy_geometric(kind: str, attributes: int, moments: int) -> ConvexRun:
    """The geometric program, built by cvxpy, with Clarabel at default tolerances."""
    return _cvxpy(geometric, case(kind, attributes, moments))


def _cvxpy(form: Callable[[Arrays], FloatArray | None], arrays: Arrays) -> ConvexRun:
    times, split = fastest(lambda: form(replace(arrays)))
    if split is None:
        raise ArithmeticError("no split")
    return ConvexRun(times, value(arrays, fitted(arrays, split)), None)


def fastest(run: Callable[[], Any]) -> tuple[Times, Any]:
    """The answer of a call, and the least that it took of three, of one where that is long."""
    best, answer = timed(run)
    repeats = _REPEATS - 1 if best.wall < _SHORT else 0
    for _ in range(repeats):
        times, answer = timed(run)
        best = Times(min(best.wall, times.wall), min(best.cpu, times.cpu))
    return best, answer


def warm_up() -> None:
    """The smallest case of every kind through all forms."""
    for kind in KINDS:
        arrays = KINDS[kind](4, 6)
        solve(arrays)
        logarithmic(arrays)
        geometric(arrays)


def rows(limit: float = LIMIT, gp_limit: float = GP_LIMIT, largest: int = 10**9) -> Iterator[dict[str, Any]]:
    """A row a case of at most `largest` moments, in order of size."""
    worker = Worker(warm_up)
    hopeless: set[str] = set()
    try:
        for attributes, moments in SIZES:
            for kind in KINDS if moments <= largest else ():
                asked = (kind, attributes, moments)
                row: dict[str, Any] = {"kind": kind, "attributes": attributes, "moments": moments}
                row["ours"] = _run(worker, ours, asked, limit)
                row["logarithmic"] = _run(worker, cvxpy_logarithmic, asked, limit)
                if kind in hopeless:
                    row["gp"] = {"error": f"not tried: gave nothing at a smaller size within {gp_limit:g} s"}
                else:
                    row["gp"] = _run(worker, cvxpy_geometric, asked, gp_limit)
                if "error" in row["gp"]:
                    hopeless.add(kind)
                yield row
    finally:
        worker.end()


def _run(worker: Worker, form: Callable[..., Any], asked: tuple[object, ...], limit: float) -> dict[str, Any]:
    try:
        worker(_prepare, *asked, limit=_TO_BUILD_THE_CASE)
        return asdict(worker(form, *asked, limit=limit))
    except (LimitError, FailedError) as error:
        return {"error": str(error)}
