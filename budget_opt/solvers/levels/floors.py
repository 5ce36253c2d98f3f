"""The next level of `max_min`: what the levels before have reached becomes floors of their moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from budget_opt.model.arrays import Arrays
from budget_opt.solvers.answer import Candidate
from budget_opt.solvers.levels.kept import Advance, Kept


def next_level(
    arrays: Arrays, kept: Sequence[Kept], tolerance: float, solve: Callable[[Arrays], Candidate]
) -> Advance:
    """The best split of `arrays` under all its floors and those, and its bound.

    The bound is for every split that stays within the tolerance on the levels before, not only for those that
    are as good as some other. Raises as `solve` does.
    """
    floors = arrays.log_floor
    for level in kept:
        counted = level.arrays.weight > 0
        if level.reference <= 0:  # nothing of it can survive: there is nothing to keep
            continue
        wanted = np.log(level.reference) - np.log1p(tolerance) + np.log(arrays.target)
        floors = np.where(counted, np.maximum(floors, wanted), floors)
    found = solve(replace(arrays, log_floor=floors))
    return Advance(found.epsilon, lambda _: found.certificate.bound)
