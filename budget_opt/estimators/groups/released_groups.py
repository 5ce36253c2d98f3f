"""Group means of a released table, of a file, or of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.asked import HOW, Bootstrap, single_rows
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.groups.functions import group_means_of_cells
from budget_opt.estimators.groups.means import means_by_group, with_replicates
from budget_opt.estimators.groups.result import GroupMeans, group_names
from budget_opt.estimators.moments.designs import designs_of
from budget_opt.estimators.releases.released import Weight, open_released

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


def group_means(  # noqa: PLR0913 (each a word that users type)
    released: Any,
    allocation: Allocation,
    attribute: str,
    by: str,
    *,
    target: Target,
    scores: Mapping[str, Sequence[float]] | None,
    weight: Weight,
    noise_limit: float,
    bootstrap: Bootstrap | None,
) -> GroupMeans:
    """See `bo.estimate.group_means`."""
    if by == attribute:
        raise InputError(f"by: is {by!r}, the attribute whose means are wanted. Name another one.")
    (design,) = designs_of(allocation, (attribute,), scores)
    numbers = single_rows(released, allocation, weight, bootstrap)
    opened = open_released(released, allocation, (by, attribute), weight=weight, numbers=numbers)
    group = opened.channels[by]
    labels = opened.labels[by]
    names = group_names(labels)
    found = means_by_group(opened.counts(by, attribute), group, design, names, target, noise_limit)
    found = replace(found, labels=labels, notes=(*found.notes, *opened.notes))
    if bootstrap is None:
        return found
    errors = bootstrap.errors(group_means_of_cells, opened.cells(by, attribute), [group, design], target)
    return with_replicates(found, errors, HOW[target])
