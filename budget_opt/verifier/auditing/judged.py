"""What is judged as one: an attribute that is randomized alone, or a cluster by its joint categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.tables.counting import join_into
from budget_opt.verifier.auditing.rows import Codes


@dataclass(frozen=True)
class Judged:
    """A block, by those of its `members` that come back: all of them where it is released.

    `columns` are the numbers of these among the allocation's attributes.
    """

    block: AllocatedBlock
    members: tuple[Attribute, ...]
    columns: tuple[int, ...]

    @property
    def name(self) -> str:
        """The attribute's name, or those of the members."""
        return Block(self.members).name

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of every member."""
        return tuple(member.cardinality for member in self.members)

    @property
    def cardinality(self) -> int:
        """The number of (joint) categories."""
        return math.prod(self.shape)

    @property
    def epsilon(self) -> float:
        """Of a change of any of the members, in nats."""
        return self.block.epsilon

    @property
    def is_released(self) -> bool:
        """True where the reports depend on the truth."""
        return self.block.is_released

    @property
    def truth_probability(self) -> float:
        """P(report = truth) of all members at once, for a uniform truth (of whatever background)."""
        sampler = self.block.sampler
        if isinstance(sampler, MatrixSampler):
            same = sum((row[code] for code, row in enumerate(sampler.matrix.rows)), Fraction(0))
            return float(same / self.cardinality)
        kept = self.block.exact_retention
        return float(kept + (1 - kept) / self.cardinality)

    def label(self, code: int) -> str:
        """A category in words: its label, or the labels of all members; r is a report outside the domain."""
        if code == self.cardinality:
            return "a value outside the domain"
        codes = np.unravel_index(code, self.shape)
        labels = [member.domain.labels[int(one)] for member, one in zip(self.members, codes, strict=True)]
        return repr(labels[0]) if len(labels) == 1 else repr(tuple(labels))

    def split(self, codes: Codes) -> Codes:
        """The codes of the members (members, records) for (joint) codes (records,)."""
        return np.stack(np.unravel_index(codes, self.shape)).astype(np.int32)

    def joined(self, codes: Sequence[Codes]) -> Codes:
        """The (joint) codes of the members' reports; r where any of them is outside its domain."""
        outside = np.any([one == r for one, r in zip(codes, self.shape, strict=True)], axis=0)
        joint = np.empty(codes[0].size, dtype=np.int32)
        join_into(joint, [np.where(outside, 0, one) for one in codes], self.shape)
        joint[outside] = self.cardinality
        return joint


def judged_blocks(
    blocks: Sequence[AllocatedBlock], names: Sequence[str], returned: Sequence[int]
) -> tuple[Judged, ...]:
    """The blocks with columns that come back; `returned` are the numbers of these among all `names`."""
    found = []
    for block in blocks:
        inside = [(member, names.index(member.name)) for member in block.members]
        there = [(member, column) for member, column in inside if column in returned]
        if there:
            members, columns = zip(*there, strict=True)
            found.append(Judged(block, members, columns))
    return tuple(found)
