"""The iterate of the interior-point method, and what the program says there.

All constraints stand in one list: rows, caps, finite lower bounds of v, finite upper bounds of v. `slack` and
`dual` are in this order. The method minimizes the negative of the program's objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.program import Program


@dataclass(frozen=True)
class Iterate:
    """v (n,), level t, slack > 0 and dual > 0 of every constraint."""

    v: FloatArray
    level: float
    slack: FloatArray
    dual: FloatArray

    @property
    def complementarity(self) -> float:
        """slack . dual, the duality gap once the residuals vanish."""
        return float(self.slack @ self.dual)

    def moved(self, step: Iterate, length: float) -> Iterate:
        """This iterate plus `length` times `step`."""
        return Iterate(
            self.v + length * step.v,
            self.level + length * step.level,
            self.slack + length * step.slack,
            self.dual + length * step.dual,
        )

    def longest(self, step: Iterate) -> float:
        """The length <= 1 at which the first slack or multiplier reaches 0."""
        return min(_reach(self.slack, step.slack), _reach(self.dual, step.dual))


def _reach(room: FloatArray, change: FloatArray) -> float:
    falling = np.flatnonzero(change < -room)  # the others reach 0 beyond the full step, if ever
    return float(np.min(room[falling] / -change[falling], initial=1.0))


@dataclass(frozen=True)
class Constraints:
    """A program with its bounds turned into constraints on v."""

    program: Program

    @cached_property
    def at_lower(self) -> IntArray:
        """Attributes whose lower bound is not 0: v has a finite lower bound."""
        return np.flatnonzero(self.program.lower > 0)

    @cached_property
    def at_upper(self) -> IntArray:
        """Attributes with a finite upper bound."""
        return np.flatnonzero(np.isfinite(self.program.upper))

    @cached_property
    def lowest(self) -> FloatArray:
        """v at the lower bounds, of `at_lower`."""
        i = self.at_lower
        return self.program.coordinate.of(self.program.lower[i], self.program.cardinality[i])

    @cached_property
    def highest(self) -> FloatArray:
        """v at the upper bounds, of `at_upper`."""
        i = self.at_upper
        return self.program.coordinate.of(self.program.upper[i], self.program.cardinality[i])

    @cached_property
    def cuts(self) -> IntArray:
        """Where rows, caps and lower bounds end in the list."""
        p = self.program
        return np.cumsum([p.row_bound.size, p.cap_limit.size, self.at_lower.size])

    @cached_property
    def _stops(self) -> tuple[int, int, int]:
        first, second, third = (int(cut) for cut in self.cuts)
        return first, second, third

    def values(self, v: FloatArray, level: float) -> FloatArray:
        """All constraint functions; feasible where >= 0."""
        return np.concatenate(
            [
                self.program.row_slack(v, level),
                self.program.cap_slack(v),
                v[self.at_lower] - self.lowest,
                self.highest - v[self.at_upper],
            ]
        )

    def split(self, values: FloatArray) -> list[FloatArray]:
        """A list over constraints as its four parts."""
        first, second, third = self._stops
        return [values[:first], values[first:second], values[second:third], values[third:]]

    def gather(
        self, duals: FloatArray, l1: FloatArray, e1: FloatArray, pulled: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """The constraints' Jacobian, transposed, times `duals`: its v part and its level part.

        `pulled` are the pulls (n,) of the rows' duals, where they are known.
        """
        p = self.program
        y, mu, low, high = self.split(duals)
        pulled = p.incidence.pulls(y) if pulled is None else pulled
        total = pulled * l1 - (p.cap.T @ mu) * e1
        total[self.at_lower] += low
        total[self.at_upper] -= high
        return total, float(-p.row_level @ y)

    def along(self, dv: FloatArray, level: float, l1: FloatArray, e1: FloatArray) -> FloatArray:
        """The constraints' Jacobian times a direction."""
        p = self.program
        return np.concatenate(
            [
                p.incidence.sums(l1 * dv) - p.row_level * level,
                -(p.cap @ (e1 * dv)),
                dv[self.at_lower],
                -dv[self.at_upper],
            ]
        )

    def start(self, v: FloatArray, complementarity: float | None = None) -> Iterate:
        """A start at v: slacks at least a floor, duals so that every product is the same.

        Without `complementarity` the duals of the rows sum to one.
        """
        p = self.program
        weight = np.zeros(self.lowest.size + self.highest.size + self.cuts[1])
        weight[: self.cuts[0]] = p.row_level
        level = 0.0
        if p.has_level:
            room = self.values(v, 0.0)[weight > 0] / weight[weight > 0]
            level = float(np.min(room, initial=0.0)) - 0.1
        least = np.repeat([0.1, 0.05, 1e-12], np.diff([0, self.cuts[0], self.cuts[1], weight.size]))
        if complementarity is not None:
            least = np.minimum(least, complementarity)
        slack = np.maximum(self.values(v, level), least)
        if complementarity is None:
            rows = slack[: self.cuts[0]]
            complementarity = 1.0 / np.sum(1.0 / rows) if rows.size else 0.1
            dual = complementarity / slack
            dual[self.cuts[0] : self.cuts[1]] = 1.0
        else:
            dual = complementarity / slack
        if p.has_level:
            # the multipliers of what the level moves sum to one at every optimum
            moving = weight > 0
            dual[moving] /= weight[moving] @ dual[moving]
        return Iterate(v, level, slack, dual)


@dataclass(frozen=True)
class Trial:
    """An iterate with the constraint functions and what is minimized there."""

    at: Iterate
    values: FloatArray
    objective: float

    @classmethod
    def of(cls, constraints: Constraints, at: Iterate) -> Trial:
        """Evaluate both."""
        return cls(at, constraints.values(at.v, at.level), objective(constraints.program, at))


@dataclass(frozen=True)
class Local:
    """First and second derivatives at an iterate, and the residuals of the optimality conditions.

    `curvature` (n,) is the diagonal of the Lagrangian's convex Hessian without coupling parts; `shares` (T,)
    are the shares of the terms of the spread or of the weighted sum; `phi1` (J,) the slopes of the spread.
    """

    l1: FloatArray
    e1: FloatArray
    curvature: FloatArray
    shares: FloatArray
    phi1: FloatArray
    objective: float
    gradient: FloatArray
    primal_residual: FloatArray
    dual_residual: FloatArray
    level_residual: float

    @property
    def primal(self) -> float:
        """Largest violation of slack = constraint."""
        return float(np.max(np.abs(self.primal_residual), initial=0.0))

    @property
    def dual(self) -> float:
        """Largest violation of stationarity."""
        return max(float(np.max(np.abs(self.dual_residual), initial=0.0)), abs(self.level_residual))


def local(constraints: Constraints, trial: Trial) -> Local:
    """Everything that a Newton step needs at an iterate."""
    p, at = constraints.program, trial.at
    y, mu, _, _ = constraints.split(at.dual)
    l1, l2 = p.coordinate.log_retention_slopes(at.v)
    e1, e2 = p.coordinate.epsilon_slopes(at.v, p.cardinality)
    shares, gain = np.zeros(0), p.gain
    if p.total is not None:
        shares = p.total.shares(p.coordinate.log_retention(at.v))
        gain = p.total.incidence.pulls(shares)
    gradient = -gain * l1 + p.cost * e1
    pulled = p.incidence.pulls(y)
    curvature = -(pulled + gain) * l2 + (p.cap.T @ mu + p.cost) * e2
    if p.square:
        e = p.coordinate.epsilon(at.v, p.cardinality)
        gradient = gradient + 2.0 * p.square * e * e1
        curvature = curvature + 2.0 * p.square * (e1**2 + e * e2)
    phi1 = np.zeros(0)
    if p.spread is not None:
        phi, phi1, phi2 = p.spread.phi(at.v, p.coordinate)
        shares = softmax(p.spread.terms + p.spread.incidence.sums(phi))
        pull = p.spread.incidence.pulls(shares)
        gradient = gradient + p.spread.columns.gathered(pull * phi1)
        curvature = curvature + p.spread.columns.gathered(pull * phi2)
    gathered, level = constraints.gather(at.dual, l1, e1, pulled)
    return Local(
        l1,
        e1,
        curvature,
        shares,
        phi1,
        trial.objective,
        gradient,
        at.slack - trial.values,
        gradient - gathered,
        -level - 1.0 if p.has_level else 0.0,
    )


def objective(program: Program, at: Iterate) -> float:
    """What is minimized: the negative of the program's objective."""
    value = float(-program.gain @ program.coordinate.log_retention(at.v))
    value -= at.level if program.has_level else 0.0
    value += float(np.sum(program.cost * program.coordinate.epsilon(at.v, program.cardinality)))
    if program.square:
        value += program.square * float(np.sum(program.coordinate.epsilon(at.v, program.cardinality) ** 2))
    if program.spread is not None:
        terms = program.spread.terms + program.spread.incidence.sums(
            program.spread.phi(at.v, program.coordinate)[0]
        )
        top = float(np.max(terms))
        value += top + float(np.log(np.sum(np.exp(terms - top))))
    return value


def softmax(logs: FloatArray) -> FloatArray:
    """exp(logs) over its sum."""
    parts = np.exp(logs - np.max(logs))
    shares: FloatArray = parts / np.sum(parts)
    return shares
