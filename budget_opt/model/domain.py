"""The declared domain of an attribute: what its codes 0..r-1 mean, never derived from data (R12)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from budget_opt.model.values import UnfitError

Label = str | int | bool
Kind = Literal["text", "integer", "boolean", "bins"]


@dataclass(frozen=True)
class Domain:
    """The ordered categories of one attribute; code i of a cell is its index in `labels`.

    `kind` is how a cell of the original table is read: text, integer and boolean cells equal a
    label of the same type; a bins cell is a number that falls in edge_i <= x < edge_{i+1}, the last
    bin closed (open ends are +-inf in `edges`). A released cell is always the label.
    A missing category, where declared, is the last label, None. `other` is the code that takes
    unseen values, None where they are an error.
    """

    kind: Kind
    labels: tuple[Label | None, ...]
    edges: tuple[float, ...] | None = None
    other: int | None = None

    @property
    def cardinality(self) -> int:
        """r, the number of categories, the missing one included."""
        return len(self.labels)

    @property
    def missing(self) -> int | None:
        """The code of the missing category, None where a missing cell is an error."""
        return self.cardinality - 1 if self.labels[-1] is None else None


def declared_domain(
    categories: int | tuple[Label, ...] | None,
    bins: tuple[float | None, ...] | None,
    *,
    missing: bool,
    other: Label | None,
) -> Domain:
    """The domain of a declaration with either `categories` (labels or their number) or `bins`.

    `missing` adds the missing category; `other` is the label that takes unseen values.
    """
    labels = declared_labels(categories, bins)
    kind: Kind = "bins" if bins is not None else _KINDS[type(labels[0])]
    whole = (*labels, None) if missing else labels
    code = None if other is None else code_of_other(labels, other, bins)
    return Domain(kind, whole, None if bins is None else closed_edges(bins), code)


def code_of_other(labels: Sequence[Label], other: Label, bins: object) -> int:
    """The code of the label that takes unseen values; `UnfitError` where there cannot be one, or is none."""
    if bins is not None:
        raise UnfitError("has no meaning for bins", "Open the outer bins with null")
    # True == 1 in Python, so the type is compared as well
    if not any(other == label and type(other) is type(label) for label in labels):
        raise UnfitError("must be one of the categories", "Add the label to categories")
    return labels.index(other)


def declared_labels(
    categories: int | tuple[Label, ...] | None, bins: tuple[float | None, ...] | None
) -> tuple[Label, ...]:
    """The labels by code without the missing category."""
    if bins is not None:
        return bin_labels(bins)
    return tuple(range(categories)) if isinstance(categories, int) else categories or ()


def bin_labels(edges: tuple[float | None, ...]) -> tuple[str, ...]:
    """The labels of bins, "[18, 30)", the last closed, "(-inf, 18)" and "[65, inf)" for open ends."""
    pairs = list(pairwise(edges))
    labels = []
    for i, (low, high) in enumerate(pairs):
        opening = "(-inf" if low is None else f"[{_number(low)}"
        closing = "inf)" if high is None else f"{_number(high)}{']' if i == len(pairs) - 1 else ')'}"
        labels.append(f"{opening}, {closing}")
    return tuple(labels)


def closed_edges(edges: tuple[float | None, ...]) -> tuple[float, ...]:
    """Edges with open ends as -inf and +inf."""
    first = -math.inf if edges[0] is None else edges[0]
    last = math.inf if edges[-1] is None else edges[-1]
    return (first, *(float(edge) for edge in edges[1:-1] if edge is not None), last)


_KINDS: dict[type, Kind] = {str: "text", int: "integer", bool: "boolean"}


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
