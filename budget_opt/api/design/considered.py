"""How many designs there are to choose from: partitions, and combinations of groupings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from budget_opt.solvers.partitions.search import Found


@dataclass(frozen=True)
class Considered:
    """What the bound of a design holds for.

    `partitions` are those into clusters of at most `max_cells` joint categories whose members' bounds agree,
    the most under one combination of groupings; `distinct` leaves out those that differ from another by a
    swap of interchangeable attributes alone; `designs` are partitions with groupings, of which there are
    `groupings` combinations, 1 without candidates. All but that are None where they were too many to list, or
    not all was looked at.
    """

    partitions: int | None
    distinct: int | None
    designs: int | None
    groupings: int

    def __str__(self) -> str:
        """What stands behind the bound: "among all 52 partitions"."""
        if self.partitions is None:
            return "over all partitions" + self._times()
        count = f"{self.partitions:,} partitions"
        if self.designs == self.partitions * self.groupings:
            told = f"among all {count}{self._times()}"
        else:
            told = (
                f"among all {self.designs:,} designs, {count} at most under each of {self.groupings} "
                "combinations of groupings,"
            )
        if self.distinct == self.partitions:
            return told
        return f"{told} ({self.distinct:,} of the partitions differ by more than swaps of equal attributes)"

    def _times(self) -> str:
        return f" times {self.groupings} combinations of groupings" if self.groupings > 1 else ""


def considered(found: Sequence[Found], groupings: int) -> Considered:
    """The counts of what was found under the combinations of groupings that were looked at."""
    listed = [one.listed for one in found if one.listed is not None]
    if len(listed) < groupings:
        return Considered(None, None, None, groupings)
    most = max(found, key=lambda one: one.listed or 0)
    return Considered(most.listed, most.distinct, sum(listed), groupings)
