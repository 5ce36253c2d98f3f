"""Good prices of attributes for a cover: by a linear program, whose tolerance `covered` makes good."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from budget_opt.certificate.partitions.choice import Blocks
from budget_opt.certificate.partitions.covering import covered
from budget_opt.model.arrays import FloatArray


def cover(blocks: Blocks, worth: FloatArray) -> FloatArray:
    """Prices (M,) of the attributes with a small sum that cover these worths (n,), nearly."""
    member = blocks.member.astype(np.float64)
    size = member.shape[1]
    answer = linprog(np.ones(size), A_ub=-member, b_ub=-worth, bounds=(None, None), method="highs")
    return np.zeros(size) if answer.x is None else np.asarray(answer.x, dtype=np.float64)


def cover_bound(blocks: Blocks, worth: FloatArray) -> float:
    """The largest sum of worths (n,) over any partition into these blocks, from above; inf if one is."""
    if not np.all(np.isfinite(worth)):
        return np.inf
    return covered(blocks, worth, cover(blocks, worth))
