"""The bound of a weighted sum on many boxes at once, for any multipliers.

    F <= c0 + sum_r mu_r beta_r + sum_i max psi_i(z_i) + floors + cuts,   psi_i as in `maxima`,
    mu_i = sum_r mu_r b_ri,   and C_i and the other coefficients of psi_i as in `copies`

(GLOBAL_SOLVER 2; GLOBAL_SOLVER_PROOFS 4, 6). It is valid for all shares that sum to the terms' weights, and
all nu, nested, mu, kappa, capped >= 0. Boxes stand on the last axis. The first row's multiplier is chosen
here (`outer`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.boxes.copies import Copies, copies_of
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.boxes.outer import Floors, Hints, Outer, OuterProblem, outer_maxima
from budget_opt.certificate.boxes.relaxation import UNIT, Limits, Multipliers, Relaxation, Rows
from budget_opt.certificate.boxes.stated import stated_maxima
from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

__all__ = ["Evaluation", "Limits", "Multipliers", "Relaxation", "Rows", "cut_off", "evaluate", "tangents"]

_NEWTONS, _MANY_NEWTONS = 3, 12
"""Of the nested maxima: in a search, and where the bound must come out the same everywhere."""


@dataclass(frozen=True)
class Evaluation:
    """Bounds (B,), and what they came from: outer maxima, copies, and multipliers with mu as used."""

    bound: FloatArray
    outer: Outer
    copies: Copies
    multipliers: Multipliers


def evaluate(
    on: Relaxation, multipliers: Multipliers, start: Hints | None = None, passes: int = 4
) -> Evaluation:
    """The bound at these multipliers, rounding included; `start` are the hints of an evaluation nearby.

    So many `passes` look for the best price of the first row; with 0 it is the stated one.
    """
    copies = copies_of(on, multipliers, _NEWTONS if passes else _MANY_NEWTONS)
    constant = copies.sums.c0
    mu = multipliers.mu
    coefficient, limit = on.rows.coefficient, on.rows.limit
    rest = np.zeros_like(on.low)
    if len(mu) > 1:
        rest = np.sum(coefficient[1:] * mu[1:, None], axis=0)
        constant = constant + np.sum(limit[1:] * mu[1:], axis=0)
    psi = copies.psi
    if on.cuts is not None:
        psi = replace(psi, d=psi.d - on.cuts.pull(multipliers.capped))
        constant = constant + np.sum(on.cuts.limit * multipliers.capped, axis=0)
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
    outer = outer_maxima(problem, passes) if passes else stated_maxima(problem)
    constant = constant + limit[0] * outer.price + _floor_constant(on, floors, outer, multipliers.kappa)
    used = replace(multipliers, mu=np.vstack([outer.price[None], mu[1:]]))
    bound = constant + outer.value + _allowance(on, used, floors)
    return Evaluation(bound, outer, copies, used)


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


def _allowance(on: Relaxation, used: Multipliers, floors: Floors | None) -> FloatArray:
    """What rounding may hide, (B,): 1.01 K u Abs (GLOBAL_SOLVER_PROOFS 3)."""
    spent = on.rows.limit + np.sum(on.rows.coefficient * on.most, axis=1)
    absolute = on.absolute + np.sum(used.mu * spent, axis=0)
    absolute = absolute + np.sum(np.sum(used.nu * (on.low + on.high), axis=1) * spent, axis=0)
    if on.layout.nested:
        wide, many = on.low + on.high, on.layout.nested
        pairs = wide[on.layout.centre[:many]] * wide[on.layout.other[:many]]
        absolute = absolute + np.sum(np.sum(used.nested * pairs, axis=1) * spent, axis=0)
    if floors is not None:
        size = np.abs(floors.log_v) + floors.slope * (on.most + floors.e_v) + on.high / floors.v + 1.0
        absolute = absolute + np.sum(floors.pull * size, axis=0) + np.abs(on.log_floor) @ used.kappa
    if on.cuts is not None:
        absolute = absolute + on.cuts.size(used.capped)
    allowance: FloatArray = 1.01 * (on.layout.roundings + on.ceilings) * UNIT * absolute
    return allowance


def cut_off(layout: Layout) -> float:
    """The factor on every bound for what lies above `HIGHEST`."""
    order = max((degree.degree for degree in layout.degrees), default=1)
    return 1.0 + (order + 4) * 2.0**-52
