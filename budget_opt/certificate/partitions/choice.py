"""What may be randomized together, and the problem of every partition.

An attribute is its index in the problem, a block a rising tuple of them, a partition the tuple of its blocks
in the order of their first members, which is the order of the arrays of the problem with these clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from budget_opt.certificate.box import cap_at_least
from budget_opt.model.arrays import MINIMIZED, Arrays, BoolArray, FloatArray, Objective
from budget_opt.model.clusters.block import Block as ModelBlock
from budget_opt.model.problem import Problem

Block = tuple[int, ...]
Partition = tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """The partitions of a problem's attributes whose clusters have at most `max_cells` joint categories.

    The clusters that the problem states are of no account. `objective` takes the place of its own.
    """

    problem: Problem
    max_cells: int
    objective: Objective

    @classmethod
    def of(cls, problem: Problem, max_cells: int, objective: Objective | None = None) -> Choice:
        """The choice for a problem, with its own objective or another."""
        return cls(problem, max_cells, problem.objective if objective is None else objective)

    @property
    def size(self) -> int:
        """The number of attributes."""
        return len(self.problem.attributes)

    @property
    def minimized(self) -> bool:
        """True where a smaller value is better."""
        return self.objective in MINIMIZED

    @property
    def alone(self) -> Partition:
        """No clusters."""
        return tuple((i,) for i in range(self.size))

    def named(self, partition: Partition) -> tuple[tuple[str, ...], ...]:
        """The clusters of a partition by the names of their members."""
        names = self.problem.names
        return tuple(tuple(names[i] for i in block) for block in partition if len(block) > 1)

    def partition_of(self, clusters: Iterable[Iterable[str]]) -> Partition:
        """The partition with these clusters, all other attributes alone."""
        index = {name: i for i, name in enumerate(self.problem.names)}
        joined = [tuple(sorted(index[name] for name in names)) for names in clusters]
        inside = {i for block in joined for i in block}
        return ordered([*joined, *((i,) for i in range(self.size) if i not in inside)])

    def with_partition(self, partition: Partition) -> Problem:
        """The problem with these clusters; raises `ProblemError` where its budgets do not allow them."""
        clusters = self.named(partition)
        return self.problem.with_fields(clusters=clusters, max_cells=self.max_cells if clusters else None)

    def arrays(self, partition: Partition) -> Arrays:
        """The numeric view of the problem with these clusters; raises as `with_partition` does."""
        return replace(self.with_partition(partition).arrays, objective=self.objective)

    def admits(self, block: Block) -> bool:
        """True where these may be randomized as one: few enough cells, and bounds that agree."""
        if len(block) == 1:
            return True
        if math.prod(self.cells[i] for i in block) > self.max_cells:
            return False  # most are refused here, without building anything
        built = ModelBlock(tuple(self.problem.attributes[i] for i in block))
        return built.lower <= built.upper

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """The categories of every attribute."""
        return tuple(attribute.cardinality for attribute in self.problem.attributes)

    @cached_property
    def members(self) -> tuple[Block, ...]:
        """The attributes of every moment."""
        index = {name: i for i, name in enumerate(self.problem.names)}
        return tuple(
            tuple(index[name] for name in moment.attributes if name in index)
            for moment in self.problem.moments
        )

    @cached_property
    def spreads(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """(a, b) of DESIGN 2.3 of every set of every moment's members: bit j of the index is member j."""
        return tuple(self._spreads_of(members) for members in self.members)

    def spread_of(self, k: int, block: Block) -> tuple[float, float]:
        """(a, b) of the members that moment k has of a block."""
        code = sum(1 << j for j, i in enumerate(self.members[k]) if i in block)
        a, b = self.spreads[k]
        return float(a[code]), float(b[code])

    def _spreads_of(self, members: Block) -> tuple[FloatArray, FloatArray]:
        attributes = [self.problem.attributes[i] for i in members]
        sets = [
            [one for j, one in enumerate(attributes) if code >> j & 1] for code in range(2 ** len(members))
        ]
        found = [
            ModelBlock(tuple(chosen)).spread_of([one.name for one in chosen]) if chosen else (1.0, 1.0)
            for chosen in sets
        ]
        return np.array([a for a, _ in found]), np.array([b for _, b in found])

    @cached_property
    def plain(self) -> bool:
        """True where every variance inflation is 1 / R^2: uniform marginals throughout."""
        return all(bool(np.all(a == 1.0) and np.all(b == 1.0)) for a, b in self.spreads)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Some blocks (n,) with what bounds need of them.

    `lower`, `upper` (n,) enclose the epsilon that a block has in any partition, by a unit in the last place,
    for a decimal and its double differ; `counted` (n, K) are the members that a moment has of it, `paid`
    (n, J) is true where a budget counts it.
    """

    listed: tuple[Block, ...]
    member: BoolArray
    cardinality: FloatArray
    lower: FloatArray
    upper: FloatArray
    counted: FloatArray
    paid: BoolArray

    @classmethod
    def of(cls, choice: Choice, listed: Sequence[Block]) -> Blocks:
        """The blocks of a choice."""
        size, attributes = choice.size, choice.problem.attributes
        member = np.zeros((len(listed), size), dtype=bool)
        for n, block in enumerate(listed):
            member[n, list(block)] = True
        budgets = choice.problem.budgets()
        inside = _rows(
            [[choice.problem.names.index(name) for name in names] for _, names, _ in budgets], size
        )
        cap = np.array([cap_at_least(limit) for _, _, limit in budgets])
        moments = _rows(choice.members, size)
        effective = np.array([attribute.effective_cardinality for attribute in attributes])
        lower = np.array([attribute.lower for attribute in attributes])
        least = np.max(np.where(member, lower, 0.0), axis=1)
        if any(attribute.least_retention > 0 for attribute in attributes):
            # the more joint categories, the more epsilon a distortion needs
            least = np.array([ModelBlock(tuple(attributes[i] for i in block)).lower for block in listed])
        upper = np.array([attribute.upper for attribute in attributes])
        paid = member.astype(np.float64) @ inside.T > 0
        stated = np.min(np.where(member, upper, np.inf), axis=1)
        return cls(
            tuple(listed),
            member,
            np.prod(np.where(member, effective, 1.0), axis=1),
            least * (1 - 2**-52),
            np.minimum(stated, np.min(np.where(paid, cap, np.inf), axis=1, initial=np.inf)) * (1 + 2**-52),
            member.astype(np.float64) @ moments.T,
            paid,
        )

    def positions(self) -> dict[Block, int]:
        """The row of every block."""
        return {block: n for n, block in enumerate(self.listed)}


def _rows(lists: Sequence[Sequence[int]], width: int) -> FloatArray:
    rows = np.zeros((len(lists), width))
    for row, columns in zip(rows, lists, strict=True):
        row[list(columns)] = 1.0
    return rows


def ordered(blocks: Iterable[Iterable[int]]) -> Partition:
    """The partition of these blocks."""
    return tuple(sorted(tuple(sorted(block)) for block in blocks))


def no_check() -> None:
    """For work that nothing ends early."""


def admissible(choice: Choice, most: int, check: Callable[[], None] = no_check) -> tuple[Block, ...] | None:
    """All blocks that a partition may have, those of one attribute first; None for more than `most`.

    `check` is called now and then, and may raise to end the work.
    """
    cells = choice.cells
    found: list[Block] = [(i,) for i in range(choice.size)]
    front: list[Block] = list(found)
    while front:
        check()
        larger = [
            (*block, i)
            for block in front
            for i in range(block[-1] + 1, choice.size)
            if math.prod(cells[j] for j in block) * cells[i] <= choice.max_cells
        ]
        # bounds that do not agree never do in a larger block either
        front = [block for block in larger if choice.admits(block)]
        found += front
        if len(found) > most:
            return None
    return tuple(found)
