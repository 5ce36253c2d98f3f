"""Clusters of attributes that depend on each other: the rule of Domingo-Ferrer and Soria-Comas (2022).

"Multi-dimensional randomized response", IEEE TKDE 34(10), algorithm 1: from every attribute alone, merge the
two clusters that depend most on each other, as long as they depend by a least amount and have no more than
so many joint categories. Two clusters depend as much as the most dependent pair of their members.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.partitions.choice import Block, Choice, Partition, ordered

LEAST = 0.1
"""Of a given dependence, from 0 to 1: what is less is none (the paper's threshold in its experiments)."""


def by_dependence(choice: Choice, dependence: FloatArray, least: float) -> Partition:
    """The partition by dependences (attributes, attributes), which are symmetric and >= 0; ties by order."""
    blocks = list(choice.alone)
    while True:
        pairs = [
            (_between(dependence, one, two), one, two)
            for one, two in combinations(blocks, 2)
            if choice.admits(tuple(sorted((*one, *two))))
        ]
        strength, one, two = max(pairs, key=lambda pair: pair[0], default=(0.0, (), ()))
        if strength <= 0 or strength < least:
            return ordered(blocks)
        blocks = [block for block in blocks if block not in {one, two}]
        blocks = list(ordered([*blocks, (*one, *two)]))


def _between(dependence: FloatArray, one: Block, two: Block) -> float:
    return float(np.max(dependence[np.ix_(one, two)]))


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
