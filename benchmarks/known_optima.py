"""Recomputes the optima that problems/catalogue.json states, without any code of budget_opt.

    python benchmarks/known_optima.py [NAME ...]

- convex objectives: scipy's SLSQP from several random starts, in e with constraints in log lambda;
- weighted_sum: SCIP, whose dual bound closes the gap, its point finished by SLSQP;
- closed forms beside these, where there is one: everything pinned; geometric_mean where only the
  total binds; max_min where all moments are pairs with one common attribute.

Exits 1 where two of them, or one and the catalogue, differ. lambda = d / (d + r), d = exp(e) - 1
(Ruiz 2026, eq. 4), is written here once more on purpose: a judge shares nothing with what it judges.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, NonlinearConstraint, brentq, minimize, minimize_scalar

PROBLEMS = Path(__file__).resolve().parents[1] / "problems"
STARTS = 8
AGREEMENT = 1e-6
"""Largest relative difference between two independent computations of one optimum."""
WITHOUT_BOUND = 40.0
"""The largest epsilon that is looked at where the problem sets no limit."""
LEAST = 1e-6
"""The least epsilon that is looked at: log lambda is -inf at 0."""

FloatArray = npt.NDArray[np.float64]
Function = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Question:
    """A problem as numbers: M attributes, K moments as `members` (K, M), budgets `spenders` @ e <= `caps`."""

    objective: str
    r: FloatArray
    low: FloatArray
    high: FloatArray
    members: FloatArray
    weight: FloatArray
    floor: FloatArray
    target: FloatArray
    variance: FloatArray
    spenders: FloatArray
    caps: FloatArray

    def log_kept(self, e: FloatArray) -> FloatArray:
        """log R_k, shape (K,)."""
        d = np.expm1(e)
        kept: FloatArray = self.members @ (np.log(d) - np.log(d + self.r))
        return kept

    def log_kept_slope(self, e: FloatArray) -> FloatArray:
        """d log R_k / d e_m, shape (K, M)."""
        d = np.expm1(e)
        slope: FloatArray = self.members * (self.r * (d + 1) / (d * (d + self.r)))
        return slope

    def value(self, e: FloatArray) -> float:
        """The objective at e, on the scale on which it is reported (DESIGN 2.4)."""
        kept = np.exp(self.log_kept(e))
        if self.objective == "weighted_sum":
            return float(self.weight @ kept)
        if self.objective == "geometric_mean":
            return math.exp(self.weight @ self.log_kept(e) / self.weight.sum())
        if self.objective == "max_min":
            return float(np.min((kept / self.target)[self.weight > 0]))
        if self.objective == "min_epsilon":
            return float(e.sum())
        return float((self.weight * self.variance) @ kept**-2.0)

    def goal(self, x: FloatArray) -> tuple[float, FloatArray]:
        """What SLSQP minimizes, with its gradient; x is e, for max_min with log t behind it."""
        if self.objective == "max_min":
            return -x[-1], -np.eye(x.size)[-1]
        if self.objective == "min_epsilon":
            return float(x.sum()), np.ones(x.size)
        log_kept, slope = self.log_kept(x), self.log_kept_slope(x)
        if self.objective == "geometric_mean":
            share = self.weight / self.weight.sum()
            return -float(share @ log_kept), -share @ slope
        sign, power = (-1.0, 1.0) if self.objective == "weighted_sum" else (1.0, -2.0)
        terms = self.weight * self.variance * np.exp(power * log_kept)
        return sign * math.log(terms.sum()), sign * power * (terms / terms.sum()) @ slope


def read(path: Path) -> Question:
    """The numbers of a problem file of the library, where nothing has a ceiling or a marginal."""
    problem: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    attributes, moments, groups = problem["attributes"], problem["moments"], problem.get("groups", [])
    place = {attribute["name"]: m for m, attribute in enumerate(attributes)}
    totals = [problem["total_epsilon"]] if "total_epsilon" in problem else []
    most = totals[0] if totals else WITHOUT_BOUND

    def rows(lists: list[list[str]]) -> FloatArray:
        matrix = np.zeros((len(lists), len(attributes)))
        for row, names in zip(matrix, lists, strict=True):
            row[[place[name] for name in names]] = 1.0
        return matrix

    def each(field: str, default: float) -> FloatArray:
        return np.array([float(moment.get(field, default)) for moment in moments])

    return Question(
        objective=problem.get("objective", "weighted_sum"),
        r=np.array([_cardinality(attribute) for attribute in attributes]),
        low=np.array([a.get("epsilon", a.get("epsilon_min", 0.0)) for a in attributes]),
        high=np.array([a.get("epsilon", a.get("epsilon_max", most)) for a in attributes]),
        members=rows([moment["attributes"] for moment in moments]),
        weight=each("weight", 1.0),
        floor=each("floor", 0.0),
        target=each("target", 1.0),
        variance=each("variance", 1.0),
        spenders=rows([list(place)] * len(totals) + [group["attributes"] for group in groups]),
        caps=np.array([*totals, *(group["epsilon_max"] for group in groups)]),
    )


def _cardinality(attribute: dict[str, Any]) -> float:
    if "bins" in attribute:
        return float(len(attribute["bins"]) - 1)
    categories = attribute["categories"]
    return float(categories if isinstance(categories, int) else len(categories))


def slsqp(question: Question, start: FloatArray) -> tuple[float, FloatArray] | None:
    """(value, e) of the local optimum from `start`, None where no feasible one is found."""
    size, leveled = question.r.size, int(question.objective == "max_min")
    least = np.maximum(question.low, LEAST)
    limits = limits_of(question)
    x0: FloatArray = np.append(np.clip(start, least, question.high), [-5.0] * leveled)
    settings: dict[str, Any] = {
        "method": "SLSQP",
        "bounds": Bounds(np.append(least, [-np.inf] * leveled), np.append(question.high, [0.0] * leveled)),
        "constraints": [NonlinearConstraint(fun, 0.0, np.inf, jac=jac) for fun, jac in limits],
        "options": {"ftol": 1e-15, "maxiter": 3000},
    }
    found = minimize(question.goal, x0, jac=True, **settings)
    feasible = all(np.all(fun(found.x) >= -1e-9) for fun, _ in limits)
    return (question.value(found.x[:size]), found.x[:size]) if feasible else None


def limits_of(question: Question) -> list[tuple[Function, Function]]:
    """Budgets, floors and, for max_min, log R_k >= log t + log target: functions >= 0 and their slopes."""
    size, leveled = question.r.size, int(question.objective == "max_min")
    floors, used = question.floor > 0, question.weight > 0

    def left(x: FloatArray) -> FloatArray:
        unspent: FloatArray = question.caps - question.spenders @ x[:size]
        return unspent

    def above_floor(x: FloatArray) -> FloatArray:
        return question.log_kept(x[:size])[floors] - np.log(question.floor[floors])

    def above_level(x: FloatArray) -> FloatArray:
        over: FloatArray = question.log_kept(x[:size])[used] - np.log(question.target[used]) - x[-1]
        return over

    def padded(slope: FloatArray, last: float) -> FloatArray:
        return np.hstack([slope, np.full((len(slope), leveled), last)])

    limits: list[tuple[Function, Function]] = []
    if question.caps.size:
        limits.append((left, lambda _: padded(-question.spenders, 0.0)))
    if floors.any():
        limits.append((above_floor, lambda x: padded(question.log_kept_slope(x[:size])[floors], 0.0)))
    if leveled:
        limits.append((above_level, lambda x: padded(question.log_kept_slope(x[:size])[used], -1.0)))
    return limits


def multi_start(question: Question) -> float:
    """The best value that SLSQP finds from random splits of the budget."""
    random = np.random.default_rng(20261129)
    size = question.r.size
    budget = question.caps[0] if question.caps.size else 3.0 * size
    found = [slsqp(question, budget * random.dirichlet(np.full(size, 3.0))) for _ in range(STARTS)]
    values = [answer[0] for answer in found if answer is not None]
    return min(values) if question.objective.startswith("min_") else max(values)


def scip(question: Question) -> tuple[float, float]:
    """(value, bound) of a weighted sum: products of lambda, floors as sums of logarithms."""
    from pyscipopt import Model, exp, log, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-7)
    model.setParam("limits/time", 120)
    model.setParam("numerics/feastol", 1e-8)
    e, kept = [], []
    for r, low, high in zip(question.r, question.low, question.high, strict=True):
        e.append(model.addVar(lb=max(low, LEAST), ub=high))
        kept.append(model.addVar(lb=0.0, ub=math.expm1(high) / (math.expm1(high) + r)))
        model.addCons(kept[-1] <= 1.0 - r / (exp(e[-1]) + (r - 1.0)))
    for row, cap in zip(question.spenders, question.caps, strict=True):
        model.addCons(quicksum(e[m] for m in np.flatnonzero(row)) <= cap)
    terms = []
    for row, weight, floor in zip(question.members, question.weight, question.floor, strict=True):
        members = [kept[m] for m in np.flatnonzero(row)]
        terms.append(model.addVar(lb=0.0, ub=1.0, obj=weight))
        model.addCons(terms[-1] <= math.prod(members[1:], start=members[0]))
        if floor > 0:
            model.addCons(quicksum(log(member) for member in members) >= math.log(floor))
    model.setMaximize()
    model.optimize()
    # SCIP's own point misses its constraints by as much as it is allowed to; SLSQP ends on them
    finished = slsqp(question, (1.0 - 1e-6) * np.array([model.getVal(variable) for variable in e]))
    if finished is None:
        raise RuntimeError("SLSQP does not confirm the point of SCIP")
    return finished[0], model.getDualbound()


def pinned(question: Question) -> float | None:
    """The value where every epsilon is given."""
    return question.value(question.low) if np.array_equal(question.low, question.high) else None


def separable(question: Question) -> float | None:
    """geometric_mean where only the total binds: c_m l_m'(e_m) is one price mu, a quadratic in exp(e) - 1."""
    if question.objective != "geometric_mean" or question.caps.size > 1:
        return None
    c = question.weight @ question.members / question.weight.sum()

    def spent_at(mu: float) -> FloatArray:
        b = (mu - c) * question.r
        e: FloatArray = np.log1p((-b + np.sqrt(b * b + 4.0 * mu * c * question.r)) / (2.0 * mu))
        return e

    e = spent_at(brentq(lambda mu: spent_at(mu).sum() - question.caps[0], 1e-9, 1e9, xtol=1e-15, rtol=1e-14))
    inside = np.all((question.low <= e) & (e <= question.high))
    return question.value(e) if inside and np.all(np.exp(question.log_kept(e)) >= question.floor) else None


def hub(question: Question) -> float | None:
    """max_min over pairs with one common attribute: the hub's lambda fixes the others, t is a root."""
    common = np.flatnonzero(question.members.all(axis=0))
    pairs = bool(np.all(question.members.sum(axis=1) == 2))
    if question.objective != "max_min" or common.size != 1 or not pairs or question.caps.size != 1:
        return None
    other = (question.members.sum(axis=0) == 1) & ~question.members.all(axis=0)
    target = question.target @ question.members[:, other]

    def price(kept: FloatArray, r: FloatArray) -> FloatArray:
        e: FloatArray = np.log1p(r * kept / (1.0 - kept))
        return e

    def least_total(t: float) -> float:
        lowest = t * target.max()

        def total(centre: float) -> float:
            needed = np.minimum(t * target / centre, 1.0 - 1e-15)
            return float(
                price(np.array([centre]), question.r[common])[0] + price(needed, question.r[other]).sum()
            )

        found = minimize_scalar(total, bounds=(lowest, 1.0), method="bounded", options={"xatol": 1e-13})
        return float(found.fun)

    return float(
        brentq(lambda t: least_total(t) - question.caps[0], 1e-6, 1.0 / target.max() - 1e-6, xtol=1e-15)
    )


def computed(question: Question) -> Iterator[tuple[str, float]]:
    """(how, value) of every independent computation that applies."""
    for name, method in (("pinned", pinned), ("one price", separable), ("hub", hub)):
        value = method(question)
        if value is not None:
            yield name, value
    if np.array_equal(question.low, question.high):
        return
    if question.objective == "weighted_sum":
        value, bound = scip(question)
        yield "SCIP and SLSQP", value
        yield "SCIP's bound", bound
    else:
        yield f"SLSQP, {STARTS} starts", multi_start(question)


def main(names: list[str]) -> int:
    """Prints every computation beside the catalogue; the number of disagreements."""
    catalogue = json.loads((PROBLEMS / "catalogue.json").read_text(encoding="utf-8"))["problems"]
    wrong = 0
    for name in names or sorted(catalogue):
        stated = (catalogue[name]["optimum"] or {}).get("value", math.nan)
        for how, value in computed(read(PROBLEMS / f"{name}.json")):
            agrees = math.isclose(value, stated, rel_tol=AGREEMENT)
            wrong += not agrees
            print(f"{name:28} {how:18} {value:.15g}  catalogue {stated:.15g}{'' if agrees else '  DIFFERS'}")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
