"""Which columns a release under an allocation has, and how those of a table differ from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from budget_opt.allocation.allocation import Allocation


@dataclass(frozen=True)
class OtherColumns:
    """How a table's columns differ from those of a release: `absent` ones, and `more` than there may be."""

    absent: tuple[str, ...]
    more: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.absent or self.more)


def other_columns(allocation: Allocation, names: Iterable[str]) -> OtherColumns:
    """Released columns that are not among `names`, and names that no released column has."""
    found = tuple(names)
    allowed = {*allocation.released, *(one.name for one in allocation.attributes)}
    return OtherColumns(
        absent=tuple(name for name in allocation.released if name not in found),
        more=tuple(name for name in found if name not in allowed),
    )
