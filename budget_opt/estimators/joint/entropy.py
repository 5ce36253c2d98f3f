"""The table of largest entropy with given pairs, by iterative proportional fitting (Deming and Stephan 1940).

From the uniform table, each pair's margin in turn is scaled to what is wanted. The limit is the
distribution of largest entropy among those with these pairs: the log-linear model without interactions of
three or more. Pairs from noisy counts may belong to no distribution at all; then the cycles do not
converge, and go on swinging between tables that each fit some pairs. They end when a cycle gains little,
and say how far off they are (`residual`). Memory is that of the table; a cycle reads and writes it once a
pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.joint.pairs import Pair, ratio

MOST_CYCLES = 50
LITTLE_GAIN = 0.95
"""The cycles end where one leaves more than this share of the residual of the one before."""
CLOSE = 1e-4
"""Residual at which the pairs are met, far below any sampling error that a release can have."""

TRACE = 1e-9
"""Share of independence in every pair."""


@dataclass(frozen=True)
class Completion:
    """A table with given pairs: its `shares`, and how well it has them.

    `residual` is the largest AVD, 1/2 sum |wanted - found|, of a pair in the last cycle; above `CLOSE` the
    pairs contradict each other, or the cycles ran out.
    """

    shares: FloatArray
    residual: float


def completed(pairs: Mapping[Pair, FloatArray], shape: tuple[int, ...]) -> Completion:
    """The table of this shape of largest entropy with these pairs of its axes."""
    table = np.full(shape, 1 / math.prod(float(r) for r in shape))
    positive = {pair: _positive(wanted) for pair, wanted in pairs.items()}
    before = math.inf
    for _ in range(MOST_CYCLES):
        residual = _cycle(table, positive)
        if residual <= CLOSE or residual > LITTLE_GAIN * before:
            break
        before = residual
    return Completion(table / table.sum(), residual)


def _positive(pair: FloatArray) -> FloatArray:
    """The pair with a trace of independence: empty cells that contradict each other would leave no cell."""
    product = np.outer(pair.sum(axis=1), pair.sum(axis=0))
    positive: FloatArray = (1 - TRACE) * pair + TRACE * product
    return positive


def _cycle(table: FloatArray, pairs: Mapping[Pair, FloatArray]) -> float:
    """Scale the table, in place, to each pair in turn; the largest AVD of a pair from what was found."""
    residual = 0.0
    for pair, wanted in pairs.items():
        others = tuple(axis for axis in range(table.ndim) if axis not in pair)
        found = table.sum(axis=others)
        residual = max(residual, float(np.abs(wanted - found).sum()) / 2)
        table *= np.expand_dims(ratio(wanted, found), others)
    return residual
