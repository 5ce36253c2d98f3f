"""The linear program over the common part of polytopes, each given by its vertices (`hamming.folding`).

For the weights w of a matrix the worst source among the unfoldings of the common part C is, for each order T,

    min over p in C of p . w_T  =  max sum_S eta_S,   eta_S <= mu_S . v for all vertices v of S,
                                                      sum_S mu_S = w_T

by duality (w_T is w in the order T), so that maximizing over w is one linear program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from budget_opt.errors import NotSolvedError


def steepest_slope(
    orders: Sequence[Sequence[int]], polytopes: Sequence[Sequence[Sequence[Any]]], unchanged: float
) -> float:
    """The largest (W(y) - c) / (y - 1) over y > 1, c = `unchanged`, for the unfoldings of the common part.

    exp(epsilon) is c over it. Cut at 1, which is above c: there one category is enough, or nothing is
    common. Raises NotSolvedError where HiGHS gives up.
    """
    import numpy as np
    from scipy.optimize import linprog

    vertices = [np.array(polytope, dtype=np.float64) for polytope in polytopes]
    size, count = vertices[0].shape[1], len(vertices)
    block = count * (size + 1)
    # variables: w (size), z, t, then for every order T and polytope S: mu (size), eta
    width = size + 2 + len(orders) * block
    equal, less = [np.r_[np.ones(size), -1.0, np.zeros(width - size - 1)]], []
    less += [_entries(width, {i: 1.0, size: -1.0}) for i in range(size)]
    for k, order in enumerate(orders):
        starts = [size + 2 + k * block + s * (size + 1) for s in range(count)]
        less.append(_entries(width, {size + 1: 1.0, size: unchanged, **{s + size: -1.0 for s in starts}}))
        for place, code in enumerate(order):
            equal.append(_entries(width, {code: -1.0, **{s + place: 1.0 for s in starts}}))
        for start, polytope in zip(starts, vertices, strict=True):
            rows = np.zeros((len(polytope), width))
            rows[:, start : start + size], rows[:, start + size] = -polytope, 1.0
            less += list(rows)
    found = linprog(
        _entries(width, {size + 1: -1.0}),
        A_ub=np.array(less),
        b_ub=np.zeros(len(less)),
        A_eq=np.array(equal),
        b_eq=np.r_[1.0, np.zeros(len(equal) - 1)],
        bounds=[(0, None)] * (size + 1) + [(None, 1)] + [(None, None)] * (width - size - 2),
        method="highs",
    )
    if found.status != 0 or found.fun is None:
        raise NotSolvedError(
            f"hamming: HiGHS did not solve the linear program of {count} pieces over {size} categories "
            f"({found.message}); state fewer pieces, or pieces with fewer distributions"
        )
    return -float(found.fun)


def _entries(width: int, numbers: dict[int, float]) -> Any:
    import numpy as np

    row = np.zeros(width)
    row[list(numbers)] = list(numbers.values())
    return row
