"""The bound of a weighted sum on many boxes at once, for any multipliers, with its subgradient.

    F <= c0 + sum_r mu_r beta_r + sum_i max psi_i(z_i) + floors,   psi_i as in `maxima` with
    C_i = const_i + sum_r nu_ri beta_r + sum_{j != i} max [ W_ij z + W2_ij z^2 / 2 - nu_ij e(z) ]
    nu_ij = sum_r nu_ri b_rj,   mu_i = sum_r mu_r b_ri

(GLOBAL_SOLVER 2; GLOBAL_SOLVER_PROOFS 4). It is valid for all shares that sum to the terms' weights, and all
nu, mu, kappa >= 0, and jointly convex in (shares, nu, mu); the multiplier of the first row is found here,
exactly enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from budget_opt.certificate.stars.envelopes import Envelope, envelope
from budget_opt.certificate.stars.maxima import Psi, closed_inner, peak
from budget_opt.certificate.stars.structure import Structure
from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

_UNIT = 2.0**-53
_ROUNDS = 8
"""Of looking for the price of the first row, eight prices each, at the most."""
_CLOSE = 1.001
"""Ratio of two prices that are near enough: the bound is flat to second order between them."""


@dataclass(frozen=True)
class StarMultipliers:
    """Shares (T, A, B) of each degree's arcs, nu (R, M, B), mu (R, B), kappa (F, B); all >= 0."""

    shares: tuple[FloatArray, ...]
    nu: FloatArray
    mu: FloatArray
    kappa: FloatArray


@dataclass(frozen=True)
class Boxes:
    """A weighted sum on B boxes: ends and point in z (M, B), rows b (R, M) e <= beta (R,), floors (F, M).

    The first row is the one whose multiplier is found by `evaluate`. Ends are already rounded outward.
    """

    structure: Structure
    cardinality: FloatArray
    low: FloatArray
    high: FloatArray
    point: FloatArray
    rows: FloatArray
    limits: FloatArray
    floors: FloatArray
    log_floor: FloatArray

    @cached_property
    def envelopes(self) -> tuple[Envelope, ...]:
        """The arcs of every degree."""
        return tuple(envelope(degree, self.low, self.high, self.point) for degree in self.structure.degrees)

    @cached_property
    def r(self) -> FloatArray:
        """Cardinalities as a column."""
        return self.cardinality[:, None]

    @cached_property
    def least(self) -> FloatArray:
        """epsilon at the lower ends (M, B)."""
        least: FloatArray = rr.epsilon_for_retention(self.low, self.r)
        return least

    @cached_property
    def most(self) -> FloatArray:
        """epsilon at the upper ends (M, B)."""
        most: FloatArray = rr.epsilon_for_retention(self.high, self.r)
        return most


@dataclass(frozen=True)
class Evaluation:
    """Bounds (B,), the argmax of the outer maxima (M, B), mu as used, and the subgradient."""

    bound: FloatArray
    z: FloatArray
    multipliers: StarMultipliers
    gradient: StarMultipliers


@dataclass(frozen=True)
class _Coefficients:
    """What shares and nu make of the outer problem, (M, B) each, c0 (B,), and the inner argmax z (P, B)."""

    c: FloatArray
    d: FloatArray
    d2: FloatArray
    nu: FloatArray
    c0: FloatArray
    inner: FloatArray


def evaluate(boxes: Boxes, multipliers: StarMultipliers) -> Evaluation:
    """The bound, rounding included, at these multipliers with the best mu of the first row."""
    coefficients = _assembled(boxes, multipliers)
    under, over, share = _priced(boxes, coefficients, multipliers)
    bound = np.minimum(under.total, over.total) + _allowance(boxes, replace(multipliers, mu=under.mu))
    used = replace(multipliers, mu=np.where(under.total <= over.total, under.mu, over.mu))
    mixed = _Mixed.of(boxes, under, over, share)
    gradient = StarMultipliers(
        _share_gradient(boxes, coefficients, mixed),
        _nu_gradient(boxes, coefficients, mixed),
        boxes.limits[:, None] - boxes.rows @ mixed.e,
        _kappa_gradient(boxes, mixed),
    )
    return Evaluation(bound, mixed.z, used, gradient)


def _assembled(boxes: Boxes, multipliers: StarMultipliers) -> _Coefficients:
    structure = boxes.structure
    count = boxes.low.shape[1]
    const, d, d2 = np.zeros_like(boxes.low), np.zeros_like(boxes.low), np.zeros_like(boxes.low)
    d += structure.single[:, None]
    w, w2, c0 = np.zeros((structure.pairs, count)), np.zeros((structure.pairs, count)), np.zeros(count)
    for index, (degree, arcs) in enumerate(zip(structure.degrees, boxes.envelopes, strict=True)):
        alpha = multipliers.shares[index]
        size = degree.degree
        low = boxes.low[degree.members]
        stars = [np.flatnonzero(degree.centres == centre) for centre in range(size)]
        flat = np.stack([np.sum(alpha[:, a] * arcs.constant[:, a], axis=1) for a in stars], axis=1)
        linear = np.stack([_weighted(alpha[:, a], arcs.linear[:, a]) for a in stars], axis=1)
        to_attributes, to_pairs = structure.to_attributes[index], structure.to_pairs[index]
        w += to_pairs @ linear.reshape(-1, count)
        const += to_attributes @ flat.reshape(-1, count)
        whole = alpha[:, -1]
        c0 += np.sum(low * flat, axis=(0, 1)) + np.sum(whole * arcs.constant[:, -1], axis=0)
        slope = np.sum(low[:, :, None] * linear, axis=1) + whole[:, None] * arcs.linear[:, -1]
        d += to_attributes @ slope.reshape(-1, count)
        bend = whole[:, None] * arcs.quadratic[:, -1]
        if size > 2:
            quadratic = np.stack([_weighted(alpha[:, a], arcs.quadratic[:, a]) for a in stars], axis=1)
            w2 += to_pairs @ quadratic.reshape(-1, count)
            bend = bend + np.sum(low[:, :, None] * quadratic, axis=1)
        d2 += to_attributes @ bend.reshape(-1, count)
    value, inner, nu = _inner(boxes, w, w2, multipliers.nu)
    spare = boxes.limits[:, None] - boxes.rows @ boxes.least
    c = const + np.sum(multipliers.nu * spare[:, None], axis=0) + nu * boxes.least
    c += structure.pairs_to_centre @ value
    return _Coefficients(c, d, d2, nu, c0, inner)


def _weighted(alpha: FloatArray, coefficients: FloatArray) -> FloatArray:
    total: FloatArray = np.sum(alpha[:, :, None] * coefficients, axis=1)
    return total


def _inner(
    boxes: Boxes, w: FloatArray, w2: FloatArray, nu: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The inner maxima with nu e(L) added back, their z, and nu_ii."""
    structure = boxes.structure
    i, j = structure.centre, structure.other
    price = np.sum(nu[:, i] * boxes.rows[:, j, None], axis=0)
    zero = np.zeros_like(w)
    psi = Psi(zero, w, w2, zero, price, boxes.r[j], boxes.low[j], boxes.high[j])
    found = peak(psi) if np.any(w2) else closed_inner(psi)
    own = np.sum(nu * boxes.rows[:, :, None], axis=0)
    return found.value + price * boxes.least[j], found.z, own


@dataclass(frozen=True)
class _Outer:
    """The outer maxima at one mu: bound (B,) before rounding, z and e (M, B), theta of floors (M, B)."""

    mu: FloatArray
    total: FloatArray
    z: FloatArray
    e: FloatArray
    theta: FloatArray


def _outer(boxes: Boxes, c: _Coefficients, multipliers: StarMultipliers, mu: FloatArray) -> _Outer:
    """Maximize every psi_i at the given mu (R, B)."""
    price = boxes.rows.T @ mu
    d, constant, theta = c.d, c.c0 + boxes.limits @ mu, np.zeros_like(price)
    if boxes.log_floor.size:
        pull = boxes.floors.T @ multipliers.kappa
        slope, log_v, e_v = _tangents(boxes)
        with np.errstate(divide="ignore", invalid="ignore"):
            theta = np.where(pull * slope > price, 1.0 - price / (pull * slope), 0.0)
        # log lambda <= its tangents in e and in z; the mixture keeps the price of e >= 0
        price = np.maximum(price - (1.0 - theta) * pull * slope, 0.0)
        d = d + pull * theta / np.maximum(boxes.point, 1e-300)
        parts = pull * (log_v - (1.0 - theta) * slope * e_v - theta)
        constant = constant + np.sum(parts, axis=0) - boxes.log_floor @ multipliers.kappa
    found = peak(Psi(c.c, d, c.d2, c.nu, price, boxes.r, boxes.low, boxes.high))
    e = rr.epsilon_for_retention(found.z, boxes.r)
    return _Outer(mu, constant + np.sum(found.value, axis=0), found.z, e, theta)


def _tangents(boxes: Boxes) -> tuple[FloatArray, FloatArray, FloatArray]:
    """d log lambda / d e, log lambda and e at the tangent point."""
    # attributes under no floor may stand at 0, and what is said of them here is multiplied by 0
    point = np.maximum(boxes.point, 1e-300)
    p, _ = inverse.slope_product(point, boxes.r)
    return p / (boxes.r * point), np.log(point), rr.epsilon_for_retention(point, boxes.r)


def _priced(
    boxes: Boxes, c: _Coefficients, multipliers: StarMultipliers
) -> tuple[_Outer, _Outer, FloatArray]:
    """The outer maxima at two neighbouring prices of the first row, and the second's share that spends it.

    Each round looks at several prices at once, as further boxes.
    """
    count = boxes.low.shape[1]
    if not boxes.limits.size:
        found = _outer(boxes, c, multipliers, multipliers.mu)
        return found, found, np.zeros(count)
    # d lambda / d e <= r / (4 a): beyond this price nobody leaves the lower end
    gain = np.abs(c.c) + np.abs(c.d) + c.d2
    steep = boxes.r / (4.0 * (boxes.r - 1.0))
    top = np.max(np.where(boxes.rows[0][:, None] > 0, gain * steep, 0.0), axis=0) + 1e-300
    middle = np.clip(multipliers.mu[0], 1e-4 * top, 0.5 * top)
    tried = np.stack([np.zeros(count), *(middle * f for f in (0.6, 0.93, 0.99, 1.01, 1.07, 1.5)), top])
    for _ in range(_ROUNDS):
        outer = _spread_out(boxes, c, multipliers, tried)
        spent = np.tensordot(boxes.rows[0], outer.e, axes=(0, 1))
        index = np.clip(np.sum(spent > boxes.limits[0], axis=0), 1, len(tried) - 1)
        low, high = _picked(tried, index - 1), _picked(tried, index)
        if np.all(high <= low * _CLOSE):
            break
        bottom = np.where(low > 0, low, 1e-3 * high)
        steps = np.linspace(0.0, 1.0, len(tried))[:, None]
        tried = np.where(steps > 0, bottom * (high / bottom) ** steps, low)
    under, over_end = _outer_at(outer, index), _outer_at(outer, index - 1)
    spent_under, spent_over = _picked(spent, index), _picked(spent, index - 1)
    wide = spent_over > np.maximum(spent_under, boxes.limits[0])
    share = np.where(
        wide, (boxes.limits[0] - spent_under) / np.where(wide, spent_over - spent_under, 1.0), 0.0
    )
    return under, over_end, np.clip(share, 0.0, 1.0)


@dataclass(frozen=True)
class _Many:
    """Outer maxima at G prices: mu (G, R, B), total (G, B), z, e, theta (G, M, B)."""

    mu: FloatArray
    total: FloatArray
    z: FloatArray
    e: FloatArray
    theta: FloatArray


def _spread_out(boxes: Boxes, c: _Coefficients, multipliers: StarMultipliers, tried: FloatArray) -> _Many:
    """Evaluate prices (G, B) of the first row as G x B boxes."""
    prices, count = tried.shape

    def again(x: FloatArray) -> FloatArray:
        return np.tile(x, (1,) * (x.ndim - 1) + (prices,))

    mu = again(multipliers.mu)
    mu[0] = tried.ravel()
    copies = replace(boxes, low=again(boxes.low), high=again(boxes.high), point=again(boxes.point))
    coefficients = _Coefficients(again(c.c), again(c.d), again(c.d2), again(c.nu), again(c.c0), c.inner)
    copied = replace(multipliers, kappa=again(multipliers.kappa))
    outer = _outer(copies, coefficients, copied, mu)

    def apart(x: FloatArray) -> FloatArray:
        return np.moveaxis(x.reshape(*x.shape[:-1], prices, count), -2, 0)

    return _Many(apart(outer.mu), apart(outer.total), apart(outer.z), apart(outer.e), apart(outer.theta))


def _picked(values: FloatArray, index: FloatArray) -> FloatArray:
    """values[index_b, ..., b] for values (G, ..., B)."""
    where = index.reshape((1,) * (values.ndim - 1) + (-1,)).astype(np.int64)
    chosen: FloatArray = np.take_along_axis(values, where, axis=0)[0]
    return chosen


def _outer_at(many: _Many, index: FloatArray) -> _Outer:
    return _Outer(*(_picked(part, index) for part in (many.mu, many.total, many.z, many.e, many.theta)))


@dataclass(frozen=True)
class _Mixed:
    """Means over the two outer argmax vectors of z, z^2, e, (z - L) e, and what floors need; (M, B)."""

    z: FloatArray
    square: FloatArray
    e: FloatArray
    product: FloatArray
    log_bound: FloatArray

    @classmethod
    def of(cls, boxes: Boxes, under: _Outer, over: _Outer, share: FloatArray) -> _Mixed:
        def mean(first: FloatArray, second: FloatArray) -> FloatArray:
            mixed: FloatArray = (1.0 - share) * first + share * second
            return mixed

        logs = [np.zeros_like(under.z)] * 2
        if boxes.log_floor.size:
            slope, log_v, e_v = _tangents(boxes)
            logs = [
                log_v
                + (1.0 - outer.theta) * slope * (outer.e - e_v)
                + outer.theta * (outer.z - boxes.point) / np.maximum(boxes.point, 1e-300)
                for outer in (under, over)
            ]
        return cls(
            mean(under.z, over.z),
            mean(under.z**2, over.z**2),
            mean(under.e, over.e),
            mean((under.z - boxes.low) * under.e, (over.z - boxes.low) * over.e),
            mean(*logs),
        )


def _share_gradient(boxes: Boxes, c: _Coefficients, mixed: _Mixed) -> tuple[FloatArray, ...]:
    """What each arc contributes at the argmax, (T, A, B) a degree."""
    found = []
    for index, (degree, arcs) in enumerate(zip(boxes.structure.degrees, boxes.envelopes, strict=True)):
        z, square = mixed.z[degree.members], mixed.square[degree.members]
        low = boxes.low[degree.members]
        inner = c.inner[boxes.structure.pair_of(index)]  # the diagonal is multiplied by 0
        gradient = np.empty_like(arcs.constant)
        for arc, centre in enumerate(degree.centres):
            outer = arcs.constant[:, arc] + np.sum(
                arcs.linear[:, arc] * z + 0.5 * arcs.quadratic[:, arc] * square, axis=1
            )
            if centre < 0:
                gradient[:, arc] = outer
                continue
            own = inner[:, centre]
            star = arcs.constant[:, arc] + np.sum(
                arcs.linear[:, arc] * own + 0.5 * arcs.quadratic[:, arc] * own**2, axis=1
            )
            gradient[:, arc] = (z[:, centre] - low[:, centre]) * star + low[:, centre] * outer
        found.append(gradient)
    return tuple(found)


def _nu_gradient(boxes: Boxes, c: _Coefficients, mixed: _Mixed) -> FloatArray:
    """(R, M, B): P_i (beta_r - sum_{j != i} b_rj e_ij) - b_ri Q_i."""
    structure = boxes.structure
    i, j = structure.centre, structure.other
    more = rr.epsilon_for_retention(c.inner, boxes.r[j]) - boxes.least[j]
    at_least = boxes.rows @ boxes.least
    gradient = []
    for row, limit, base in zip(boxes.rows, boxes.limits, at_least, strict=True):
        others = base - row[:, None] * boxes.least + structure.pairs_to_centre @ (row[j, None] * more)
        gradient.append((mixed.z - boxes.low) * (limit - others) - row[:, None] * mixed.product)
    del i
    return np.array(gradient).reshape(boxes.limits.size, *boxes.low.shape)


def _kappa_gradient(boxes: Boxes, mixed: _Mixed) -> FloatArray:
    if not boxes.log_floor.size:
        return np.zeros((0, boxes.low.shape[1]))
    gradient: FloatArray = boxes.floors @ mixed.log_bound - boxes.log_floor[:, None]
    return gradient


def _allowance(boxes: Boxes, multipliers: StarMultipliers) -> FloatArray:
    """What rounding may hide, (B,): 1.01 K u Abs (GLOBAL_SOLVER_PROOFS 3)."""
    structure = boxes.structure
    absolute = structure.single @ boxes.high
    arcs, terms = 0, 0
    for degree, found in zip(structure.degrees, boxes.envelopes, strict=True):
        absolute = absolute + degree.weight @ np.max(found.size, axis=1)
        terms += degree.weight.size
        arcs = max(arcs, degree.arcs)
    spent = boxes.limits[:, None] + boxes.rows @ boxes.most
    absolute = absolute + np.sum(multipliers.mu * spent, axis=0)
    absolute = absolute + np.sum(np.sum(multipliers.nu * (boxes.low + boxes.high), axis=1) * spent, axis=0)
    if boxes.log_floor.size:
        slope, log_v, e_v = _tangents(boxes)
        pull = boxes.floors.T @ multipliers.kappa
        size = np.abs(log_v) + slope * (boxes.most + e_v) + boxes.high / np.maximum(boxes.point, 1e-300) + 1.0
        absolute = absolute + np.sum(pull * size, axis=0) + np.abs(boxes.log_floor) @ multipliers.kappa
    # an attribute may be in every term, with every arc
    k = arcs * (terms + 2) + terms + 2 * len(boxes.low) + 60
    allowance: FloatArray = 1.01 * k * _UNIT * absolute
    return allowance
