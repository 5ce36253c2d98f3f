"""Is there a split that meets all floors, and how far inside can it be?

The largest t with log R_k >= log floor_k + t for all floors is a `max_min` problem: t > 0 gives a point
inside that other methods start from, a proved bound below 0 shows that the floors are too high together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.convex import Frame, log_bound
from budget_opt.certificate.fitting import attained
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.model.arrays import Arrays, BoolArray, FloatArray
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.convex import Progress, improve, mixture
from budget_opt.solvers.program import Program
from budget_opt.solvers.reduction import FLOOR_MARGIN, Reduction, alive, inner_start, reduce

LEAST_MARGIN = 10.0 * FLOOR_MARGIN
"""A logarithm: less leaves rounding no room."""
_AMPLE = 0.1
"""A margin at which there is no need to be further inside: without a total that would be far away."""


@dataclass(frozen=True)
class Margin:
    """The floors' margin t (a logarithm): `reached` at `epsilon` (M,), at most `bound`, by `multipliers`.

    `multipliers.moments` are the shares of the floors in the bound.
    """

    epsilon: FloatArray
    reached: float
    bound: float
    multipliers: Multipliers

    @property
    def inside(self) -> bool:
        """True where a point lies inside all floors with something to spare."""
        return self.reached > LEAST_MARGIN

    @property
    def impossible(self) -> bool:
        """True where the bound proves that no point meets all floors."""
        return self.bound < 0


def elastic(arrays: Arrays, relaxed: BoolArray | None = None) -> Arrays:
    """The `max_min` problem whose value is the factor exp(t) on the floors; `relaxed` (K,) masks who moves.

    Floors outside `relaxed` stay as they are.
    """
    moving = np.isfinite(arrays.log_floor) if relaxed is None else relaxed
    return replace(
        arrays,
        objective="max_min",
        weight=moving.astype(np.float64),
        target=np.where(moving, np.exp(arrays.log_floor), 1.0),
        log_floor=np.where(moving, -np.inf, arrays.log_floor),
    )


def margin(arrays: Arrays, tick: Callable[[], None] | None = None, *, exact: bool = False) -> Margin:
    """The margin of the floors; ends at the first proof of either answer unless `exact`."""
    stretched = elastic(arrays)
    dead = stretched.weight - alive(stretched)
    if np.any(dead > 0):
        shares = replace(Multipliers.zero(stretched), moments=dead).sanitized(stretched)
        return Margin(stretched.lower, -np.inf, -np.inf, shares)
    reduction = reduce(stretched)
    if not reduction.free.size:
        return _without_freedom(stretched, reduction)
    progress = Progress(reduction, Frame.of(stretched), inner_start(reduction.program), tick=tick)
    if not exact:
        progress.enough, progress.aim = _decided, FLOOR_MARGIN
    progress.propose(progress.inside)
    improve(progress)
    shares = progress.multipliers or Multipliers.zero(stretched).sanitized(stretched)
    return Margin(progress.best, progress.reached, progress.least_bound, shares)


def _decided(reached: float, bound: float) -> bool:
    return bound < 0 or reached > _AMPLE or (reached > LEAST_MARGIN and bound - reached <= 0.5 * reached)


def _without_freedom(stretched: Arrays, reduction: Reduction) -> Margin:
    """Everything is fixed: the margin is what it is."""
    epsilon = reduction.fixed
    reached = attained(stretched, epsilon)
    everybody = Multipliers.zero(stretched)
    kept = log_retentions(stretched, epsilon) - np.log(stretched.target)
    everybody.moments[np.argmin(np.where(stretched.weight > 0, kept, np.inf))] = 1.0
    return Margin(epsilon, reached, log_bound(Frame.of(stretched), epsilon, everybody)[0], everybody)


def strictly_inside(program: Program, epsilon: FloatArray) -> bool:
    """True where a point (n,) is inside all rows without a level, and all caps."""
    v = program.point(epsilon)
    rows = program.row_slack(v, 0.0)[program.row_level == 0]
    return bool(np.all(rows > 0) and np.all(program.cap_slack(v) > 0))


def towards(program: Program, inside: FloatArray, wanted: FloatArray) -> FloatArray:
    """A point (n,) strictly inside, as far from `inside` to `wanted` as keeps half the rows' slack.

    Mixed in epsilon where the constraints allow it, so that what lies at 0 inside does not stay near 0; where
    ceilings do not, in the program's coordinate.
    """
    rows = program.row_level == 0
    off_zero = np.maximum(inside, program.lower + 1e-12 * (wanted - program.lower))
    have = program.row_slack(program.point(off_zero), 0.0)[rows]
    share = 0.5
    for _ in range(60):
        straight: FloatArray = (1 - share) * inside + share * wanted
        for mixed in (straight, mixture(program, off_zero, wanted, share)):
            v = program.point(mixed)
            if np.all(program.row_slack(v, 0.0)[rows] >= 0.5 * have) and np.all(program.cap_slack(v) > 0):
                return mixed
        share *= 0.5
    return off_zero
