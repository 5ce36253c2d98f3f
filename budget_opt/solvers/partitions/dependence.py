"""Clusters of attributes that depend on each other: the rule of Domingo-Ferrer and Soria-Comas (2022).

"Multi-dimensional randomized response", IEEE TKDE 34(10), algorithm 1: from every attribute alone, merge the
two clusters that depend most on each other, as long as they depend by a least amount and have no more than
so many joint categories. Two clusters depend as much as the most dependent pair of their members.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from budget_opt.certificate.partitions.choice import Block, Choice, Partition, ordered
from budget_opt.model.arrays import FloatArray

LEAST = 0.1
"""Of a given dependence, from 0 to 1: what is less is none (the paper's threshold in its experiments)."""


def by_dependence(choice: Choice, dependence: FloatArray, least: float) -> Partition:
    """The partition by dependences (attributes, attributes), which are symmetric and >= 0; ties by order."""
    blocks, between = list(choice.alone), dependence
    while (pair := _most_dependent(choice, blocks, between, least)) is not None:
        i, j = pair
        blocks[i] = tuple(sorted((*blocks[i], *blocks.pop(j))))  # i < j: the order of first members stays
        joint = np.maximum(between[i], between[j])
        between = between.copy()
        between[i], between[:, i] = joint, joint
        between = np.delete(np.delete(between, j, axis=0), j, axis=1)
    return ordered(blocks)


def _most_dependent(
    choice: Choice, blocks: list[Block], between: FloatArray, least: float
) -> tuple[int, int] | None:
    """The two blocks, by index, that depend most on each other and may be merged; None where none do."""
    rows, columns = np.triu_indices(len(blocks), 1)
    strength = between[rows, columns]
    for n in np.argsort(-strength, kind="stable"):
        i, j = int(rows[n]), int(columns[n])
        if strength[n] <= 0 or strength[n] < least:
            return None
        if choice.admits(tuple(sorted((*blocks[i], *blocks[j])))):
            return i, j
    return None


def from_weights(choice: Choice) -> FloatArray:
    """A stand-in where no dependence is known: the weights of a pair's moments, as shares of the largest."""
    found = np.zeros((choice.size, choice.size))
    for moment, members in zip(choice.problem.moments, choice.members, strict=True):
        for i, j in combinations(members, 2):
            found[i, j] += moment.weight
            found[j, i] += moment.weight
    top = float(np.max(found, initial=0.0))
    return found / top if top > 0 else found


def from_pairs(choice: Choice, pairs: Mapping[tuple[str, str], float]) -> FloatArray:
    """Given dependences of pairs of attributes, 0 where none is given."""
    index = {name: i for i, name in enumerate(choice.problem.names)}
    found = np.zeros((choice.size, choice.size))
    for (first, second), strength in pairs.items():
        i, j = index[first], index[second]
        found[i, j] = found[j, i] = max(found[i, j], strength)
    return found
