"""Bounds for a union of pieces with different known orders (class III), by folding them onto one another.

A piece whose distributions have the order T is carried by T onto decreasing shares. With C the common part of
all folded pieces and U their union, the set lies between the unfoldings of C and of U by all the orders, so

    epsilon(unfolded C)  <=  epsilon(set)  <=  epsilon(unfolded U)

(Kalantari, Sankar, Sarwate 2018, theorem on class III). All three agree where the folded pieces are the same
set, and may elsewhere. The paper finds the outer two with r variables under the equations D_i = D_T(i). They
hold at an optimum where the orders form a group (average a matrix over it). Where they do not, for instance
for one shift of three categories and the identity, they can force more epsilon than the set itself needs,
and are no lower bound: both ends are found here without them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from budget_opt.errors import InputError
from budget_opt.mechanisms.hamming.common import steepest_slope
from budget_opt.mechanisms.hamming.optimum import Optimum, least_epsilon
from budget_opt.mechanisms.hamming.source import Distribution, Number, Source, fraction_of

Order = tuple[int, ...]


@dataclass(frozen=True)
class FoldingBounds:
    """Epsilon of a union of pieces (nats), between what folding says.

    `upper` is proved, as `exact` is. `lower` is computed in floating point to HiGHS's tolerance, 0 where the
    folded pieces have nothing in common.
    """

    lower: float
    exact: Optimum
    upper: Optimum

    @property
    def tight(self) -> bool:
        """True where both ends agree to a millionth of a nat."""
        return self.upper.epsilon - self.lower <= 1e-6


def folding_bounds(pieces: Sequence[Source], distortion: Number) -> FoldingBounds:
    """The least epsilon of the union of `pieces` at this distortion, and the bounds that folding gives.

    Each piece has a known order (class II, or one distribution). Raises InputError where one has none, and
    what `least_epsilon` raises.
    """
    folded = _folded(pieces)
    exact = least_epsilon(_joined([shares for piece in pieces for shares in piece.vertices]), distortion)
    union = [shares for vertices in folded.values() for shares in vertices]
    outer = _joined([_unfolded(order, shares) for order in folded for shares in union])
    return FoldingBounds(
        _lower(folded, float(fraction_of(distortion))), exact, least_epsilon(outer, distortion)
    )


def _folded(pieces: Sequence[Source]) -> dict[Order, list[Distribution]]:
    """The folded vertices of all pieces of each order."""
    found: dict[Order, list[Distribution]] = {}
    for number, piece in enumerate(pieces, start=1):
        if piece.order is None:
            raise InputError(f"pieces: number {number} has no known order. Cut it where its order changes")
        found.setdefault(piece.order, []).extend(
            tuple(shares[code] for code in piece.order) for shares in piece.vertices
        )
    if not found:
        raise InputError("pieces: there are none; state at least one source")
    return found


def _unfolded(order: Order, shares: Distribution) -> Distribution:
    placed = dict(zip(order, shares, strict=True))
    return tuple(placed[code] for code in range(len(order)))


def _joined(vertices: Sequence[Distribution]) -> Source:
    return Source(tuple(dict.fromkeys(vertices)))


def _lower(folded: dict[Order, list[Distribution]], distortion: float) -> float:
    slope = steepest_slope(list(folded), list(folded.values()), 1.0 - distortion)
    if slope >= 1.0 - distortion:
        return 0.0
    return math.log((1.0 - distortion) / slope) if slope > 0 else math.inf
