"""The dual function of a convex problem, smooth and convex in its multipliers, for general minimizers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.certificate.convex import Frame, log_bound
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions

_BEYOND = 1e30
"""Stands for an infinite value or slope."""


def unit(arrays: Arrays, epsilon: FloatArray) -> float:
    """The size of the objective: 1 for a logarithm, the spent epsilon for `min_epsilon`."""
    return max(float(np.sum(epsilon)), 1e-300) if arrays.objective == "min_epsilon" else 1.0


@dataclass(frozen=True)
class Dual:
    """Value and gradient of the bound at a vector of multipliers >= 0, scaled to be comparable.

    The vector holds floors, then shares of `max_min` (divided by their sum), then budgets, then ceilings.
    `epsilon` and `point` are where `min_variance` is linearized.
    """

    frame: Frame
    epsilon: FloatArray
    point: FloatArray | None

    @cached_property
    def _unit(self) -> float:
        return unit(self.frame.arrays, self.epsilon)

    @cached_property
    def _shared(self) -> IntArray:
        arrays = self.frame.arrays
        return np.flatnonzero((arrays.weight > 0) & (arrays.objective == "max_min"))

    @cached_property
    def _budget_unit(self) -> FloatArray:
        scaled: FloatArray = self._unit / np.maximum(self.frame.budgets.limit, 1e-300)
        return scaled

    @cached_property
    def _cuts(self) -> IntArray:
        arrays = self.frame.arrays
        return np.cumsum([arrays.floors.size, self._shared.size, len(arrays.budgets)])

    def pack(self, multipliers: Multipliers) -> FloatArray:
        """The vector of these multipliers."""
        arrays = self.frame.arrays
        return np.concatenate(
            [
                multipliers.floors[arrays.floors] / self._unit,
                multipliers.moments[self._shared],
                multipliers.budgets / self._budget_unit,
                multipliers.ceilings[arrays.ceilings] / self._unit,
            ]
        )

    def unpack(self, vector: FloatArray) -> Multipliers:
        """The multipliers of this vector."""
        arrays = self.frame.arrays
        floors, shares, budgets, ceilings = np.split(vector, self._cuts)
        found = Multipliers.zero(arrays, self.point)
        found.floors[arrays.floors] = floors * self._unit
        found.moments[self._shared] = shares
        found.budgets[:] = budgets * self._budget_unit
        found.ceilings[arrays.ceilings] = ceilings * self._unit
        return found.sanitized(arrays)

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """The bound's logarithm and its gradient, by the envelope theorem."""
        arrays, frame = self.frame.arrays, self.frame
        multipliers = self.unpack(vector)
        value, best = log_bound(frame, self.epsilon, multipliers)
        if not np.isfinite(value):
            return _BEYOND, np.zeros_like(vector)
        kept = np.maximum(log_retentions(arrays, best.epsilon), -_BEYOND)
        ratios = (kept - np.log(arrays.target))[self._shared]
        shares = np.split(vector, self._cuts)[1]
        total = max(float(np.sum(shares)), 1e-300)
        spent = np.minimum(best.epsilon, _BEYOND)
        gradient = np.concatenate(
            [
                kept[arrays.floors] - arrays.log_floor[arrays.floors],
                (ratios - multipliers.moments[self._shared] @ ratios) / (total * self._unit),
                (frame.budgets.limit - frame.budgets.coefficient @ spent) * self._budget_unit / self._unit,
                arrays.log_ceiling[arrays.ceilings] - kept[arrays.ceilings],
            ]
        )
        return value / self._unit, np.clip(gradient, -_BEYOND, _BEYOND)
