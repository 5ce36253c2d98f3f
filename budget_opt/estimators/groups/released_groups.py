"""Group means of a released table, of a file, or of counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from budget_opt.allocation.merging import estimate_notes
from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.asked import HOW, single_rows
from budget_opt.estimators.groups.functions import group_means_of_cells
from budget_opt.estimators.groups.means import means_by_group, with_replicates
from budget_opt.estimators.groups.result import GroupMean, GroupMeans, group_names
from budget_opt.estimators.moments.designs import designs_of
from budget_opt.estimators.moments.options import MomentOptions
from budget_opt.estimators.releases.released import open_released

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


def group_means(
    released: Any, allocation: Allocation, attribute: str, by: str, options: MomentOptions
) -> GroupMeans:
    """See `bo.estimate.group_means`."""
    if by == attribute:
        raise InputError(f"by: is {by!r}, the attribute whose means are wanted. Name another one.")
    (design,) = designs_of(allocation, (attribute,), options.scores)
    numbers = single_rows(released, allocation, options.weight, options.bootstrap)
    opened = open_released(released, allocation, (by, attribute), weight=options.weight, numbers=numbers)
    group = opened.channels[by]
    labels = opened.labels[by]
    names = group_names(labels)
    found = means_by_group(
        opened.counts(by, attribute), group, design, names, options.target, options.noise_limit
    )
    found = replace(found, labels=labels, notes=(*found.notes, *opened.notes_of(by, attribute)))
    found = _noted(found, estimate_notes(opened.merged(by, attribute)))
    if options.bootstrap is None:
        return found
    errors = options.bootstrap.errors(
        group_means_of_cells, opened.cells(by, attribute), [group, design], options.target
    )
    return with_replicates(found, errors, HOW[options.target])


def _noted(found: GroupMeans, notes: tuple[str, ...]) -> GroupMeans:
    """The same, where each mean says this of itself as well."""

    def each(means: tuple[GroupMean | None, ...]) -> tuple[GroupMean | None, ...]:
        return tuple(one and replace(one, notes=(*one.notes, *notes)) for one in means)

    return replace(found, means=each(found.means), rests=each(found.rests)) if notes else found
