"""What every export is about: the attributes whose report depends on the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from budget_opt.allocation import AllocatedAttribute, Allocation
from budget_opt.errors import InputError
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.domain import Domain

LARGEST_MATRIX = 2048
"""Categories up to which a whole matrix is written or made: 32 MB of doubles."""


@dataclass(frozen=True)
class Released:
    """One attribute with its sampler."""

    attribute: AllocatedAttribute
    sampler: Sampler

    @property
    def name(self) -> str:
        """The attribute's name, also that of its column."""
        return self.attribute.name

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.attribute.domain

    @property
    def epsilon(self) -> float:
        """What the allocation gives it, in nats."""
        return self.attribute.epsilon


Content: TypeAlias = Callable[[Allocation, Sequence[Released], str], tuple[bytes, tuple[str, ...]]]
"""From an allocation, its released attributes and a file's ending to its bytes, and what to say of it."""


def released_of(allocation: Allocation) -> list[Released]:
    """The attributes with a sampler; the others have epsilon 0, or less than what any width implements."""
    return [
        Released(attribute, attribute.sampler)
        for attribute in allocation.attributes
        if attribute.sampler is not None
    ]


def require_small(attributes: Sequence[Released]) -> None:
    """Raise `InputError` for an attribute whose matrix is too large to be written as one."""
    for one in attributes:
        if one.sampler.cardinality > LARGEST_MATRIX:
            raise InputError(
                f"{one.name}: has {one.sampler.cardinality:,} categories; whole matrices are made up to "
                f"{LARGEST_MATRIX:,}. Make it coarser, or use budget-opt randomize, or --to opendp."
            )
