"""The labels of a declaration's categories by code, without the missing one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from budget_opt.model.values import UnfitError

Label = str | int | bool


def declared_labels(
    categories: int | tuple[Label, ...] | None, bins: tuple[float | None, ...] | None
) -> tuple[Label, ...]:
    """The labels by code without the missing category."""
    if bins is not None:
        return bin_labels(bins)
    return tuple(range(categories)) if isinstance(categories, int) else categories or ()


def code_of_other(labels: Sequence[Label], other: Label, bins: object) -> int:
    """The code of the label that takes unseen values; `UnfitError` where there cannot be one, or is none."""
    if bins is not None:
        raise UnfitError("has no meaning for bins", "Open the outer bins with null")
    # True == 1 in Python, so the type is compared as well
    if not any(other == label and type(other) is type(label) for label in labels):
        raise UnfitError("must be one of the categories", "Add the label to categories")
    return labels.index(other)


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


def label_text(label: Label | None) -> str:
    """A label in words: truth values in small letters, the missing category as "missing"."""
    if label is None:
        return "missing"
    return str(label).lower() if isinstance(label, bool) else str(label)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
