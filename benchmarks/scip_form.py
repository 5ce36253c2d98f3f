"""A weighted sum as SCIP solves it best, of the forms that were tried.

    maximise t   over   t <= sum_k w_k prod_{m in S_k} lambda_m,   sum e <= E, groups, bounds,
    e_m >= log(1 + (r_m - 1) lambda_m) - log(1 - lambda_m),        sum_{m in S_k} log lambda_m >= log floor_k

The second line is lambda = (exp(e) - 1)/(exp(e) + r - 1) solved for e. On dense10_2.0 (SCIP 10) it closes the
gap in 3 CPU seconds, where that fraction as an equation, as 1 - r/(exp(e) + r - 1), multiplied out, and with
a variable for exp(e), all leave more than 60 % after 10. Moments with variables of their own, z_k <= product,
instead of one sum, are as fast there, and far slower with equal weights (sym8). lambda may lie below its
curve, which cannot help a sum of products with weights >= 0 without ceilings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.apart import Times, timed
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays
from budget_opt.model.objectives import relative_gap


@dataclass(frozen=True)
class ScipRun:
    """`times` until each gap asked for, None where the time limit came first; then where SCIP stood."""

    times: tuple[Times | None, ...]
    total: Times
    nodes: int
    value: float | None
    gap: float | None


def model_of(arrays: Arrays) -> Any:
    """The model, of pyscipopt; raises ValueError for what this form does not cover."""
    from pyscipopt import Model, log, quicksum

    if arrays.objective != "weighted_sum" or arrays.ceilings.size or not np.all(np.isfinite(arrays.upper)):
        raise ValueError("SCIP is given weighted sums under a total, without ceilings")
    model = Model()
    model.hideOutput()
    epsilon, kept = [], []
    for r, low, high in zip(arrays.cardinality, arrays.lower, arrays.upper, strict=True):
        epsilon.append(model.addVar(lb=low, ub=high))
        kept.append(model.addVar(lb=float(rr.retention(low, r)), ub=float(rr.retention(high, r))))
        model.addCons(epsilon[-1] >= log(1.0 + (r - 1.0) * kept[-1]) - log(1.0 - kept[-1]))
    for budget in arrays.budgets:
        model.addCons(quicksum(epsilon[m] for m in budget.members) <= float(budget.cap))
    moments = [[kept[m] for m in arrays.members(k)] for k in range(arrays.moments)]
    for k in arrays.floors:
        model.addCons(quicksum(log(one) for one in moments[k]) >= float(arrays.log_floor[k]))
    level = model.addVar(lb=0.0, ub=None)
    products = [math.prod(moment[1:], start=moment[0]) for moment in moments]
    model.addCons(level <= quicksum(w * product for w, product in zip(arrays.weight, products, strict=True)))
    model.setObjective(level, "maximize")
    return model


def run(arrays: Arrays, gaps: tuple[float, ...], limit: float) -> ScipRun:
    """SCIP at its default tolerances, on one thread, to each relative gap in turn, at most `limit` seconds.

    It stops at a gap and goes on from there. Building the model is not counted.
    """
    model = model_of(arrays)
    reached: list[Times | None] = []
    total = Times(0.0, 0.0)
    for gap in gaps:
        model.setParam("limits/gap", gap)
        model.setParam("limits/time", limit)
        took, _ = timed(model.optimize)
        total = Times(total.wall + took.wall, total.cpu + took.cpu)
        closed = model.getStatus() in ("optimal", "gaplimit")
        reached.append(total if closed else None)
        if not closed:
            break
    reached += [None] * (len(gaps) - len(reached))
    solved = model.getNSols() > 0
    value, bound = (float(model.getPrimalbound()), float(model.getDualbound())) if solved else (None, None)
    gap_left = None if value is None or bound is None else relative_gap(value, max(bound, value))
    finite = gap_left if gap_left is not None and math.isfinite(gap_left) else None
    return ScipRun(tuple(reached), total, int(model.getNTotalNodes()), value, finite)
