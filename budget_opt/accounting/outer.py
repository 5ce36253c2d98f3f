"""How large the sum of epsilons of a split can be that keeps (epsilon, delta): a bound for every split.

Letters: e_m the epsilons (nats), S their sum, lambda_m(e_m) the retentions, L the loss of a record, a random
variable of mean KL = sum lambda_m e_m (`loss`) and of at most S; E = total_epsilon, d = total_delta.

**A necessary condition.** Where delta(E) = E[(1 - exp(E - L))+] <= d, and for every t > 0, as L >= E + t
makes the bracket at least 1 - exp(-t),

    P(L >= E + t) <= c = d / (1 - exp(-t)),

and with (L - E - t)+ <= (S - E - t)+ 1{L >= E + t}

    KL = E[L] <= E + t + E[(L - E - t)+] <= E + t + c (S - E - t)+.

**Few attributes.** All reports are the truth with probability at least p = prod 1 / r_m whatever the
epsilons, and the loss is S then (with r_m the effective cardinality, in the dominating pair of `loss`). So
(1 - exp(E - S)) p <= d, and S <= E - log(1 - d / p) where d < p.

**The largest sum.** In general a split has S <= E + t, or sum h_m(e_m) <= B with h_m = (lambda_m - c) e_m and
B = (E + t)(1 - c). For any t with c < 1 and any multiplier mu >= 0 weak duality gives

    S <= max(E + t, mu B + sum over m of max over e of e - mu h_m(e)).

The maxima run over the bounds, groups and pins of one attribute at a time. t and mu only make the bound
better; they are searched for on tables, and the bound itself is evaluated once, rounded outward: e lambda(e)
grows with e, and so does lambda(e), so on [a, b] the bracket (k - mu lambda(e)) e, k = 1 + mu c, is at most k
b - mu lambda(a) a, and at most (k - mu lambda(a)) e at the better end.

This is about the epsilons of the ideal matrices; a sampler's loss falls short of its epsilon by 1e-6 at most
up to about 80 nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from budget_opt.accounting.intervals import hull
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.privacy_loss import excess
from budget_opt.model.arrays import FloatArray
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON

_NODES = 300
_ROUNDS = 6
_LEAST = 1e-9
_STEPS = 40
_ROUNDING = 1e-11
"""Relative, far above the roundings of a few products and of a sum over the attributes."""


def as_sum(problem: Problem, total: float) -> Problem:
    """The same question with a total (nats) that is a sum, in place of one with a delta."""
    return problem.with_fields(total_delta=0.0, total_epsilon=total)


def largest_sum(problem: Problem) -> float:
    """A sum of epsilons (nats) that no split of a problem with total_epsilon and total_delta exceeds.

    Never above 10000 nats, beyond which no problem states a sum.
    """
    arrays = as_sum(problem, LARGEST_EPSILON).arrays
    total = problem.total_epsilon
    assert total is not None
    rows = np.column_stack([arrays.cardinality, arrays.lower, arrays.upper])
    kinds, repeated = np.unique(rows, axis=0, return_counts=True)
    count = repeated.astype(np.float64)
    alone = _all_true(problem, total, arrays.cardinality)
    t, mu = _best(_Table.of(kinds, count), total, problem.total_delta)
    terms = _Terms.of(total, problem.total_delta, t)
    dual = mu * terms.bound + float(count @ _largest_gains(kinds, terms.share, mu))
    bound = max(total + t, dual) * (1.0 + _ROUNDING)
    return float(min(bound, alone, LARGEST_EPSILON))


def _all_true(problem: Problem, total: float, cardinality: FloatArray) -> float:
    """The bound from the report that is true everywhere; inf where it says nothing."""
    share = float(exact(problem.total_delta)) * math.prod(cardinality.tolist())
    if share >= 1:
        return math.inf
    return (total - math.log1p(-share * (1.0 + _ROUNDING))) * (1.0 + _ROUNDING)


@dataclass(frozen=True)
class _Terms:
    """B and c at one t."""

    bound: float
    share: float

    @classmethod
    def of(cls, total: float, delta: float, t: float) -> _Terms:
        share = delta / float(excess(t))
        return cls((total + t) * (1.0 - share) * (1.0 + _ROUNDING), share)

    def largest_multiplier(self) -> float:
        """Past it every maximum is at the lower end."""
        return 1e6 / (1.0 - self.share)


@dataclass(frozen=True)
class _Table:
    """e and lambda(e) e of every kind of attribute (a row), from its lower to its upper bound."""

    epsilon: FloatArray
    kept: FloatArray
    count: FloatArray

    @classmethod
    def of(cls, kinds: FloatArray, count: FloatArray) -> _Table:
        cardinality, lower, upper = (column[:, np.newaxis] for column in kinds.T)
        epsilon = _nodes(lower, upper)
        return cls(epsilon, rr.retention(epsilon, cardinality) * epsilon, count)

    def near(self, terms: _Terms, mu: float) -> float:
        """The dual value, from the nodes alone."""
        gain = (1.0 + mu * terms.share) * self.epsilon - mu * self.kept
        return float(mu * terms.bound + self.count @ np.max(gain, axis=1))


def _nodes(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Points of each row from its lower to its upper bound, both included, in equal ratios."""
    low = np.maximum(lower, _LEAST)
    inside = low * (np.maximum(upper, low) / low) ** np.linspace(0.0, 1.0, _NODES)
    return np.hstack([lower, np.clip(inside, lower, upper), upper])


def _largest_gains(kinds: FloatArray, share: float, mu: float) -> FloatArray:
    """The largest (1 + mu c) e - mu lambda(e) e of every row, bounded above."""
    cardinality, low, high = (column[:, np.newaxis] for column in kinds.T)
    best = np.full(low.shape, -np.inf)
    bound = best[:, 0]
    for _ in range(_ROUNDS):
        epsilon = _nodes(low, high)
        factor = 1.0 + mu * share - mu * rr.retention(epsilon, cardinality) * (1.0 - _ROUNDING)
        best = np.maximum(best, np.max(factor * epsilon, axis=1, keepdims=True))
        start, end, left = epsilon[:, :-1], epsilon[:, 1:], factor[:, :-1]
        gains = np.minimum(
            (1.0 + mu * share) * (end - start) + left * start, left * np.where(left > 0, end, start)
        )
        bound = np.maximum(best[:, 0], np.max(gains, axis=1))
        low, high = hull(epsilon, gains > best)
    return np.asarray(bound)


def _best(table: _Table, total: float, delta: float) -> tuple[float, float]:
    """t and mu for which the bound is about least."""
    least = -math.log1p(-delta) * 1.001 + 1e-15
    found = (math.inf, 0.0, 0.0)
    for t in np.geomspace(least, max(4.0 * least, 4.0 * total + 4.0), _STEPS).tolist():
        terms = _Terms.of(total, delta, t)
        mu = _multiplier(table, terms)
        found = min(found, (max(total + t, table.near(terms, mu)), t, mu))
    return found[1], found[2]


def _multiplier(table: _Table, terms: _Terms) -> float:
    """The mu at which the dual value, convex in mu, is about least: a golden section on its logarithm."""
    low, high = math.log(1e-3), math.log(terms.largest_multiplier())
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    values = [table.near(terms, math.exp(point)) for point in inner]
    for _ in range(_STEPS):
        if values[0] < values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - ratio * (high - low)
            values[0] = table.near(terms, math.exp(inner[0]))
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + ratio * (high - low)
            values[1] = table.near(terms, math.exp(inner[1]))
    return math.exp((low + high) / 2.0)
