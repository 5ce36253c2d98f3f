"""The first node: many steps, until they gain little (GLOBAL_SOLVER 4.5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from budget_opt.certificate.boxes.bound import Relaxation
from budget_opt.certificate.boxes.descent import descended
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.global_search.node import Batch


def first_batch(
    on: Relaxation, ends: tuple[FloatArray, FloatArray], cut: float, proved: Callable[[float], None]
) -> Batch:
    """The root, bounded, as a batch of one; `proved` hears the best bound before every step."""

    def told(bound: float) -> bool:
        proved(bound)
        return True

    on, best = descended(on, cut, told)
    name = np.zeros(1, np.int64)
    return Batch(*ends, on.point, best.multipliers, best.outer.hints, best.bound, name)
