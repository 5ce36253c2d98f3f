"""The maxima of all copies, innermost first, and the outer function that they leave of each attribute.

    C_ij = constants + sum_r nu_rij beta_r + sum_{k != i, j} max [ W3_ijk z - nu_ijk e ]
    V_i(t) = const_i + sum_r nu_ri beta_r
             + sum_{j != i} max [ (z - L_j)(C_ij - nu_iji t - nu_ijj e) + W_ij z + W2_ij z^2 / 2 - nu_ij e ]

V_i is convex and decreasing in t = e_i, and so below its chord between the ends of e_i
(GLOBAL_SOLVER_PROOFS 4, 6). Epsilon is counted from the lower ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.assembly import Sums
from budget_opt.certificate.boxes.inner import Inner, inner_maxima
from budget_opt.certificate.boxes.layout import Triples
from budget_opt.certificate.boxes.maxima import Psi
from budget_opt.certificate.boxes.nested import Coefficients, nested_maxima
from budget_opt.certificate.boxes.relaxation import Multipliers, Relaxation
from budget_opt.model.arrays import FloatArray


@dataclass(frozen=True)
class Nested:
    """The copies under the N pairs that share a term of degree >= 3.

    `second` are the maxima in V_i, (2, N, B) with the centre at its lower and at its upper end, (1, N, B)
    where no budget is multiplied twice, so that both are the same; `third` the innermost maxima (Q, B).
    `pull` (N, B) is C_ij with the centre at its lower end.
    """

    second: Inner
    third: Inner
    pull: FloatArray


@dataclass(frozen=True)
class Copies:
    """psi without the first row's price, the sums it came from, and the maxima of the copies in it.

    `plain` are those of the pairs that share no term of degree >= 3, (P - N, B).
    """

    psi: Psi
    sums: Sums
    plain: Inner
    nested: Nested | None


def copies_of(on: Relaxation, multipliers: Multipliers, newtons: int) -> Copies:
    """All maxima at these multipliers, the nested ones after so many Newton steps."""
    layout = on.layout
    sums, many = Sums.of(on, multipliers.shares), layout.nested
    spare = on.rows.limit - np.sum(on.rows.coefficient * on.least, axis=1)
    price, own = _prices(on, multipliers.nu)
    plain = inner_maxima(sums.w[many:], price[many:], on.interval(layout.other[many:]))
    c = sums.const + np.sum(multipliers.nu * spare[:, None], axis=0) + own * on.least
    c += layout.plain_to_centre @ plain.value
    nested = None
    if layout.triples is not None:
        if np.any(multipliers.nested):
            first = price[:many], spare, newtons
            nested, fall = _twice(on, layout.triples, sums, multipliers.nested, first)
            own = own + fall
            c += fall * on.least
        else:
            nested = _once(on, layout.triples, sums, price[:many], newtons)
        c += layout.nested_to_centre @ nested.second.value[0]
    return Copies(Psi(c, sums.d, sums.d2, own, np.zeros(1), on.r, on.low, on.high), sums, plain, nested)


def _once(on: Relaxation, triples: Triples, sums: Sums, price: FloatArray, newtons: int) -> Nested:
    """Where no budget is multiplied twice, innermost copies are free and stand at their upper ends."""
    k, j = triples.last, on.layout.other[: on.layout.nested]
    third = Inner(sums.third * on.high[k], on.high[k], on.most[k] - on.least[k])
    pull = sums.flat + triples.to_pair @ third.value
    psi = Coefficients(pull[None], sums.w[: len(pull)], sums.w2, np.zeros(1), price)
    second = nested_maxima(psi, on.interval(j), newtons)
    return Nested(second, third, pull)


def _twice(
    on: Relaxation,
    triples: Triples,
    sums: Sums,
    multipliers: FloatArray,
    first: tuple[FloatArray, FloatArray, int],
) -> tuple[Nested, FloatArray]:
    """The nested copies, and how steeply the chord of V_i falls in e_i (M, B).

    `first` are the prices nu_ij (N, B), the rows' limits less what the lower ends spend (R, B), and the
    Newton steps.
    """
    layout, (price, spare, newtons) = on.layout, first
    i, j = layout.centre[: layout.nested], layout.other[: layout.nested]
    nu_i, nu_j, nu_k = _nested_prices(on, multipliers, triples)
    third = inner_maxima(sums.third, nu_k, on.interval(triples.last))
    pull = sums.flat + np.sum(multipliers * spare[:, None], axis=0) + triples.to_pair @ third.value
    ends = np.stack([pull, pull - nu_i * (on.most[i] - on.least[i])])
    psi = Coefficients(ends, sums.w[: len(pull)], sums.w2, nu_j, price)
    second = nested_maxima(psi, on.interval(j), newtons)
    gap = layout.nested_to_centre @ (second.value[0] - second.value[1])
    width = on.most - on.least
    fall = np.divide(gap, width, out=np.zeros_like(width), where=width > 0)
    steepest = layout.nested_to_centre @ (nu_i * (on.high[j] - on.low[j]))
    return Nested(second, third, pull), np.clip(fall, 0.0, steepest)


def _prices(on: Relaxation, nu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """nu_ij (P, B) and nu_ii (M, B)."""
    i, j = on.layout.centre, on.layout.other
    if on.rows.plain:
        return nu[0, i], nu[0]
    price = np.zeros((i.size, on.count))
    for row, of_row in zip(on.rows.coefficient, nu, strict=True):
        price += of_row[i] * row[j]
    return price, np.sum(nu * on.rows.coefficient, axis=0)


def _nested_prices(
    on: Relaxation, multipliers: FloatArray, triples: Triples
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What e_i and e_j (N, B), and e_k (Q, B), cost under the budgets multiplied twice."""
    if on.rows.plain:
        return multipliers[0], multipliers[0], multipliers[0, triples.pair]
    i, j = on.layout.centre[: on.layout.nested], on.layout.other[: on.layout.nested]
    of_i, of_j = np.zeros(multipliers.shape[1:]), np.zeros(multipliers.shape[1:])
    of_k = np.zeros((triples.last.size, on.count))
    for row, of_row in zip(on.rows.coefficient, multipliers, strict=True):
        of_i += of_row * row[i]
        of_j += of_row * row[j]
        of_k += of_row[triples.pair] * row[triples.last]
    return of_i, of_j, of_k
