"""What a codebook says, as attributes of a problem, with what the curator still has to decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.codebooks.column import shown
from budget_opt.model.attribute import Attribute
from budget_opt.tables.printing import plain_text, text_table
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class OtherColumn:
    """A column without a declared domain: why it is no attribute, and what to do with it."""

    name: str
    why: str
    advice: str


@dataclass(frozen=True)
class Codebook(Rows):
    """The attributes of a codebook, for `Problem(attributes=codebook.attributes, …)`, and what is left.

    `others` are the columns without a declared domain: a release refuses each until the problem has it as an
    attribute, as public or as dropped. `notes` say what was assumed and what to check.
    """

    source: str
    attributes: tuple[Attribute, ...]
    others: tuple[OtherColumn, ...]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """A row a column, the attributes first: number of categories, or why there are none."""
        columns = ("column", "categories", "ordered", "missing", "why_not", "advice")
        values = [
            *((one.name, one.cardinality, one.ordered, one.missing, None, None) for one in self.attributes),
            *((other.name, None, None, None, other.why, other.advice) for other in self.others),
        ]
        return [dict(zip(columns, row, strict=True)) for row in values]

    def to_dict(self) -> dict[str, Any]:
        """Attributes as in a problem file, other columns and notes, as JSON."""
        return {
            "source": self.source,
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "others": [dict(vars(other)) for other in self.others],
            "notes": list(self.notes),
        }

    def renderable(self) -> RenderableType:
        """The attributes, the columns that are none, and the notes, for a rich console."""
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = [Text(self._headline())]
        if self.attributes:
            rows = [(one.name, str(one.cardinality), _categories(one)) for one in self.attributes]
            parts.append(text_table(("attribute", "categories", "which"), rows))
        if self.others:
            parts.append(text_table(("not an attribute", "because", "what to do"), self._grouped()))
        return Group(*parts, *(Text(f"note: {note}") for note in self.notes))

    def _grouped(self) -> list[tuple[str, str, str]]:
        """The other columns, those of the same reason in one row."""
        groups: dict[tuple[str, str], list[str]] = {}
        for other in self.others:
            groups.setdefault((other.why, other.advice), []).append(other.name)
        return [(", ".join(map(shown, names)), why, advice) for (why, advice), names in groups.items()]

    def _headline(self) -> str:
        made, left = len(self.attributes), len(self.others)
        return (
            f"{self.source}: {made} column{'' if made == 1 else 's'} made attributes, {left} left to decide"
        )

    def __str__(self) -> str:
        return plain_text(self.renderable())


def _categories(attribute: Attribute) -> str:
    """The first and last categories in words."""
    labels = ["missing" if label is None else str(label) for label in attribute.domain.labels]
    shown = labels if len(labels) <= 6 else [*labels[:4], "…", labels[-1]]
    return ", ".join(shown) + (" (ordered)" if attribute.ordered else "")
