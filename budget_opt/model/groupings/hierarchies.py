"""Candidate groupings from what people have: a tree of categories, parents, or the beginnings of codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from budget_opt.errors import Fault, InputError, ProblemError
from budget_opt.model.arguments import ordered_list, require_whole
from budget_opt.model.groupings.grouping import Grouping, grouping_of
from budget_opt.model.labels import Label, bin_labels, label_text
from budget_opt.model.values import UnfitError, label

MOST_LEVELS = 32
"""Levels of a tree; more are a mistake, such as a list within itself."""
MOST_LETTERS = 1000
"""Of the beginning of a code."""


def groupings_of_tree(tree: object) -> tuple[Grouping, ...]:
    """One grouping for each level of nested lists or objects, the finest first.

    `{"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": ["d"]}` gives coast, hills, south, and north,
    south. A branch that ends early stays as it is on the finer levels. In lists a category may stand beside
    lists. Raises `UnfitError` where it is no tree, and where a level is no grouping.
    """
    depth = _depth(tree)
    levels = [_cut(tree, level) for level in range(depth - 1, 0, -1)]
    return tuple(dict.fromkeys(grouping_of(level) for level in levels))


def groupings_from_parents(
    categories: Sequence[Label], parents: Mapping[Any, Any], *more: Mapping[Any, Any]
) -> tuple[Grouping, ...]:
    """Groupings by a category's parent: `groupings_from_parents(towns, {"york": "north", ...})`.

    `parents` maps every category to the name of its group, and each of `more` the groups before to coarser
    ones: `groupings_from_parents(towns, region_of_town, country_of_region)` gives regions, then countries.
    Raises `ProblemError` for a category or group without a parent, and where a level is no grouping.
    """
    names: list[Any] = list(categories)
    found = []
    for level, mapping in enumerate((parents, *more)):
        where = "parents" if level == 0 else f"more[{level - 1}]"
        orphans = [name for name in names if name not in mapping]
        if orphans:
            raise _fault(where, orphans[0], "has no parent", "Add it, with itself where it stays alone.")
        names = [mapping[name] for name in names]
        found.append(_named(categories, names, where))
    return tuple(found)


def groupings_from_edges(
    bins: Sequence[float | None], *edges: Sequence[float | None]
) -> tuple[Grouping, ...]:
    """Groupings of bins by coarser edges: `groupings_from_edges([10, 15, 20, 25, 30], [10, 20, 30])`.

    `bins` are the edges of the attribute; each of `edges` some of them, in order, with both ends, and at
    least one between: bins are merged into bins. None stands for an open end. Raises `ProblemError` for edges
    that are none of `bins` or leave less than two bins.
    """
    labels = bin_labels(tuple(bins))
    found = []
    for level, coarser in enumerate(edges):
        where, inner = f"edges[{level}]", list(coarser[1:-1])
        if len(coarser) < 3 or (coarser[0], coarser[-1]) != (bins[0], bins[-1]):
            limit = f"must go from {bins[0]!r} to {bins[-1]!r} with at least one edge between"
            raise _fault(where, list(coarser), limit, "Both ends are those of the bins.")
        between = (i for i, edge in enumerate(bins) if edge in inner and 0 < i < len(labels))
        cuts = [0, *between, len(labels)]
        if [bins[cut] for cut in cuts[1:-1]] != inner:
            limit = f"must be some of the edges {list(bins)}, each once and in order"
            raise _fault(where, list(coarser), limit, "Bins can only be merged whole.")
        found.append(grouping_of([list(labels[low:high]) for low, high in pairwise(cuts)]))
    return tuple(found)


def groupings_from_prefixes(categories: Sequence[str], *lengths: int) -> tuple[Grouping, ...]:
    """Groupings of codes by their first characters: `groupings_from_prefixes(icd_codes, 3, 1)`.

    The finest first if the lengths fall. Raises `InputError` for a length that is no whole number from 1,
    `ProblemError` for a category that is no text, and where a length leaves less than two groups.
    """
    found = []
    for length in lengths:
        require_whole(length, "lengths", 1, MOST_LETTERS, 3)
        if not all(isinstance(code, str) for code in categories):
            raise _fault("categories", list(categories), "must be text", "Only codes have beginnings.")
        found.append(_named(categories, [code[:length] for code in categories], "lengths"))
    return tuple(found)


def groupings_from_ranges(categories: Sequence[str], ranges: Mapping[str, str]) -> Grouping:
    """The grouping of codes by ranges, as the chapters of ICD-10 are stated.

    `groupings_from_ranges(codes, {"A00-B99": "infections", "C00-D48": "neoplasms", ...})`: a code belongs to
    the range whose ends, cut to their own lengths, it lies between, in the order of text. Raises
    `ProblemError` for a range that is none, and for a code in no range or in two.
    """
    bounds = [(*_ends(text), name) for text, name in ranges.items()]
    names = []
    for code in categories:
        fitting = [
            name for low, high, name in bounds if low <= code[: len(low)] and code[: len(high)] <= high
        ]
        if len(fitting) != 1:
            limit = "is in no range" if not fitting else f"is in {len(fitting)} ranges"
            raise _fault("ranges", code, limit, "Give ranges that cover every code once.")
        names.append(fitting[0])
    return _named(categories, names, "ranges")


def _ends(text: str) -> tuple[str, str]:
    low, dash, high = text.partition("-")
    if not low or not dash or not high or low[: len(high)] > high[: len(low)]:
        raise _fault("ranges", text, "must be two codes in order", 'Write "A00-B99".')
    return low, high


def _named(categories: Sequence[Label], names: Sequence[Any], where: str) -> Grouping:
    """The grouping of categories by the name that each has, in the order of their first."""
    groups: dict[str, list[Label]] = {}
    for category, name in zip(categories, names, strict=True):
        groups.setdefault(name if isinstance(name, str) else label_text(name), []).append(category)
    try:
        return grouping_of(groups)
    except UnfitError as why:
        raise _fault(where, list(groups), why.limit, f"{why.remedy}.") from None


def _fault(where: str, value: object, limit: str, remedy: str) -> InputError:
    return ProblemError.from_faults([Fault(where, value, limit, remedy)], "the hierarchy")


def _children(node: object) -> list[tuple[str | None, Any]] | None:
    """Names and branches of a node of the tree; None for a category."""
    if isinstance(node, Mapping):
        return [(str(name), child) for name, child in node.items()]
    listed = ordered_list(node)
    return None if listed is None else [(None, child) for child in listed]


def _depth(node: object, below: int = 0) -> int:
    """How many lists lie within each other along the longest branch."""
    if below > MOST_LEVELS:
        raise UnfitError(f"must have at most {MOST_LEVELS} levels", "Is a list within itself?")
    children = _children(node)
    if children is None:
        return 0
    return 1 + max((_depth(child, below + 1) for _, child in children), default=0)


def _leaves(node: object) -> Iterable[Label | None]:
    children = _children(node)
    if children is None:
        yield None if node is None else label(node)
        return
    for _, child in children:
        yield from _leaves(child)


def _cut(tree: object, level: int) -> list[list[Any]] | dict[str, list[Any]]:
    """The groups at this level: branches above that end early are groups already."""
    found = list(_branches(None, tree, level))
    if all(name is not None for name, _ in found):
        groups: dict[str, list[Any]] = {}
        for name, leaves in found:
            if name in groups:
                raise UnfitError(f"has two branches {name!r} on one level", "Rename one")
            groups[str(name)] = leaves
        return groups
    return [leaves for _, leaves in found]


def _branches(name: str | None, node: object, level: int) -> Iterable[tuple[str | None, list[Any]]]:
    children = _children(node)
    if children is None or level == 0 or all(_children(child) is None for _, child in children):
        yield name, list(_leaves(node))
        return
    for own, child in children:
        yield from _branches(own, child, level - 1)
