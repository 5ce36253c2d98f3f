"""The smooth program behind every method, over the attributes that are free, in a coordinate v of lambda.

    maximize    gain . l(v) - cost . (e(v) - lower) - log sum_i exp(term_i + (spread_rows phi(v))_i) + t
                - square |e(v)|^2
    subject to  rows l(v) - row_level t >= row_bound
                cap (e(v) - lower) <= cap_limit
                lower <= e(v) <= upper

l = log lambda is concave and e convex in v, and the spread phi = log(1 + (a + b) tau + b tau^2) is convex in
logit lambda: a convex program (shared/CONVEX_SOLVER.md). There may be several phi of one v (J of n): one for
each set of a cluster's members that moments use. The level t is there only where `has_level`; a
program has at most one of gain, cost, spread, level, square in its objective, or the sum of `weighted_sum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from budget_opt.model.arrays import BoolArray, FloatArray
from budget_opt.solvers.coordinate import LOGIT, Coordinate
from budget_opt.solvers.incidence import Incidence
from budget_opt.solvers.spread_columns import Columns


@dataclass(frozen=True)
class Spread:
    """The log-sum-exp of `min_variance`: terms (T,) of log weights, rows (T, J), a and b (J,)."""

    terms: FloatArray
    rows: csr_array
    a: FloatArray
    b: FloatArray
    columns: Columns

    @cached_property
    def incidence(self) -> Incidence:
        """The rows, ready for sums."""
        return Incidence(self.rows)

    @cached_property
    def plain(self) -> BoolArray:
        """Columns with a = b = 1 (J,): phi is -2 log lambda itself."""
        plain: BoolArray = (self.a == 1.0) & (self.b == 1.0)
        return plain

    def phi(self, v: FloatArray, coordinate: Coordinate) -> tuple[FloatArray, FloatArray, FloatArray]:
        """phi, phi', phi'' at v (n,), each (J,).

        The curvature is cut at 0: with a, b other than 1 phi need not be convex in log lambda.
        """
        v = v[self.columns.block]
        first, second = coordinate.log_retention_slopes(v)
        plain = -2.0 * coordinate.log_retention(v), -2.0 * first, -2.0 * second
        if np.all(self.plain):
            return plain
        stated = self._of_powers(*coordinate.log_tau(v))
        value, slope, bend = (np.where(self.plain, *pair) for pair in zip(plain, stated, strict=True))
        return value, slope, bend

    def _of_powers(
        self, tau: FloatArray, slope: FloatArray, bend: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """phi and its derivatives from log tau and its own: powers 0, 1, 2 of tau mixed by their shares."""
        with np.errstate(divide="ignore"):
            logs = np.stack([np.zeros_like(tau), np.log(self.a + self.b) + tau, np.log(self.b) + 2.0 * tau])
        top = np.max(logs, axis=0)
        parts = np.exp(logs - top)
        total = np.sum(parts, axis=0)
        shares = parts / total
        mean = shares[1] + 2.0 * shares[2]
        spread = shares[1] + 4.0 * shares[2] - mean**2
        return top + np.log(total), mean * slope, np.maximum(spread * slope**2 + mean * bend, 0.0)


@dataclass(frozen=True)
class Total:
    """The logarithm of `weighted_sum`: terms (T,) of log weights, rows (T, n); convex in log lambda.

    Its linearization at the point reached, `gain`, is what a step maximizes (GLOBAL_SOLVER 1).
    """

    terms: FloatArray
    rows: csr_array

    @cached_property
    def incidence(self) -> Incidence:
        """The rows, ready for sums."""
        return Incidence(self.rows)

    def shares(self, log_retention: FloatArray) -> FloatArray:
        """The shares of the terms in the sum at log lambda (n,), shape (T,)."""
        logs = self.terms + self.incidence.sums(log_retention)
        parts = np.exp(logs - np.max(logs))
        shares: FloatArray = parts / np.sum(parts)
        return shares


@dataclass(frozen=True)
class Program:
    """See the module; n attributes, R rows, C caps. `upper` may be inf, `lower` 0; lower < upper."""

    cardinality: FloatArray
    lower: FloatArray
    upper: FloatArray
    rows: csr_array
    row_bound: FloatArray
    row_level: FloatArray
    cap: FloatArray
    cap_limit: FloatArray
    gain: FloatArray
    cost: FloatArray
    spread: Spread | None
    has_level: bool
    total: Total | None = None
    coordinate: Coordinate = LOGIT
    square: float = 0.0

    @property
    def size(self) -> int:
        """n."""
        return int(self.cardinality.size)

    def unit(self, objective: float) -> float:
        """What a gap is measured by: the spent epsilon where that is minimized, 1 for logarithms."""
        return max(abs(objective), 1e-300) if np.any(self.cost) else 1.0

    def point(self, epsilon: FloatArray) -> FloatArray:
        """v at epsilon (n,)."""
        return self.coordinate.of(epsilon, self.cardinality)

    def epsilon(self, v: FloatArray) -> FloatArray:
        """e at v, clipped to the bounds that rounding may miss."""
        clipped: FloatArray = np.clip(self.coordinate.epsilon(v, self.cardinality), self.lower, self.upper)
        return clipped

    @cached_property
    def incidence(self) -> Incidence:
        """The rows, ready for sums."""
        return Incidence(self.rows)

    def row_slack(self, v: FloatArray, level: float) -> FloatArray:
        """rows l - row_level t - row_bound, shape (R,)."""
        kept = self.incidence.sums(self.coordinate.log_retention(v))
        slack: FloatArray = kept - self.row_level * level - self.row_bound
        return slack

    def cap_slack(self, v: FloatArray) -> FloatArray:
        """cap_limit - cap (e - lower), shape (C,)."""
        spent = self.cap @ (self.coordinate.epsilon(v, self.cardinality) - self.lower)
        slack: FloatArray = self.cap_limit - spent
        return slack
