"""From shares to the coefficients of every copy: sums that are linear in the shares.

A nested arc (i, j, rest) with X = constant + sum_k slope_k z_k, a facet of the rest, says, with l = lambda,

    prod <= (l_i - L_i)(l_j - L_j) X + (l_i - L_i) L_j X + L_i (l_j - L_j) X + L_i L_j X
    W3_ijk = sum of shares slope_k;   W_ik += L_j W3_ijk;   W_jk += L_i W3_ijk;   D_k += L_i L_j W3_ijk

and likewise the constants (GLOBAL_SOLVER_PROOFS 6). A star with centre i says the same with one factor less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.arcs import Arcs, Stars
from budget_opt.certificate.boxes.layout import DegreeLayout, Layout
from budget_opt.certificate.boxes.relaxation import Relaxation
from budget_opt.model.arrays import FloatArray


@dataclass(frozen=True)
class Sums:
    """c0 (B,); const, D, D2 (M, B); W (P, B), W2 (N, B); `flat`, the constants of C_ij (N, B); W3 (Q, B).

    Only the first N pairs, which share a term of degree >= 3, have W2.
    """

    c0: FloatArray
    const: FloatArray
    d: FloatArray
    d2: FloatArray
    w: FloatArray
    w2: FloatArray
    flat: FloatArray
    third: FloatArray

    @classmethod
    def of(cls, on: Relaxation, shares: tuple[FloatArray, ...]) -> Sums:
        """All sums at these shares."""
        layout, count = on.layout, on.count
        many = 0 if layout.triples is None else layout.triples.last.size
        d = np.repeat(layout.single[:, None], count, axis=1)
        sums = cls(
            np.zeros(count),
            np.zeros_like(d),
            d,
            np.zeros_like(d),
            np.zeros((layout.pairs, count)),
            np.zeros((layout.nested, count)),
            np.zeros((layout.nested, count)),
            np.zeros((many, count)),
        )
        for degree, arcs, share in zip(layout.degrees, on.arcs, shares, strict=True):
            sums._add(degree, arcs, share)
        sums._unfold(layout, on.low)
        return sums

    def _add(self, degree: DegreeLayout, arcs: Arcs, shares: FloatArray) -> None:
        """Add the terms of one degree."""
        count = shares.shape[-1]
        whole = shares[:, -1]
        slope, bend = whole[:, None] * arcs.linear, whole[:, None] * arcs.bend
        self.c0[:] += np.sum(whole * arcs.constant, axis=0)
        if degree.nesting is None:
            stars = shares[:, :2]
            self.w[:] += degree.to_pairs @ stars.reshape(-1, count)
            slope += (stars * arcs.low)[:, ::-1]
        else:
            self._add_nested(degree, arcs, shares[:, : degree.nested])
        if arcs.stars is not None:
            self._add_stars(degree, arcs, arcs.stars, shares[:, degree.nested : -1], (slope, bend))
        self.d[:] += degree.to_attributes @ slope.reshape(-1, count)
        self.d2[:] += degree.to_attributes @ bend.reshape(-1, count)

    def _add_nested(self, degree: DegreeLayout, arcs: Arcs, alpha: FloatArray) -> None:
        """Add nested arcs to W3 and to the constants of C_ij."""
        assert degree.nesting is not None
        count = alpha.shape[-1]
        slope = alpha
        if arcs.facets is not None:
            self.flat[:] += degree.nesting.to_nested @ (alpha * arcs.facets.constant).reshape(-1, count)
            slope = alpha[:, :, None] * arcs.facets.slope
        self.third[:] += degree.nesting.to_triples @ slope.reshape(-1, count)

    def _add_stars(
        self,
        degree: DegreeLayout,
        arcs: Arcs,
        stars: Stars,
        alpha: FloatArray,
        direct: tuple[FloatArray, FloatArray],
    ) -> None:
        """Add quadratic stars to W, W2 and const, and what L_i makes of them to slopes and bends."""
        count = alpha.shape[-1]
        slope, bend = direct
        linear, bent = alpha[:, :, None] * stars.linear, alpha[:, :, None] * stars.bend
        constant = alpha * stars.constant
        self.w[:] += degree.to_pairs @ linear.reshape(-1, count)
        self.w2[:] += (degree.to_pairs @ bent.reshape(-1, count))[: len(self.w2)]
        self.const[:] += degree.to_attributes @ constant.reshape(-1, count)
        self.c0[:] += np.sum(arcs.low * constant, axis=(0, 1))
        for centre in range(degree.degree):
            others = [q for q in range(degree.degree) if q != centre]
            slope[:, others] += arcs.low[:, centre, None] * linear[:, centre]
            bend[:, others] += arcs.low[:, centre, None] * bent[:, centre]

    def _unfold(self, layout: Layout, low: FloatArray) -> None:
        """Add what L_i and L_j make of W3 and the constants of C_ij to everything else."""
        triples, many = layout.triples, layout.nested
        if triples is None:
            return
        low_i, low_j = low[layout.centre[:many]], low[layout.other[:many]]
        under_second = self.third * low_j[triples.pair]
        self.w[:many] += triples.to_near @ under_second
        self.w[:many] += triples.to_far @ (self.third * low_i[triples.pair])
        self.d[:] += triples.to_last @ (under_second * low_i[triples.pair])
        self.const[:] += layout.nested_to_centre @ (self.flat * low_j)
        self.const[:] += layout.nested_to_other @ (self.flat * low_i)
        self.c0[:] += np.sum(self.flat * low_i * low_j, axis=0)
