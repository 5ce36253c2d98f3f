"""What every export is about: the blocks whose report depends on the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from budget_opt.allocation import AllocatedBlock, Allocation
from budget_opt.errors import InputError
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.model.attribute import Attribute
from budget_opt.model.domain import Domain

LARGEST_MATRIX = 2048
"""Categories up to which a whole matrix is written or made: 32 MB of doubles."""


@dataclass(frozen=True)
class Released:
    """One block with its sampler: an attribute, or a cluster, which is one joint variable."""

    block: AllocatedBlock
    sampler: AnySampler

    @property
    def name(self) -> str:
        """The attribute's name, also that of its column, or those of a cluster: smoker + income."""
        return self.block.name

    @property
    def members(self) -> tuple[Attribute, ...]:
        """The columns as declared, in the order of the joint code."""
        return self.block.members

    @property
    def is_cluster(self) -> bool:
        """Whether it is the joint variable of several columns."""
        return self.block.is_cluster

    @property
    def epsilon(self) -> float:
        """What the allocation gives it, in nats."""
        return self.block.epsilon


Content: TypeAlias = Callable[[Allocation, Sequence[Released], str], tuple[bytes, tuple[str, ...]]]
"""From an allocation, its released blocks and a file's ending to its bytes, and what to say of it."""


def released_of(allocation: Allocation) -> list[Released]:
    """The blocks with a sampler; the others have epsilon 0, or less than what any width implements."""
    return [Released(block, block.sampler) for block in allocation.blocks if block.sampler is not None]


def read_domain(attribute: Attribute) -> Domain:
    """The categories that cells are read in: the declared ones, also where a report has merged ones."""
    return attribute.domain.fine or attribute.domain


def require_small(blocks: Sequence[Released]) -> None:
    """Raise `InputError` for a block whose matrix is too large to be written as one."""
    for one in blocks:
        if one.sampler.cardinality > LARGEST_MATRIX:
            what = "joint categories" if one.is_cluster else "categories"
            raise InputError(
                f"{one.name}: has {one.sampler.cardinality:,} {what}; whole matrices are made up to "
                f"{LARGEST_MATRIX:,}. Make it coarser, or use budget-opt randomize, or --to opendp."
            )
