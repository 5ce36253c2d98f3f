"""Problems with clusters as SCIP reads them, from the document alone: epsilon and lambda as variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tests.solvers.cluster_problems import Reading

SECONDS = 10


def optimum(reading: Reading) -> float:
    """The optimum of any objective; SCIP overspends by about 1e-6."""
    from pyscipopt import Model, log, quicksum

    kind = reading.document.get("objective", "weighted_sum")
    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-5)
    model.setParam("limits/time", SECONDS)
    total = reading.document["total_epsilon"]
    blocks = range(len(reading.blocks))
    least = 0.0 if kind in ("weighted_sum", "min_epsilon") else 1e-3
    e = [model.addVar(lb=least, ub=total) for _ in blocks]
    z = [model.addVar(lb=least, ub=reading.kept(i, total)) for i in blocks]
    for i in blocks:
        model.addCons(e[i] >= log(1 + (reading.size(i) - 1) * z[i]) - log(1 - z[i]))
    model.addCons(quicksum(e) <= total)
    kept = [_product([z[i] for i in reading.touched(moment)]) for moment in reading.document["moments"]]
    for moment, one in zip(reading.document["moments"], kept, strict=True):
        if "floor" in moment:
            model.addCons(one >= moment["floor"])
    goal = model.addVar(lb=None, ub=None)
    if kind in ("min_epsilon", "min_variance"):
        model.addCons(goal >= (quicksum(e) if kind == "min_epsilon" else _variance(model, reading, z)))
        model.setObjective(goal, "minimize")
    else:
        for most in _ceilings_of_goal(reading, kind, kept, z):
            model.addCons(goal <= most)
        model.setObjective(goal, "maximize")
    model.optimize()
    found = float(model.getObjVal())
    return math.exp(found) if kind == "geometric_mean" else found


def _product(factors: Sequence[Any]) -> Any:
    return math.prod(factors[1:], start=factors[0])


def _variance(model: Any, reading: Reading, z: Sequence[Any]) -> Any:
    """The weighted sum of the inflations, in tau = 1 / lambda - 1."""
    tau = [model.addVar(lb=0.0, ub=1000.0) for _ in z]
    for one, kept in zip(tau, z, strict=True):
        model.addCons((one + 1) * kept == 1)
    total = 0.0
    for moment in reading.document["moments"]:
        factors = []
        for i, names in reading.touched(moment).items():
            linear, square = reading.powers_of_tau(i, names)
            factors.append(1 + linear * tau[i] + square * tau[i] * tau[i])
        total += moment.get("weight", 1.0) * moment.get("variance", 1.0) * _product(factors)
    return total


def _ceilings_of_goal(reading: Reading, kind: str, kept: Sequence[Any], z: Sequence[Any]) -> list[Any]:
    """What the goal may be at most: one for a sum or mean, one a moment for the minimum."""
    from pyscipopt import log, quicksum

    moments = reading.document["moments"]
    weights = [moment.get("weight", 1.0) for moment in moments]
    if kind == "max_min":
        return [one / moment.get("target", 1.0) for one, moment in zip(kept, moments, strict=True)]
    if kind == "geometric_mean":
        touched = [(w, reading.touched(moment)) for w, moment in zip(weights, moments, strict=True)]
        return [quicksum(w * log(z[i]) for w, own in touched for i in own) / sum(weights)]
    return [quicksum(w * one for w, one in zip(weights, kept, strict=True))]
