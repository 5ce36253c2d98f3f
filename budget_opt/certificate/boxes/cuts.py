"""Ceilings in z = lambda: the Weierstrass cut, which also tells where a member may stand at 0.

With t_m = z_m / U_m in [0, 1], prod t_m >= 1 - sum (1 - t_m), so that prod z_m <= c implies

    sum_S z_m / U_m <= |S| - 1 + c / prod_S U

(GLOBAL_SOLVER_PROOFS 4b, divided by prod U). It enters the bound with a multiplier of its own: D_m loses it
over U_m, the constant gains it times the right-hand side. It misses the product by O(width^2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.model.arrays import FloatArray, IntArray

_OUTWARD = 1e-12
"""Relative; far above the rounding of the logarithms and the sum here."""
_SMALLEST = 1e-100
"""Upper ends below it are as good as 0, where the product keeps every ceiling."""


@dataclass(frozen=True)
class Cuts:
    """sum_m member_cm z_m / U_m <= limit: `member` (C, M) 0-1, `per` 1/U (M, B), `limit` (C, B).

    `told` (C, B) is 1 where the box leaves the ceiling something to say, else 0; so is `limit` there.
    """

    member: FloatArray
    per: FloatArray
    limit: FloatArray
    told: FloatArray

    @classmethod
    def of(cls, member: FloatArray, log_ceiling: FloatArray, high: FloatArray) -> Cuts:
        """The cuts of ceilings (C,) on boxes with upper ends `high` (M, B) in z."""
        usable = high >= _SMALLEST
        top = np.where(usable, high, 1.0)
        log_top = np.log(top)
        size = np.sum(member, axis=1)[:, None]
        ratio = log_ceiling[:, None] - member @ log_top
        told = (ratio < 0) & (member @ ~usable == 0)
        slack = _OUTWARD * (size + np.abs(log_ceiling)[:, None] - member @ log_top)
        limit = size - 1.0 + np.exp(np.minimum(ratio, 0.0)) * (1.0 + slack) + _OUTWARD * size
        return cls(member, 1.0 / top, np.where(told, limit, 0.0), told.astype(np.float64))

    def only(self, index: IntArray) -> Cuts:
        """Some of the boxes."""
        return replace(self, per=self.per[:, index], limit=self.limit[:, index], told=self.told[:, index])

    def pull(self, multipliers: FloatArray) -> FloatArray:
        """What multipliers (C, B) take from D, (M, B)."""
        pulled: FloatArray = (self.member.T @ (multipliers * self.told)) * self.per
        return pulled

    def spare(self, z: FloatArray) -> FloatArray:
        """What z (M, B) leaves of the limits, (C, B); negative where it breaks a cut."""
        left: FloatArray = self.limit - self.told * (self.member @ (z * self.per))
        return left

    def gap(self, z: FloatArray) -> FloatArray:
        """How far prod z / U lies above what the cuts make of it, (C, B)."""
        ratio = np.minimum(z * self.per, 1.0)
        missing = 1.0 - self.member @ (1.0 - ratio)
        with np.errstate(divide="ignore"):
            product = np.exp(self.member @ np.maximum(np.log(ratio), -1e3))
        apart: FloatArray = self.told * np.maximum(product - missing, 0.0)
        return apart

    def size(self, multipliers: FloatArray) -> FloatArray:
        """The absolute size of all that they add to the bound, (B,)."""
        parts = self.limit + self.told * np.sum(self.member, axis=1)[:, None]
        total: FloatArray = np.sum(multipliers * parts, axis=0)
        return total
