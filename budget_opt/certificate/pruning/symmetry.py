"""Interchangeable attributes: to swap two of them changes nothing, so some optimum has them in order."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from budget_opt.model.arrays import Arrays, IntArray

_Terms = dict[frozenset[int], tuple[float, float, float]]


def classes(arrays: Arrays) -> tuple[IntArray, ...]:
    """The classes of attributes with the same cardinality, bounds, budgets, and terms up to a swap.

    To be interchangeable is transitive: the swaps of i, j and of j, k give that of i, k.
    """
    terms = _terms(arrays)
    of_attribute: dict[int, list[frozenset[int]]] = defaultdict(list)
    for members in terms:
        for m in members:
            of_attribute[m].append(members)
    found: list[list[int]] = []
    alike = defaultdict(list)
    for m in range(arrays.blocks):
        alike[_signature(arrays, terms, of_attribute[m], m)].append(m)
    for candidates in alike.values():
        groups: list[list[int]] = []
        for m in candidates:
            for group in groups:
                if _swappable(terms, of_attribute, group[0], m):
                    group.append(m)
                    break
            else:
                groups.append([m])
        found += [group for group in groups if len(group) > 1]
    return tuple(np.array(group) for group in found)


def _terms(arrays: Arrays) -> _Terms:
    """Weight, floor and ceiling of every set of attributes; equal sets are summed."""
    terms: _Terms = {}
    for k in range(arrays.moments):
        members = frozenset(int(m) for m in arrays.members(k))
        weight, floor, ceiling = terms.get(members, (0.0, -np.inf, 0.0))
        terms[members] = (
            weight + float(arrays.weight[k]),
            max(floor, float(arrays.log_floor[k])),
            min(ceiling, float(arrays.log_ceiling[k])),
        )
    return terms


def _signature(arrays: Arrays, terms: _Terms, own: list[frozenset[int]], m: int) -> tuple[object, ...]:
    """Equal for interchangeable attributes."""
    groups = tuple(index for index, budget in enumerate(arrays.budgets) if m in budget.members)
    listed = tuple(sorted((len(members), *terms[members]) for members in own))
    return (arrays.cardinality[m], arrays.lower[m], arrays.stated_upper[m], groups, listed)


def _swappable(terms: _Terms, of_attribute: dict[int, list[frozenset[int]]], i: int, j: int) -> bool:
    for first, second in ((i, j), (j, i)):
        for members in of_attribute[first]:
            if second not in members and terms.get(members - {first} | {second}) != terms[members]:
                return False
    return True
