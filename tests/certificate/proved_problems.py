"""Small weighted sums of every kind, solved with a record of what proves them."""

from __future__ import annotations

from functools import cache

import numpy as np

from budget_opt.certificate.proof.proof import TreeProof
from budget_opt.model.arrays import Arrays
from budget_opt.solvers.answer import Candidate, Settings
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import build

GAP = 1e-4
_PAIRS = [[i, j] for i in range(5) for j in range(i + 1, 5)]
_MIXED = [[0, 1], [1, 2], [0, 3], [2, 4], [3, 4], [0, 1, 2], [1, 3, 4], [2], [0, 1, 3, 4]]


def _weights(count: int) -> list[float]:
    return np.random.default_rng(count).lognormal(0, 1, count).tolist()


PROBLEMS: dict[str, Arrays] = {
    "pairs": build("weighted_sum", [4, 9, 3, 16, 6], _PAIRS, 6.0, weight=_weights(10)),
    "all orders": build("weighted_sum", [4, 9, 3, 16, 6], _MIXED, 9.0, weight=_weights(9)),
    "floors": build(
        "weighted_sum",
        [4, 9, 3, 16, 6],
        _PAIRS,
        8.0,
        weight=_weights(10),
        floor=[0, 0.05, 0, 0, 0, 0, 0.08, 0, 0, 0],
    ),
    "groups": build("weighted_sum", [4, 9, 3, 16, 6], _PAIRS, 8.0, [([0, 1, 2], 3.5)], weight=_weights(10)),
    "ceilings": build(
        "weighted_sum",
        [4, 9, 3, 16, 6],
        _PAIRS,
        6.0,
        weight=_weights(10),
        ceiling=[1, 0.2, 1, 1, 0.15, 1, 1, 1, 1, 1],
    ),
    "pins and bounds": build(
        "weighted_sum",
        [4, 9, 3, 16, 6],
        _PAIRS,
        8.0,
        weight=_weights(10),
        lower=[0, 0.5, 1.0, 0, 0],
        upper=[2.0, 0.5, 9, 9, 3.0],
    ),
    "twins": build("weighted_sum", [4] * 5, _PAIRS, 7.0),
    "everything pinned": build("weighted_sum", [4, 5], [[0, 1]], 3.0, lower=[1.0, 2.0], upper=[1.0, 2.0]),
    "no weight": build("weighted_sum", [4, 5], [[0, 1]], 3.0, weight=[0.0]),
}


@cache
def proved(name: str) -> tuple[Arrays, Candidate, TreeProof]:
    """One of the problems, its best split, and the proof of its bound."""
    arrays = PROBLEMS[name]
    found = solve(arrays, Settings(gap=GAP, record=True))
    assert found.certificate.proof is not None
    return arrays, found, found.certificate.proof
