"""Partitions one step away: two blocks merged, an attribute moved, two attributes exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

from budget_opt.certificate.partitions.choice import Block, Choice, Partition, ordered


def neighbours(choice: Choice, partition: Partition) -> tuple[Partition, ...]:
    """All that are admissible, in a fixed order, without the partition itself."""
    found = dict.fromkeys(chain(_steps(choice, partition), _exchanged(choice, partition)))
    found.pop(partition, None)
    return tuple(found)


def _steps(choice: Choice, partition: Partition) -> Iterator[Partition]:
    blocks = set(partition)
    for first, second in combinations(partition, 2):
        if choice.admits(merged := _joined(first, second)):
            yield ordered(blocks - {first, second} | {merged})
    for block in partition:
        if len(block) == 1:
            continue
        for i in block:
            left = tuple(j for j in block if j != i)
            rest = blocks - {block} | {left}
            yield ordered(rest | {(i,)})
            for other in partition:
                if other != block and choice.admits(larger := _joined(other, (i,))):
                    yield ordered(rest - {other} | {larger})


def _exchanged(choice: Choice, partition: Partition) -> Iterator[Partition]:
    """Two members of different blocks in each other's place."""
    blocks = set(partition)
    for first, second in combinations(partition, 2):
        if len(first) == len(second) == 1:
            continue
        for i in first:
            for j in second:
                one = _joined(tuple(m for m in first if m != i), (j,))
                two = _joined(tuple(m for m in second if m != j), (i,))
                if choice.admits(one) and choice.admits(two):
                    yield ordered(blocks - {first, second} | {one, two})


def _joined(first: Block, second: Block) -> Block:
    return tuple(sorted((*first, *second)))
