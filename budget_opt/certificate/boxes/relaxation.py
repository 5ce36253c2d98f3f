"""A weighted sum on many boxes, its multipliers and rows: what the bound is a function of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.boxes.arcs import Arcs, arcs_of, touching
from budget_opt.certificate.boxes.cuts import Cuts
from budget_opt.certificate.boxes.inner import Interval
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, IntArray

UNIT = 2.0**-53
HIGHEST = 1.0 - 2.0**-52
"""lambda is cut off here; `cut_off` is what that may hide."""


@dataclass(frozen=True)
class Multipliers:
    """Shares (T, arcs, B) of each degree, nu (R, M, B), nested (R, N, B), mu (R, B), kappa (F, B); all >= 0.

    `capped` (C, B) are those of the ceilings' cuts.

    `nu` multiplies a row by lambda_i - L_i, `nested` by (lambda_i - L_i)(lambda_j - L_j) for the N pairs that
    share a term of degree >= 3. Where every `nested` is 0 they stay so, and a bound costs less.
    """

    shares: tuple[FloatArray, ...]
    nu: FloatArray
    nested: FloatArray
    mu: FloatArray
    kappa: FloatArray
    capped: FloatArray


@dataclass(frozen=True)
class Rows:
    """b e <= beta: coefficient (R, M, 1 or B) >= 0, limit (R, 1 or B). `plain`: one row, all ones."""

    coefficient: FloatArray
    limit: FloatArray
    plain: bool


@dataclass(frozen=True)
class Limits:
    """Floors (F, M) and ceilings (C, M) as 0-1 rows, and the logarithms of their limits (F,), (C,)."""

    floors: FloatArray
    log_floor: FloatArray
    ceilings: FloatArray
    log_ceiling: FloatArray


@dataclass(frozen=True)
class Relaxation:
    """A weighted sum on B boxes: ends and tangent points in z (M, B), rows, and floors (F, M), (F,).

    `cuts` are those of the ceilings, None without any.
    """

    layout: Layout
    r: FloatArray
    low: FloatArray
    high: FloatArray
    point: FloatArray
    least: FloatArray
    most: FloatArray
    rows: Rows
    floors: FloatArray
    log_floor: FloatArray
    cuts: Cuts | None
    arcs: tuple[Arcs, ...]
    absolute: FloatArray

    @classmethod
    def of(
        cls,
        layout: Layout,
        r: FloatArray,
        ends: tuple[FloatArray, FloatArray],
        point: FloatArray,
        rows: Rows,
        limits: Limits,
    ) -> Relaxation:
        """The relaxation on boxes ends = (lower, upper) in epsilon (M, B), rounded outward; `point` in z."""
        low = np.minimum(rr.retention(ends[0], r) * (1 - 16 * UNIT), HIGHEST * (1 - 16 * UNIT))
        high = np.minimum(HIGHEST, rr.retention(ends[1], r) * (1 + 16 * UNIT))
        point = np.clip(point, low, high)
        arcs = tuple(arcs_of(degree, low, high, point) for degree in layout.degrees)
        absolute = _absolute(layout, high, arcs)
        least, most = rr.epsilon_for_retention(low, r), rr.epsilon_for_retention(high, r)
        cuts = Cuts.of(limits.ceilings, limits.log_ceiling, high) if limits.log_ceiling.size else None
        floors = limits.floors, limits.log_floor
        return cls(layout, r, low, high, point, least, most, rows, *floors, cuts, arcs, absolute)

    @property
    def ceilings(self) -> int:
        """C."""
        return 0 if self.cuts is None else len(self.cuts.limit)

    @property
    def count(self) -> int:
        """B."""
        return int(self.low.shape[1])

    def touching(self, point: FloatArray) -> Relaxation:
        """The same boxes with tangents at another `point` (M, B) in z."""
        point = np.clip(point, self.low, self.high)
        pairs = zip(self.layout.degrees, self.arcs, strict=True)
        arcs = tuple(touching(degree, found, self.high, point) for degree, found in pairs)
        return replace(self, point=point, arcs=arcs, absolute=_absolute(self.layout, self.high, arcs))

    def only(self, index: IntArray) -> Relaxation:
        """Some of the boxes."""
        rows = self.rows
        if rows.limit.shape[1] > 1:
            rows = Rows(rows.coefficient[:, :, index], rows.limit[:, index], rows.plain)
        return replace(
            self,
            low=self.low[:, index],
            high=self.high[:, index],
            point=self.point[:, index],
            least=self.least[:, index],
            most=self.most[:, index],
            rows=rows,
            cuts=None if self.cuts is None else self.cuts.only(index),
            arcs=tuple(arcs.only(index) for arcs in self.arcs),
            absolute=self.absolute[index],
        )

    def interval(self, attribute: IntArray) -> Interval:
        """The intervals of some attributes, one for each entry."""
        parts = (self.r, self.low, self.high, self.least, self.most)
        return Interval(*(x[attribute] for x in parts))


def _absolute(layout: Layout, high: FloatArray, arcs: tuple[Arcs, ...]) -> FloatArray:
    """The absolute size of all that is summed, (B,)."""
    absolute: FloatArray = layout.single @ high
    for degree, found in zip(layout.degrees, arcs, strict=True):
        absolute = absolute + degree.weight @ found.size
    return absolute
