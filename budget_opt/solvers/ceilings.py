"""Ceilings from inside: tangents of the concave log lambda in epsilon (GLOBAL_SOLVER_PROOFS 4).

sum_S log lambda(e) <= log c holds wherever  sum_S [ log lambda(e0) + lambda'/lambda(e0) (e - e0) ] <= log c,
a cap on e. At a point e0 that keeps the ceiling the cap holds too, so that a solve under the caps of the last
point never gets worse, and every point on the way keeps all ceilings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.program import Program
from budget_opt.solvers.reduction import Reduction, fixed_retention

_MARGIN = 1e-11
"""Taken off the logarithm of a ceiling, for the rounding of its sum."""


@dataclass(frozen=True)
class Ceilings:
    """rows (C, n) @ log lambda <= bound (C,) over the free attributes."""

    rows: csr_array
    bound: FloatArray

    @classmethod
    def of(cls, reduction: Reduction) -> Ceilings:
        """The ceilings that a free attribute can pass."""
        arrays = reduction.arrays
        inside = arrays.incidence[:, reduction.free]
        fixed = arrays.incidence @ fixed_retention(reduction)
        touched = (np.diff(inside.indptr) > 0) & (arrays.log_ceiling < 0) & np.isfinite(fixed)
        kept = np.flatnonzero(touched)
        return cls(inside[kept], arrays.log_ceiling[kept] - fixed[kept] - _MARGIN)

    @property
    def size(self) -> int:
        """C."""
        return int(self.bound.size)

    def slack(self, program: Program, epsilon: FloatArray) -> FloatArray:
        """bound - log retention at epsilon (n,), shape (C,)."""
        left: FloatArray = self.bound - self.rows @ rr.log_retention(epsilon, program.cardinality)
        return left

    def as_caps(self, program: Program, epsilon: FloatArray, level: float = 0.0) -> Program:
        """The program with the tangents at epsilon (n,) as further caps; `level` is the level's weight."""
        slope = rr.log_retention_slope(epsilon, program.cardinality)
        caps = self.rows.toarray() * slope
        limit = self.slack(program, epsilon) + caps @ (epsilon - program.lower)
        size = np.maximum(np.abs(limit), np.max(caps * (epsilon - program.lower), axis=1, initial=0.0))
        return replace(
            program,
            cap=np.vstack([program.cap, caps / size[:, None]]),
            cap_limit=np.concatenate([program.cap_limit, limit / size]),
            cap_level=np.concatenate([program.cap_level, level / size]),
        )
