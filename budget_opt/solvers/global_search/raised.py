"""Starts under floors: what the floors need at the least, raised towards a wanted split.

Every retention increases in every epsilon, so that whatever is added to a split that keeps the floors keeps
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.solvers import convex_method
from budget_opt.solvers.phase_one import strictly_inside
from budget_opt.solvers.reduction import Reduction

_HAIR = 1e-3
"""Share of what is left that keeps a start strictly inside."""


@dataclass(frozen=True)
class Raised:
    """`least` (n,) keeps all floors strictly, with the least total but for a hair."""

    reduction: Reduction
    least: FloatArray

    @classmethod
    def of(cls, arrays: Arrays, reduction: Reduction) -> Raised:
        """From the convex problem of the least total."""
        frugal = replace(arrays, objective="min_epsilon", log_ceiling=np.zeros(arrays.moments))
        needed = convex_method.solve_quietly(frugal)[0][reduction.free] if arrays.floors.size else 0.0
        program = reduction.program
        room = np.where(np.isfinite(program.upper), program.upper, np.inf) - program.lower
        hair = np.minimum(1e-6 + _HAIR * program.lower, 1e-3 * room)
        return cls(reduction, np.maximum(needed * (1.0 + 1e-4), program.lower + hair))

    def towards(self, wanted: FloatArray) -> FloatArray | None:
        """`least` raised towards `wanted` (n,); None where that is not strictly inside."""
        program = self.reduction.program
        more = np.maximum(wanted - self.least, 0.0)
        more = more + _HAIR * max(float(np.max(more)), 1e-9)
        left = program.cap_limit - program.cap @ (self.least - program.lower)
        spent = program.cap @ more
        length = float(
            np.min(np.divide(left, spent, out=np.full_like(left, 1.0), where=spent > 0), initial=1e6)
        )
        raised = self.least + (1.0 - _HAIR) * max(length, 0.0) * more
        highest = np.where(
            np.isfinite(program.upper), program.upper - 1e-6 * (program.upper - program.lower), np.inf
        )
        point: FloatArray = np.minimum(raised, highest)
        return point if strictly_inside(program, point) else None
