"""The numbers that turn a problem into a bound; any of them >= 0 will do (DESIGN 2.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.model.arrays import Arrays, FloatArray


@dataclass(frozen=True)
class Multipliers:
    """Lagrange multipliers of one problem, all >= 0.

    `floors` (K,) of log R_k >= log floor_k, per unit of the objective's logarithm (of epsilon for
    `min_epsilon`); `moments` (K,) the shares of the moments in the minimum of `max_min`, summing to
    one, 0 for the other objectives; `budgets` (J,) in the order of `Arrays.budgets`, per nat;
    `ceilings` (K,) of log R_k <= log ceiling_k. `point` (M,) is where `min_variance` is linearized;
    None means at the split that is judged.
    """

    floors: FloatArray
    moments: FloatArray
    budgets: FloatArray
    ceilings: FloatArray
    point: FloatArray | None = None

    @classmethod
    def zero(cls, arrays: Arrays, point: FloatArray | None = None) -> Multipliers:
        """No multiplier at all: the bound of the box alone."""
        return cls(
            np.zeros(arrays.moments),
            np.zeros(arrays.moments),
            np.zeros(len(arrays.budgets)),
            np.zeros(arrays.moments),
            point,
        )

    def sanitized(self, arrays: Arrays) -> Multipliers:
        """The nearest multipliers that the theorem admits: finite, >= 0, shares that sum to one."""
        floors = np.where(np.isfinite(arrays.log_floor), _positive(self.floors), 0.0)
        ceilings = np.where(arrays.log_ceiling < 0, _positive(self.ceilings), 0.0)
        shares = np.zeros(arrays.moments)
        if arrays.objective == "max_min":
            shares = np.where(arrays.weight > 0, _positive(self.moments), 0.0)
            if not np.any(shares > 0):
                shares = np.where(arrays.weight > 0, 1.0, 0.0)
            shares = shares / np.max(shares)  # the sum of given ones may be beyond the largest double
            shares = shares / np.sum(shares)
        return replace(
            self, floors=floors, moments=shares, budgets=_positive(self.budgets), ceilings=ceilings
        )


def _positive(values: FloatArray) -> FloatArray:
    clean: FloatArray = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
    return clean
