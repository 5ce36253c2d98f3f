"""Partitions: all of them, those next to one, and those by dependence."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.certificate.partitions.choice import Choice, Partition, admissible, ordered
from budget_opt.certificate.partitions.listing import listed
from budget_opt.solvers.partitions.dependence import by_dependence, from_weights
from budget_opt.solvers.partitions.moves import neighbours
from tests.solvers.partitions.designs import set_partitions

BELL = (1, 2, 5, 15, 52, 203, 877)


def choice(sizes: tuple[int, ...], max_cells: int = 10**6, **fields: object) -> Choice:
    names = [f"x{i}" for i in range(len(sizes))]
    attributes = [bo.Attribute(name, categories=r) for name, r in zip(names, sizes, strict=True)]
    moments = [bo.CrossMoment(*pair) for pair in itertools.combinations(names, 2)] or [bo.CrossMoment("x0")]
    problem = bo.Problem(
        **{"attributes": attributes, "moments": moments, "total_epsilon": 2.0, "clusters": "auto", **fields}
    )
    return Choice.of(problem, max_cells)


@pytest.mark.parametrize("size", range(1, 8))
def test_all_partitions_are_listed_once(size: int) -> None:
    asked = choice((2,) * size)
    blocks = admissible(asked, 10_000)
    assert blocks is not None
    listing = listed(blocks, size, 10_000)
    assert listing is not None
    found = [listing.partition(n) for n in range(listing.size)]
    assert len(found) == len(set(found)) == BELL[size - 1]
    assert listed(blocks, size, BELL[size - 1] - 1) is None


@pytest.mark.parametrize("max_cells", [4, 6, 12, 30])
def test_clusters_have_no_more_cells_than_allowed(max_cells: int) -> None:
    sizes = (2, 3, 2, 5, 4)
    asked = choice(sizes, max_cells)
    blocks = admissible(asked, 10_000)
    assert blocks is not None
    listing = listed(blocks, len(sizes), 10_000)
    assert listing is not None
    names = tuple(str(i) for i in range(len(sizes)))
    expected = {
        ordered([int(i) for i in block] for block in partition)
        for partition in set_partitions(names)
        if all(len(b) == 1 or math.prod(sizes[int(i)] for i in b) <= max_cells for b in partition)
    }
    assert {listing.partition(n) for n in range(listing.size)} == expected


def test_of_partitions_that_differ_by_a_permutation_of_equals_one_is_listed() -> None:
    asked = choice((2,) * 7)
    blocks = admissible(asked, 10_000)
    assert blocks is not None
    all_alike = listed(blocks, 7, 10_000, [range(7)])
    assert all_alike is not None
    assert all_alike.size == 15  # the ways to write 7 as a sum
    two_kinds = listed(blocks, 7, 10_000, [range(6)])
    assert two_kinds is not None
    assert two_kinds.size == 30  # the sum over j of the ways to write 6 - j: 11 + 7 + 5 + 3 + 2 + 1 + 1


def test_pins_that_disagree_are_never_joined() -> None:
    attributes = [bo.Attribute(f"x{i}", categories=2, epsilon=0.1 * (1 + i % 2)) for i in range(4)]
    asked = choice((2,) * 4, attributes=attributes)
    blocks = admissible(asked, 100)
    assert blocks is not None
    assert {block for block in blocks if len(block) > 1} == {(0, 2), (1, 3)}


def test_steps_lead_from_any_partition_to_any_other() -> None:
    asked = choice((2, 2, 2, 2))
    seen: set[Partition] = {asked.alone}
    front = [asked.alone]
    while front:
        front = [one for at in front for one in neighbours(asked, at) if one not in seen]
        seen |= set(front)
    assert len(seen) == BELL[3]
    assert all(at not in neighbours(asked, at) for at in seen)


def test_the_most_dependent_clusters_are_merged_first_while_they_fit() -> None:
    asked = choice((2, 3, 4, 2), max_cells=12)
    dependence = np.zeros((4, 4))
    for (i, j), strength in {(0, 1): 0.5, (1, 2): 0.9, (0, 2): 0.2, (2, 3): 0.3, (0, 3): 0.05}.items():
        dependence[i, j] = dependence[j, i] = strength
    # 1 and 2 first (12 cells: full); 0 and 3 depend by less than the least
    assert by_dependence(asked, dependence, 0.1) == ((0,), (1, 2), (3,))
    assert by_dependence(asked, dependence, 0.01) == ((0, 3), (1, 2))
    # one chain: two clusters depend as much as their most dependent pair
    assert by_dependence(choice((2, 3, 4, 2)), dependence, 0.1) == ((0, 1, 2, 3),)


def test_weights_stand_in_for_dependences() -> None:
    moments = [bo.CrossMoment("x0", "x2", weight=3.0), bo.CrossMoment("x0", "x1", "x2", weight=1.0)]
    found = from_weights(choice((2, 2, 2), moments=moments))
    assert found.tolist() == [[0.0, 0.25, 1.0], [0.25, 0.0, 0.25], [1.0, 0.25, 0.0]]
