"""A grouping: a coarser domain of an attribute, whose categories are sets of the declared ones.

Fewer categories buy a larger retention at the same epsilon, and lose what the merged categories told apart.
Cells are read against the declared categories and released as the merged ones. Checked with the standard
library alone, like the values of all fields.

A missing category that no group names stays alone; a group may name it as None, and gives it a name only
together with another category. The category that takes
unseen values (`other`) is in a group like any other, and takes them there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from budget_opt.model import values
from budget_opt.model.arguments import ordered_list
from budget_opt.model.groupings.detail import Coarsening
from budget_opt.model.labels import Label, bin_labels, label_text
from budget_opt.model.values import UnfitError

Member = Label | None
Groups = tuple[tuple[Member, ...], ...]

_FORM = 'Give lists of categories, [["a", "b"], ["c"]], or an object, {"a or b": ["a", "b"], "c": ["c"]}'


@dataclass(frozen=True)
class Grouping:
    """Groups of categories in the order of the merged ones, and their `names`; None for made-up names."""

    groups: Groups
    names: tuple[str, ...] | None = None

    def to_json(self) -> list[list[Member]] | dict[str, list[Member]]:
        """As it stands in a file."""
        listed = [list(group) for group in self.groups]
        return listed if self.names is None else dict(zip(self.names, listed, strict=True))

    def __str__(self) -> str:
        """The merged categories in words: a or b, c."""
        return ", ".join(self.names or (_joined(group) for group in self.groups))


@dataclass(frozen=True)
class Merged:
    """What a grouping makes of a domain: `labels` of the merged categories, the missing one last as None.

    `codes` says for each declared category, by code, the code of the one it goes into. `edges` are those of
    merged bins, None where the merged categories are no bins.
    """

    labels: tuple[Member, ...]
    codes: tuple[int, ...]
    edges: tuple[float | None, ...] | None = None

    def coarsening(self, shares: tuple[float, ...] | None) -> Coarsening:
        """What it does to distributions and scores; `shares` are of the declared categories."""
        return Coarsening(self.codes, len(self.labels), shares)

    def require_variance(self, shares: tuple[float, ...] | None, scores: Sequence[float] | None) -> None:
        """Raise `UnfitError` where nothing varies any more; `scores` None of nominal categories."""
        coarsening = self.coarsening(shares)
        if sum(share > 0 for share in coarsening.merged_shares()) < 2:
            raise UnfitError(
                "must leave at least two merged categories a share of the stated marginal above 0",
                "Merge others, or change the marginal",
            )
        if coarsening.detail(scores) == 0:
            raise UnfitError(
                "must leave the scores some variance: all merged categories have the same mean",
                "Merge others, or change scores or marginal",
            )


def grouping_of(value: object) -> Grouping:
    """Lists of categories, or an object from names to lists; `UnfitError` for anything else."""
    if isinstance(value, Grouping):
        return value
    if isinstance(value, Mapping):
        names = tuple(_name(name) for name in value)
        return Grouping(_groups(value.values()), names)
    listed = ordered_list(value)
    if listed is None:
        raise UnfitError("must be lists of categories", _FORM)
    return Grouping(_groups(listed))


def _name(value: object) -> str:
    name = values.label(value)
    if not isinstance(name, str):
        raise UnfitError("must have names that are text", _FORM)
    return name


def _groups(listed: Iterable[object]) -> Groups:
    groups = tuple(_group(group) for group in listed)
    if len(groups) < 2:
        raise UnfitError("must have at least two groups", _FORM)
    found = [_typed(member) for group in groups for member in group]
    if len(set(found)) < len(found):
        raise UnfitError("must name each category once", "Leave it in one group")
    return groups


def _group(value: object) -> tuple[Member, ...]:
    listed = ordered_list(value)
    if not listed:
        raise UnfitError("must have groups that are lists of categories, at least one in each", _FORM)
    return tuple(None if member is None else values.label(member) for member in listed)


def _typed(member: Member) -> tuple[type, Member]:
    """A label that equals no label of another type: True == 1 in Python."""
    return type(member), member


def merged(
    grouping: Grouping,
    labels: Sequence[Label],
    bins: tuple[float | None, ...] | None,
    *,
    missing: bool,
) -> Merged:
    """The merged domain of these declared labels, which do not include the missing category.

    `bins` are the edges where the labels are those of bins. Raises `UnfitError` where the groups are not of
    these categories, leave one out, merge bins that are not side by side, or leave a single category.
    """
    group_of = {_typed(member): i for i, group in enumerate(grouping.groups) for member in group}
    _require_covered(group_of, labels, missing=missing)
    order = [i for i, group in enumerate(grouping.groups) if group != (None,)]
    if grouping.names is not None and len(order) < len(grouping.groups):
        lost = next(name for i, name in enumerate(grouping.names) if i not in order)
        raise UnfitError(
            f"gives the missing category (null) the name {lost!r}, and alone it stays missing",
            "Leave that group out, or merge it with another category",
        )
    alone = missing and group_of.get(_typed(None)) not in order
    if len(order) + alone < 2:
        raise UnfitError("must leave at least two categories", "Merge fewer")
    if bins is not None:
        _require_contiguous([group_of[_typed(label)] for label in labels])
    code = {group: new for new, group in enumerate(order)}
    codes = [code[group_of[_typed(label)]] for label in labels]
    if missing:
        codes.append(len(order) if alone else code[group_of[_typed(None)]])
    edges = None
    if bins is not None and grouping.names is None and not any(None in grouping.groups[i] for i in order):
        edges = _merged_edges(bins, codes, len(order))
    new = _labels(grouping, order, edges)
    if len(set(new)) < len(new):
        raise UnfitError("must give merged categories that differ in text", "Name the groups")
    return Merged((*new, None) if alone else new, tuple(codes), edges)


def _require_covered(group_of: Mapping[Any, int], labels: Sequence[Label], *, missing: bool) -> None:
    declared = {_typed(label) for label in labels}
    if _typed(None) in group_of and not missing:
        raise UnfitError("names a missing category (null)", 'Declare "missing": "category", or remove it')
    unknown = [member for kind, member in group_of if member is not None and (kind, member) not in declared]
    if unknown:
        limit = f"must be of the declared categories such as {labels[0]!r}, {unknown[0]!r} is none"
        raise UnfitError(limit, "Correct it; type, case and blanks count")
    left_out = [member for kind, member in declared if (kind, member) not in group_of]
    if left_out:
        first = next(label for label in labels if label in left_out)
        more = f", {first!r} is in none" if len(left_out) == 1 else f", {first!r} and others are in none"
        raise UnfitError(f"must cover every category{more}", "Add a group for what stays as it is")


def _require_contiguous(groups: Sequence[int]) -> None:
    if list(groups) != sorted(groups):
        raise UnfitError(
            "must merge bins that are side by side, in their order", "Group neighbours, the lowest first"
        )


def _merged_edges(
    bins: tuple[float | None, ...], codes: Sequence[int], count: int
) -> tuple[float | None, ...]:
    """The edges between groups, and the two ends."""
    lower = [next(i for i, code in enumerate(codes) if code == group) for group in range(count)]
    return (*(bins[i] for i in lower), bins[-1])


def _labels(
    grouping: Grouping, order: Sequence[int], edges: tuple[float | None, ...] | None
) -> tuple[Member, ...]:
    """The labels of the merged categories: names, bins of the merged edges, else the members'."""
    if grouping.names is not None:
        return tuple(grouping.names[i] for i in order)
    if edges is not None:
        return bin_labels(edges)
    groups = [grouping.groups[i] for i in order]
    if all(len(group) == 1 for group in groups):
        return tuple(group[0] for group in groups)
    return tuple(_joined(group) for group in groups)


def _joined(group: Sequence[Member]) -> str:
    """The members in words: a or b; of integers in a row, 0 to 4."""
    numbers = [member for member in group if isinstance(member, int) and not isinstance(member, bool)]
    if len(numbers) == len(group) > 2 and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return f"{numbers[0]} to {numbers[-1]}"
    return " or ".join(map(label_text, group))
