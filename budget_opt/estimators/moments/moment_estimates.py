"""Several moments of one release: a sequence, and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from budget_opt.allocation.merging import AS_RELEASED
from budget_opt.estimators.estimate import MomentEstimate, Target, circumstances, normal_quantile, sentence
from budget_opt.estimators.number_texts import estimates_columns
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, kw_only=True)
class MomentEstimates(Rows, Sequence[MomentEstimate]):
    """The corrected moments of one release in the order in which they were asked for.

    `n` is its number of rows, `target` what errors are measured from, `weighted_by` the column of survey
    weights, None for none.
    """

    moments: tuple[MomentEstimate, ...]
    n: int
    target: Target
    weighted_by: str | None = None
    kind: Literal["estimated"] = "estimated"

    @overload
    def __getitem__(self, index: int) -> MomentEstimate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MomentEstimate, ...]: ...
    def __getitem__(self, index: int | slice) -> MomentEstimate | tuple[MomentEstimate, ...]:
        return self.moments[index]

    def __len__(self) -> int:
        return len(self.moments)

    def __iter__(self) -> Iterator[MomentEstimate]:
        return iter(self.moments)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of any of them, once."""
        return tuple(dict.fromkeys(note for moment in self.moments for note in moment.notes))

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """A row a moment, with its interval at `level`."""
        normal_quantile(level)
        return [row for moment in self.moments for row in moment.rows(level)]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All moments as plain values for JSON, with intervals at `level`."""
        return {
            "kind": self.kind,
            "target": self.target,
            "n": self.n,
            "weighted_by": self.weighted_by,
            "level": level,
            "moments": [moment.to_dict(level) for moment in self.moments],
            "notes": list(self.notes),
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """A line a moment, and what holds for all of them below, for a rich console."""
        from rich.console import Group
        from rich.text import Text

        from budget_opt.tables.wide import Column, WideTable

        first = Column("moment", [moment.label for moment in self.moments])
        heading = AS_RELEASED if any(moment.merged for moment in self.moments) else "retention"
        columns = estimates_columns("corrected", self.rows(level), level, retention=heading)
        told = (circumstances(self.n, self.target), *map(sentence, self.notes))
        return Group(WideTable(first, columns), *map(Text, told))

    def __str__(self) -> str:
        return plain_text(self.renderable())
