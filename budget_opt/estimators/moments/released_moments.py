"""Corrected moments of a released table, of a file, or of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.intervals.noise_limit import require_signal
from budget_opt.estimators.moments.designs import Design, require_products_in_range, scores_by_name
from budget_opt.estimators.moments.moment import largest_moment, moment_from_cells
from budget_opt.estimators.moments.moment_estimates import MomentEstimates
from budget_opt.estimators.moments.options import MomentOptions
from budget_opt.estimators.moments.public_designs import AskedColumns, open_columns
from budget_opt.estimators.releases.compacting import compacted
from budget_opt.estimators.releases.counting import Cells
from budget_opt.estimators.releases.naming import shown
from budget_opt.model.arguments import as_list

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


def moments(
    released: Any,
    allocation: Allocation,
    wanted: Sequence[Sequence[str]],
    options: MomentOptions,
) -> MomentEstimates:
    """Several moments of one release, which is read once (see `bo.estimate.moment`)."""
    given = scores_by_name(options.scores)
    sets = [AskedColumns.of(allocation, names, given) for names in _lists_of_names(wanted)]
    used = dict.fromkeys(name for asked in sets for name in asked.names)
    unused = sorted(set(given) - set(used))
    if unused:
        raise InputError(
            f"scores: {shown(unused[0])} is not an attribute of the moments asked for. Leave it out."
        )
    for asked in sets:  # what can be said before the release is read
        require_products_in_range(tuple(asked.attributes.values()))
    opened = open_columns(released, allocation, sets, options)
    found = []
    for asked in sets:
        designs, cells = asked.opened(opened)
        require_products_in_range(designs)
        estimate = moment_from_cells(compacted(cells, designs), designs, options.target)
        require_signal(estimate.label, estimate.standard_error, largest_moment(designs), options.noise_limit)
        if options.bootstrap is not None:
            (replicates,) = options.bootstrap.replicates(
                _value, cells, designs, options.target, np.array([estimate.value])
            )
            estimate = replace(estimate, bootstrap=replicates)
        merged = tuple(one.name for one in opened.merged(*asked.names))
        notes = (*estimate.notes, *opened.notes_of(*asked.names))
        found.append(replace(estimate, merged=merged, notes=notes))
    return MomentEstimates(
        moments=tuple(found), n=opened.n, target=options.target, weighted_by=opened.weighted_by
    )


def _lists_of_names(wanted: object) -> list[tuple[str, ...]]:
    sets = [as_list(names) for names in as_list(wanted) or [None]]
    if any(names is None or not all(isinstance(name, str) for name in names) for names in sets):
        raise InputError(
            "moments: must be lists of names, one a moment. Give the attributes of each in a list of their "
            'own: [["smoker", "income"], ["age"]].'
        )
    return [tuple(names or ()) for names in sets]


def _value(cells: Cells, designs: Sequence[Design]) -> FloatArray:
    # only its differences count, which have more digits without an origin
    designs = [replace(design, origin=0.0) for design in designs]
    return np.array([moment_from_cells(cells, designs, "population").value])
