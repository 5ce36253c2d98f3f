"""Allocations with clusters that are small enough to enumerate, and the law of their reports in fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import budget_opt as bo
from budget_opt.allocation.blocks import AllocatedBlock

Record = tuple[int, ...]


def two_clusters(total: float = 2.5) -> bo.Allocation:
    """Clusters a + c and b + d, of which the members do not stand side by side, and an attribute alone."""
    problem = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=2),
            bo.Attribute("b", categories=2),
            bo.Attribute("c", categories=3),
            bo.Attribute("d", categories=2),
            bo.Attribute("e", categories=2),
        ],
        moments=[bo.CrossMoment("a", "c"), bo.CrossMoment("a", "c", "e"), bo.CrossMoment("b", "d", "e")],
        clusters=[("a", "c"), ("b", "d")],
        total_epsilon=total,
        groups=[bo.Group("g", attributes=["a", "b"], epsilon_max=2.2)],
    )
    return bo.allocation_from(problem, {"a": 1.1, "b": 0.8, "c": 1.1, "d": 0.8, "e": 0.5})


def records(shape: Sequence[int]) -> Iterator[Record]:
    """All of them."""
    return product(*map(range, shape))


def chance(block: AllocatedBlock, truth: Record, report: Record) -> Fraction:
    """P(report | truth) of one block, from what its integers say and nothing else."""
    assert block.sampler is not None
    r, words = math.prod(block.shape), 2**block.sampler.bits
    q = block.sampler.q
    return Fraction(words - (r - 1) * q if truth == report else q, words)


def law(allocation: bo.Allocation, truth: Record) -> dict[Record, Fraction]:
    """P(report | truth) of whole records, in the order of the attributes."""
    names = [attribute.name for attribute in allocation.attributes]
    columns = [[names.index(name) for name in block.names] for block in allocation.blocks]
    found = {}
    for report in records([attribute.cardinality for attribute in allocation.attributes]):
        found[report] = math.prod(
            (
                chance(block, tuple(truth[c] for c in own), tuple(report[c] for c in own))
                for block, own in zip(allocation.blocks, columns, strict=True)
            ),
            start=Fraction(1),
        )
    return found
