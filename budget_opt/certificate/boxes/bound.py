"""The bound of a weighted sum on many boxes at once, for any multipliers, with its subgradient.

    F <= c0 + sum_r mu_r beta_r + sum_i max psi_i(z_i) + floors,   psi_i as in `stars.maxima` with
    C_i = const_i + sum_r nu_ri beta_r + sum_{j != i} max [ W_ij z + W2_ij z^2 / 2 - nu_ij e(z) ]
    nu_ij = sum_r nu_ri b_rj,   mu_i = sum_r mu_r b_ri

(GLOBAL_SOLVER 2; GLOBAL_SOLVER_PROOFS 4). It is valid for all shares that sum to the terms' weights, and all
nu, mu,
kappa >= 0. Boxes stand on the last axis. The first row's multiplier is chosen here (`outer`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.boxes.arcs import Arcs, arcs_of
from budget_opt.certificate.boxes.inner import Inner, Interval, inner_maxima
from budget_opt.certificate.boxes.layout import DegreeLayout, Layout
from budget_opt.certificate.boxes.outer import Floors, Hints, Outer, OuterProblem, outer_maxima
from budget_opt.certificate.stars.maxima import Psi
from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, IntArray

_UNIT = 2.0**-53
HIGHEST = 1.0 - 2.0**-52
"""lambda is cut off here; `cut_off` is what that may hide."""


@dataclass(frozen=True)
class Multipliers:
    """Shares (T, d n + 1, B) of each degree's arcs, nu (R, M, B), mu (R, B), kappa (F, B); all >= 0."""

    shares: tuple[FloatArray, ...]
    nu: FloatArray
    mu: FloatArray
    kappa: FloatArray


@dataclass(frozen=True)
class Rows:
    """b e <= beta: coefficient (R, M, 1 or B) >= 0, limit (R, 1 or B). `plain`: one row, all ones."""

    coefficient: FloatArray
    limit: FloatArray
    plain: bool


@dataclass(frozen=True)
class Relaxation:
    """A weighted sum on B boxes: ends and tangent points in z (M, B), rows, and floors (F, M), (F,)."""

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
        floors: tuple[FloatArray, FloatArray],
    ) -> Relaxation:
        """The relaxation on boxes ends = (lower, upper) in epsilon (M, B), rounded outward; `point` in z."""
        low = np.minimum(rr.retention(ends[0], r) * (1 - 16 * _UNIT), HIGHEST * (1 - 16 * _UNIT))
        high = np.minimum(HIGHEST, rr.retention(ends[1], r) * (1 + 16 * _UNIT))
        point = np.clip(point, low, high)
        arcs = tuple(arcs_of(degree, low, high, point) for degree in layout.degrees)
        absolute = layout.single @ high
        for degree, found in zip(layout.degrees, arcs, strict=True):
            absolute = absolute + degree.weight @ found.size
        least, most = rr.epsilon_for_retention(low, r), rr.epsilon_for_retention(high, r)
        return cls(layout, r, low, high, point, least, most, rows, *floors, arcs, absolute)

    @property
    def count(self) -> int:
        """B."""
        return int(self.low.shape[1])

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
            arcs=tuple(arcs.only(index) for arcs in self.arcs),
            absolute=self.absolute[index],
        )


@dataclass(frozen=True)
class Evaluation:
    """Bounds (B,), and what they came from: outer and inner maxima, the weights W (P, B), mu as used."""

    bound: FloatArray
    outer: Outer
    inner: Inner
    pull: FloatArray
    multipliers: Multipliers


def evaluate(
    on: Relaxation, multipliers: Multipliers, start: Hints | None = None, passes: int = 4
) -> Evaluation:
    """The bound at these multipliers, rounding included; `start` are the hints of an evaluation nearby."""
    inner, pull, psi, constant = _assembled(on, multipliers)
    mu = multipliers.mu
    coefficient, limit = on.rows.coefficient, on.rows.limit
    rest = np.zeros_like(on.low)
    if len(mu) > 1:
        rest = np.sum(coefficient[1:] * mu[1:, None], axis=0)
        constant = constant + np.sum(limit[1:] * mu[1:], axis=0)
    floors = None
    if on.log_floor.size:
        floors = tangents(on, on.floors.T @ multipliers.kappa)
    problem = OuterProblem(
        psi,
        coefficient[0],
        np.broadcast_to(limit[0], constant.shape),
        rest,
        on.least,
        on.most,
        floors,
        _far_up(on) if start is None else start,
        mu[0],
    )
    outer = outer_maxima(problem, passes)
    constant = constant + limit[0] * outer.price + _floor_constant(on, floors, outer, multipliers.kappa)
    used = Multipliers(
        multipliers.shares, multipliers.nu, np.vstack([outer.price[None], mu[1:]]), multipliers.kappa
    )
    bound = constant + outer.value + _allowance(on, used, floors)
    return Evaluation(bound, outer, inner, pull, used)


def _far_up(on: Relaxation) -> Hints:
    """Where to begin without any hint."""
    return rr.retention(np.clip(np.log(on.r) + 3.0, on.least, on.most), on.r), on.low, on.high


def tangents(on: Relaxation, pull: FloatArray) -> Floors:
    """The floors' tangents at the boxes' points."""
    # attributes under no floor may stand at 0, and what is said of them here is multiplied by 0
    v = np.maximum(on.point, 1e-300)
    p, _ = inverse.slope_product(v, on.r)
    return Floors(pull, p / (on.r * v), np.log(v), rr.epsilon_for_retention(v, on.r), v)


def _floor_constant(on: Relaxation, floors: Floors | None, outer: Outer, kappa: FloatArray) -> FloatArray:
    if floors is None or outer.theta is None:
        return np.zeros(on.count)
    parts = floors.pull * (floors.log_v - (1.0 - outer.theta) * floors.slope * floors.e_v - outer.theta)
    constant: FloatArray = np.sum(parts, axis=0) - on.log_floor @ kappa
    return constant


def _assembled(on: Relaxation, multipliers: Multipliers) -> tuple[Inner, FloatArray, Psi, FloatArray]:
    """Inner maxima, W (P, B), psi without prices, and c0 (B,)."""
    layout, count = on.layout, on.count
    const = np.zeros_like(on.low)
    d, d2 = np.repeat(layout.single[:, None], count, axis=1), np.zeros_like(on.low)
    w, c0 = np.zeros((layout.pairs, count)), np.zeros(count)
    w2: FloatArray | None = None
    for degree, arcs, shares in zip(layout.degrees, on.arcs, multipliers.shares, strict=True):
        whole = shares[:, -1]
        flat, linear, bent = _stars(degree, arcs, shares)
        w += degree.to_pairs @ linear.reshape(-1, count)
        slope = whole[:, None] * arcs.linear
        bend = whole[:, None] * arcs.bend
        c0 += np.sum(whole * arcs.constant, axis=0)
        others = _others(degree.degree)
        for centre in range(degree.degree):
            slope[:, others[centre]] += arcs.low[:, centre, None] * linear[:, centre]
        if flat is not None and bent is not None:
            const += degree.to_attributes @ flat.reshape(-1, count)
            c0 += np.sum(arcs.low * flat, axis=(0, 1))
            quadratic = degree.to_pairs @ bent.reshape(-1, count)
            w2 = quadratic if w2 is None else w2 + quadratic
            for centre in range(degree.degree):
                bend[:, others[centre]] += arcs.low[:, centre, None] * bent[:, centre]
        d += degree.to_attributes @ slope.reshape(-1, count)
        d2 += degree.to_attributes @ bend.reshape(-1, count)
    price, own = _prices(on, multipliers.nu)
    j = layout.other
    inner = inner_maxima(w, w2, price, Interval(on.r[j], on.low[j], on.high[j], on.least[j]))
    spare = on.rows.limit - np.sum(on.rows.coefficient * on.least, axis=1)
    c = const + np.sum(multipliers.nu * spare[:, None], axis=0) + own * on.least
    c += layout.pairs_to_centre @ inner.value
    return inner, w, Psi(c, d, d2, own, np.zeros(1), on.r, on.low, on.high), c0


def _others(size: int) -> list[list[int]]:
    """The positions of a term without each centre."""
    return [[q for q in range(size) if q != centre] for centre in range(size)]


def _stars(
    degree: DegreeLayout, arcs: Arcs, shares: FloatArray
) -> tuple[FloatArray | None, FloatArray, FloatArray | None]:
    """Per centre, weighted by shares: constants, slopes and bends, (T, d, ...); None where all are 0."""
    alpha = shares[:, :-1].reshape(len(shares), degree.degree, degree.stars, -1)
    if arcs.stars is None:
        return None, alpha, None
    flat = np.einsum("tcnb,tcnb->tcb", alpha, arcs.stars.constant)
    linear = np.einsum("tcnb,tcnqb->tcqb", alpha, arcs.stars.linear)
    return flat, linear, alpha[:, :, -1, None] * arcs.stars.bend


def _prices(on: Relaxation, nu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """nu_ij (P, B) and nu_ii (M, B)."""
    i, j = on.layout.centre, on.layout.other
    if on.rows.plain:
        return nu[0, i], nu[0]
    price = np.zeros((i.size, on.count))
    for row, of_row in zip(on.rows.coefficient, nu, strict=True):
        price += of_row[i] * row[j]
    return price, np.sum(nu * on.rows.coefficient, axis=0)


def _allowance(on: Relaxation, used: Multipliers, floors: Floors | None) -> FloatArray:
    """What rounding may hide, (B,): 1.01 K u Abs (GLOBAL_SOLVER_PROOFS 3)."""
    spent = on.rows.limit + np.sum(on.rows.coefficient * on.most, axis=1)
    absolute = on.absolute + np.sum(used.mu * spent, axis=0)
    absolute = absolute + np.sum(np.sum(used.nu * (on.low + on.high), axis=1) * spent, axis=0)
    if floors is not None:
        size = np.abs(floors.log_v) + floors.slope * (on.most + floors.e_v) + on.high / floors.v + 1.0
        absolute = absolute + np.sum(floors.pull * size, axis=0) + np.abs(on.log_floor) @ used.kappa
    allowance: FloatArray = 1.01 * on.layout.roundings * _UNIT * absolute
    return allowance


def cut_off(layout: Layout) -> float:
    """The factor on every bound for what lies above `HIGHEST`."""
    order = max((degree.degree for degree in layout.degrees), default=1)
    return 1.0 + (order + 4) * 2.0**-52
