"""The marginals of several attributes of one release, unbiased and as distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.joint.table import TableEstimate
from budget_opt.estimators.unchanging import unchanging
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalEstimates(Rows):
    """Tables of one attribute each: `tables` unbiased, with errors and intervals, `nearest` distributions.

    `nearest` are the distributions nearest to `tables` (projection on the simplex), which are biased.
    """

    tables: tuple[TableEstimate, ...]
    nearest: tuple[FloatArray, ...]
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def __post_init__(self) -> None:
        object.__setattr__(self, "nearest", tuple(unchanging(shares) for shares in self.nearest))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes, in order."""
        return tuple(table.attributes[0] for table in self.tables)

    def __getitem__(self, name: str) -> TableEstimate:
        if name not in self.attributes:
            raise InputError(f"marginals: {name!r} is not one of {', '.join(self.attributes)}.")
        return self.tables[self.attributes.index(name)]

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One row a category of every attribute, with its interval at `level`."""
        return [
            {
                "attribute": name,
                "category": label,
                "share": row["share"],
                "standard_error": row["standard_error"],
                "low": row["low"],
                "high": row["high"],
                "nearest": float(nearest),
                "raw": row["raw"],
                "effective_n": row["effective_n"],
                "note": row["note"],
            }
            for name, table, shares in zip(self.attributes, self.tables, self.nearest, strict=True)
            for label, row, nearest in zip(table.labels[0], _numbers(table, level), shares, strict=True)
        ]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All marginals as plain values for JSON, with intervals at `level`."""
        return {
            "kind": self.kind,
            "level": level,
            "marginals": [table.to_dict(level) for table in self.tables],
            "nearest": {
                name: shares.tolist() for name, shares in zip(self.attributes, self.nearest, strict=True)
            },
            "notes": list(self.notes),
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """All marginals for a rich console, one below the other."""
        from budget_opt.estimators.joint.table_text import marginals_renderable

        return marginals_renderable(self, level)

    def __str__(self) -> str:
        from budget_opt.tables.printing import plain_text

        return plain_text(self.renderable())


def _numbers(table: TableEstimate, level: float) -> list[dict[str, Any]]:
    """The rows of a table under the names that they have where no attribute is called so."""
    names = ("share", "standard_error", "low", "high", "raw", "effective_n", "note")
    return [dict(zip(names, list(row.values())[1:], strict=True)) for row in table.rows(level)]
