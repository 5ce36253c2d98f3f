"""The bound of one box with as many digits as mpmath works with, from the formulas of GLOBAL_SOLVER_PROOFS 6.

An independent reading, term by term and arc by arc; every maximum is taken over the lower end and the point
that an evaluation found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np

from budget_opt.certificate.boxes.bound import Evaluation, Relaxation
from budget_opt.certificate.boxes.layout import DegreeLayout
from budget_opt.model.arrays import FloatArray, IntArray

Real = Any
Sums = dict[Any, Real]


def _real(x: float) -> Real:
    return mpmath.mpf(float(x))


def _zeros() -> Sums:
    return defaultdict(lambda: mpmath.mpf(0))


@dataclass
class Exact:
    """Box `b` of a relaxation without floors; e counts from 0."""

    on: Relaxation
    found: Evaluation
    b: int
    c0: Real = field(default_factory=lambda: mpmath.mpf(0))
    const: Sums = field(default_factory=_zeros)
    d: Sums = field(default_factory=_zeros)
    d2: Sums = field(default_factory=_zeros)
    w: Sums = field(default_factory=_zeros)
    w2: Sums = field(default_factory=_zeros)
    flat: Sums = field(default_factory=_zeros)
    third: Sums = field(default_factory=_zeros)

    def __post_init__(self) -> None:
        on, b = self.on, self.b
        self.low, self.high, self.v = ([_real(x) for x in a[:, b]] for a in (on.low, on.high, on.point))
        self.r = [_real(x) for x in on.r[:, 0]]
        self.rows = [[_real(x) for x in row[:, 0]] for row in on.rows.coefficient]
        self.limits = [_real(x[0]) for x in on.rows.limit]
        for i, weight in enumerate(on.layout.single):
            self.d[i] += _real(weight)
        for degree, shares in zip(on.layout.degrees, self.found.multipliers.shares, strict=True):
            for members, own in zip(degree.members.tolist(), shares[:, :, b], strict=True):
                self._add(degree, members, [_real(x) for x in own])
        if on.cuts is not None:
            told = zip(on.cuts.member, on.cuts.limit[:, b], self.found.multipliers.capped[:, b], strict=True)
            for member, limit, price in told:
                self._add_cut(np.flatnonzero(member * limit), _real(limit), _real(price))

    def e(self, i: int, z: Real) -> Real:
        """epsilon at which attribute i keeps z."""
        return mpmath.log((1 + (self.r[i] - 1) * z) / (1 - z))

    def _product(self, values: list[Real], members: list[int]) -> Real:
        return mpmath.fprod(values[q] for q in members)

    def _tangent(self, members: list[int]) -> tuple[Real, list[tuple[int, Real, Real]]]:
        """Constant, and slope and bend of each member, of the quadratic over-estimate of a product."""
        constant, parts = self._product(self.v, members), []
        for q in members:
            others = [s for s in members if s != q]
            slope = self._product(self.v, others)
            bend = mpmath.fsum(self._product(self.high, [t for t in others if t != s]) for s in others)
            constant += bend * self.v[q] ** 2 / 2 - slope * self.v[q]
            parts.append((q, slope - bend * self.v[q], bend))
        return constant, parts

    def _add(self, degree: DegreeLayout, members: list[int], shares: list[Real]) -> None:
        """Add a term's arcs."""
        constant, parts = self._tangent(members)
        self.c0 += shares[-1] * constant
        for q, slope, bend in parts:
            self.d[q] += shares[-1] * slope
            self.d2[q] += shares[-1] * bend
        if degree.nesting is None:
            for (i, j), share in zip((members, members[::-1]), shares[:2], strict=True):
                self.w[i, j] += share
                self.d[j] += share * self.low[i]
            return
        slots = zip(degree.nesting.first, degree.nesting.second, degree.nesting.rest, strict=True)
        for (first, second, rest), share in zip(slots, shares[: degree.nested], strict=True):
            self._add_nested(members[first], members[second], [members[q] for q in rest], share)
        for i, share in zip(members, shares[degree.nested : -1], strict=degree.starred):
            self._add_star(i, [q for q in members if q != i], share)

    def _add_nested(self, i: int, j: int, rest: list[int], share: Real) -> None:
        low, high = self.low, self.high
        for turn, k in enumerate(rest):
            slope = share * self._product(high, rest[:turn]) * self._product(low, rest[turn + 1 :])
            self.third[i, j, k] += slope
            self.w[i, k] += slope * low[j]
            self.w[j, k] += slope * low[i]
            self.d[k] += slope * low[i] * low[j]
            if turn + 1 < len(rest):
                self.flat[i, j] -= slope * high[k]
                self.const[i] -= slope * high[k] * low[j]
                self.const[j] -= slope * high[k] * low[i]
                self.c0 -= slope * high[k] * low[i] * low[j]

    def _add_star(self, i: int, rest: list[int], share: Real) -> None:
        constant, parts = self._tangent(rest)
        self.const[i] += share * constant
        self.c0 += share * constant * self.low[i]
        for j, slope, bend in parts:
            self.w[i, j] += share * slope
            self.w2[i, j] += share * bend
            self.d[j] += share * slope * self.low[i]
            self.d2[j] += share * bend * self.low[i]

    def _add_cut(self, members: IntArray, limit: Real, price: Real) -> None:
        self.c0 += price * limit
        for q in members:
            self.d[q] -= price / self.high[q]

    def _price(self, multipliers: FloatArray, j: int) -> Real:
        return mpmath.fsum(_real(x) * row[j] for x, row in zip(multipliers, self.rows, strict=True))

    def _fixed(self, multipliers: FloatArray) -> Real:
        return mpmath.fsum(_real(x) * limit for x, limit in zip(multipliers, self.limits, strict=True))

    def _best(self, j: int, z: float, function: Callable[[Real], Real]) -> Real:
        return max(function(self.low[j]), function(_real(z)))

    def bound(self) -> Real:
        """c0 + sum_r mu_r beta_r + sum_i psi_i at the points of the evaluation."""
        mu = self.found.multipliers.mu[:, self.b]
        whole = range(self.on.layout.attributes)
        return self.c0 + self._fixed(mu) + mpmath.fsum(self._outer(i) for i in whole)

    def _outer(self, i: int) -> Real:
        used, b = self.found.multipliers, self.b
        ends = self.e(i, self.low[i]), self.e(i, self.high[i])
        at_low, at_high = (self._under(i, end, t) for end, t in enumerate(ends))
        fall = (at_low - at_high) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0
        nu, mu = self._price(used.nu[:, i, b], i), self._price(used.mu[:, b], i)

        def psi(z: Real) -> Real:
            e = self.e(i, z)
            own = (z - self.low[i]) * (at_low - fall * (e - ends[0]) - nu * e)
            return own + self.d[i] * z + self.d2[i] * z**2 / 2 - mu * e

        return self._best(i, self.found.outer.point[i, b], psi)

    def _under(self, i: int, end: int, t: Real) -> Real:
        """V_i(t), t the lower (0) or upper (1) end of e_i."""
        layout, copies, b, nu = self.on.layout, self.found.copies, self.b, self.found.multipliers.nu
        pair = {other: p for p, other in enumerate(layout.other.tolist()) if layout.centre[p] == i}
        total = self.const[i] + self._fixed(nu[:, i, b])
        for j in (j for j in range(layout.attributes) if j != i):
            price, p = self._price(nu[:, i, b], j), pair.get(j, -1)
            z, c, own = self.on.low[j, b], mpmath.mpf(0), mpmath.mpf(0)
            if p >= layout.nested:
                z = copies.plain.z[p - layout.nested, b]
            elif p >= 0 and copies.nested is not None:
                z = copies.nested.second.z[end, p, b]
                c, own = self._under_two(i, j, p, t)

            def psi(x: Real, j: int = j, c: Real = c, own: Real = own, price: Real = price) -> Real:
                e = self.e(j, x)
                pull = self.w[i, j] * x + self.w2[i, j] * x**2 / 2
                return (x - self.low[j]) * (c - own * e) + pull - price * e

            total += self._best(j, z, psi)
        return total

    def _under_two(self, i: int, j: int, p: int, t: Real) -> tuple[Real, Real]:
        """C_ij less what e_i = t costs, and what e_j costs."""
        layout, b, nested = self.on.layout, self.b, self.found.copies.nested
        triples, twice = layout.triples, self.found.multipliers.nested[:, p, b]
        assert nested is not None
        assert triples is not None
        point = {int(triples.last[q]): nested.third.z[q, b] for q in np.flatnonzero(triples.pair == p)}
        c = self.flat[i, j] + self._fixed(twice) - self._price(twice, i) * t
        for k in (k for k in range(layout.attributes) if k not in (i, j)):

            def pulled(z: Real, k: int = k) -> Real:
                return self.third[i, j, k] * z - self._price(twice, k) * self.e(k, z)

            c += self._best(k, point.get(k, self.on.low[k, b]), pulled)
        return c, self._price(twice, j)
