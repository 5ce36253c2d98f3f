"""The tables of all pairs of attributes, each fitted by itself and then made to agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.joint.held_out import likelihood_by_held_out
from budget_opt.estimators.joint.likelihood import LikelihoodFit
from budget_opt.estimators.releases.counting import Counts

_RAKING_CYCLES = 1000
_RAKED = 1e-9

Pair = tuple[int, int]
"""Two axes of a table, the lower one first."""


def fitted_pairs(
    counts: Counts, channels: Sequence[Channel], rng: np.random.Generator
) -> dict[Pair, LikelihoodFit]:
    """The distribution of each pair of axes by expectation-maximization, stopped by held-out likelihood."""
    return {
        (i, j): likelihood_by_held_out(
            counts.marginal(counts.attributes[i], counts.attributes[j]), (channels[i], channels[j]), rng
        )
        for i, j in combinations(range(len(channels)), 2)
    }


def agreeing(pairs: Mapping[Pair, FloatArray]) -> dict[Pair, FloatArray]:
    """The pairs with one marginal an axis, the mean of those that the pairs have.

    Each pair is raked to it (iterative proportional fitting to two marginals), which keeps its odds ratios.
    """
    found: dict[int, list[FloatArray]] = {}
    for (first, second), table in pairs.items():
        found.setdefault(first, []).append(table.sum(axis=1))
        found.setdefault(second, []).append(table.sum(axis=0))
    marginals = {axis: np.mean(several, axis=0) for axis, several in found.items()}
    return {pair: _raked(table, marginals[pair[0]], marginals[pair[1]]) for pair, table in pairs.items()}


def _raked(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    for _ in range(_RAKING_CYCLES):
        table = table * ratio(rows, table.sum(axis=1))[:, np.newaxis]
        table = table * ratio(columns, table.sum(axis=0))
        if np.abs(table.sum(axis=1) - rows).sum() <= _RAKED:
            break
    return table


def ratio(wanted: FloatArray, found: FloatArray) -> FloatArray:
    """wanted / found, 0 where nothing was found: what has no mass cannot be scaled up."""
    return np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
