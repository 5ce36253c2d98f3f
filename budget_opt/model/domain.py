"""The declared domain of an attribute: what its codes 0..r-1 mean, never derived from data (R12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from budget_opt.model.groupings.grouping import Grouping, Merged, merged
from budget_opt.model.labels import Label, closed_edges, code_of_other, declared_labels

__all__ = ["Domain", "Kind", "Label", "declared_domain"]

Kind = Literal["text", "integer", "boolean", "bins"]


@dataclass(frozen=True)
class Domain:
    """The ordered categories of one attribute; code i of a cell is its index in `labels`.

    `kind` is how a cell of the original table is read: text, integer and boolean cells equal a
    label of the same type; a bins cell is a number that falls in edge_i <= x < edge_{i+1}, the last
    bin closed (open ends are +-inf in `edges`). A released cell is always the label.
    A missing category, where declared, is the last label, None. `other` is the code that takes
    unseen values, None where they are an error.

    Where categories are merged, cells of an original are read in the domain `fine` of the declared ones, and
    the code of a cell is `codes` of its code there; `kind` and `labels` are those of released cells. Bins
    that are merged into bins are just bins.
    """

    kind: Kind
    labels: tuple[Label | None, ...]
    edges: tuple[float, ...] | None = None
    other: int | None = None
    fine: Domain | None = None
    codes: tuple[int, ...] = ()

    @property
    def cardinality(self) -> int:
        """r, the number of categories, the missing one included."""
        return len(self.labels)

    @property
    def missing(self) -> int | None:
        """The code of the missing category, None where a missing cell is an error, or merged with others."""
        return self.cardinality - 1 if self.labels[-1] is None else None

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells the categories from those of another domain: their kind, order and types.

        And which cells each holds, where the labels do not say it: a cell that is unseen, or that two
        groupings put into categories of one name, is not the same cell where it has another code.
        Releases of both under one word would tell it.
        """
        if self.fine is None:
            return (self.kind, self.labels) if self.other is None else (self.kind, self.labels, self.other)
        return (self.kind, self.labels, self.fine.kind, self.fine.labels, self.fine.other, self.codes)


def declared_domain(
    categories: int | tuple[Label, ...] | None,
    bins: tuple[float | None, ...] | None,
    *,
    missing: bool,
    other: Label | None,
    grouping: Grouping | None = None,
) -> Domain:
    """The domain of a declaration with either `categories` (labels or their number) or `bins`.

    `missing` adds the missing category; `other` is the label that takes unseen values; `grouping` merges
    categories. Raises `UnfitError` where `other` or the grouping do not fit the categories.
    """
    labels = declared_labels(categories, bins)
    kind: Kind = "bins" if bins is not None else _KINDS[type(labels[0])]
    whole = (*labels, None) if missing else labels
    code = None if other is None else code_of_other(labels, other, bins)
    fine = Domain(kind, whole, None if bins is None else closed_edges(bins), code)
    if grouping is None:
        return fine
    return _merged_domain(fine, merged(grouping, labels, bins, missing=missing))


def _merged_domain(fine: Domain, found: Merged) -> Domain:
    if found.edges is not None:
        return Domain("bins", found.labels, closed_edges(found.edges))
    other = None if fine.other is None else found.codes[fine.other]
    return Domain(_KINDS[type(found.labels[0])], found.labels, None, other, fine, found.codes)


_KINDS: dict[type, Kind] = {str: "text", int: "integer", bool: "boolean"}
