"""What becomes of every column of a table: randomized, released as it is, or left out (R16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from budget_opt.allocation import AllocatedBlock, Allocation
from budget_opt.errors import DataError
from budget_opt.model.domain import Domain
from budget_opt.model.moments.moment import Unit
from budget_opt.tables.source import Source, listed, require_columns


@dataclass(frozen=True)
class Plan:
    """The released columns in the table's order; those of `blocks` are randomized, all others public.

    `unit` says whose privacy the allocation is for, and how many records a person may have.
    """

    columns: tuple[str, ...]
    blocks: tuple[AllocatedBlock, ...]
    unit: Unit

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """The declared domains of the randomized columns, in the table's order."""
        domains = {member.name: member.domain for block in self.blocks for member in block.members}
        return {name: domains[name] for name in self.columns if name in domains}

    @property
    def public(self) -> tuple[str, ...]:
        """The columns that are released as they are."""
        return tuple(name for name in self.columns if name not in self.domains)


def plan_for(source: Source, allocation: Allocation, *, include_empty: bool) -> Plan:
    """The plan of a table under an allocation.

    A block without a sampler (epsilon 0, or below what any width implements) is left out unless
    `include_empty`: columns of pure noise mislead. All members of a cluster are in the table, and all of
    them are released or none. Raises `DataError` for absent columns, columns
    without a budget, public columns of nested types, and where no column would be released.
    """
    attributes = [attribute.name for attribute in allocation.attributes]
    # first: only a table with all of these has a header whose other names may be printed
    require_columns([*attributes, *allocation.public], source)
    known = {*attributes, *allocation.public, *allocation.dropped}
    unknown = [name for name in source.names if name not in known]
    if unknown:
        raise DataError(
            f"{source.title}: these columns have no budget: {listed(unknown)}. Give each a budget as an "
            "attribute, list it under public with the reason, or list it under dropped, and solve again.",
            column=unknown[0],
        )
    _require_flat(allocation.public, source)
    blocks = tuple(block for block in allocation.blocks if block.is_released or include_empty)
    randomized = {name for block in blocks for name in block.names}
    columns = tuple(name for name in source.names if name in randomized or name in allocation.public)
    if not columns:
        raise DataError(
            f"{source.title}: no column would be released: every attribute has epsilon 0 or is dropped. "
            "Give an attribute a budget, or ask for the empty columns."
        )
    return Plan(columns, blocks, allocation.unit)


def _require_flat(public: Sequence[str], source: Source) -> None:
    """`DataError` for public columns with columns inside, which would keep values that no row has (R15)."""
    nested = {name: kind for name in public if (kind := source.nested(name))}
    if nested:
        told = ", ".join(f"{name!r} ({kind})" for name, kind in nested.items())
        raise DataError(
            f"{source.title}: these public columns are of a nested type: {told}. It may keep values that no "
            "row has. Flatten them into plain columns, or list them under dropped.",
            column=next(iter(nested)),
        )
