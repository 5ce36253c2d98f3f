"""A level that later ones must leave as it is, to a tolerance, and what is proved of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value


@dataclass(frozen=True)
class Advance:
    """A split (M,) that improves a level, and what is proved of the level.

    `bound_at` of any split (M,): no split that is as good as that one on the levels before passes it.
    """

    epsilon: FloatArray
    bound_at: Callable[[FloatArray], float]


@dataclass(frozen=True)
class Kept:
    """A level's arrays, and the value that later levels are measured against."""

    arrays: Arrays
    reference: float

    @classmethod
    def of(cls, arrays: Arrays, made: Advance, tolerance: float) -> Kept:
        """Measured against what is proved possible, where that is much nearer than the tolerance.

        Else, where time was short, against what the split reaches.
        """
        reached, bound = objective_value(arrays, made.epsilon), made.bound_at(made.epsilon)
        proved = math.isfinite(bound) and relative_gap(reached, bound) <= tolerance / 2
        return cls(arrays, bound if proved else reached)

    def loss(self, epsilon: FloatArray) -> float:
        """How far a split (M,) stays behind, as a relative gap."""
        reached = objective_value(self.arrays, epsilon)
        minimized = self.arrays.objective in MINIMIZED
        behind = reached > self.reference if minimized else reached < self.reference
        return relative_gap(reached, self.reference) if behind else 0.0
