"""What every estimator works on: the released cells of some attributes, with their channels and labels."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation.merging import estimate_notes, is_merged
from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, channel_of, require_released, uniform
from budget_opt.estimators.releases.count_checks import require_size
from budget_opt.estimators.releases.counting import Cells, Counts, FloatArray, counts_of
from budget_opt.estimators.releases.fit import (
    LARGEST_JUDGED,
    require_possible_shares,
    require_possible_table,
    require_released_columns,
)
from budget_opt.estimators.releases.naming import require_distinct, require_known, require_weight
from budget_opt.estimators.releases.reading import ReadRows, Wanted, read_rows
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.model.attribute import Attribute
from budget_opt.model.domain import Label
from budget_opt.tables.counting import AnyCodes, IntArray
from budget_opt.tables.public_columns import SMALLEST_WEIGHT
from budget_opt.tables.reading import open_table

if TYPE_CHECKING:
    from budget_opt.allocation import AllocatedAttribute, Allocation

Weight = str | Literal[False] | None
"""The public column of survey weights; None for the one that the allocation states, False for none at all."""


@dataclass(frozen=True)
class Released:
    """A release as weighted rows: `codes` by column, all of one length, and what each place stands for.

    `channels` and `labels` (by code) are of the same columns; a public column has retention 1 and its values
    for labels. `rows`, `weights`, `squares` as in `Cells`. `numbers` are public columns as finite doubles;
    where there are any, every place is one row. `notes` is what a result has to say of how it was counted,
    `weighted_by` the column of survey weights, where it is known.
    """

    allocation: Allocation
    channels: Mapping[str, Channel]
    labels: Mapping[str, tuple[Label | None, ...]]
    codes: Mapping[str, AnyCodes]
    rows: IntArray | None = None
    weights: FloatArray | None = None
    squares: FloatArray | None = None
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    weighted_by: str | None = None

    def cells(self, *names: str) -> Cells:
        """The rows of these attributes, in this order."""
        return Cells(tuple(self.codes[name] for name in names), self.rows, self.weights, self.squares)

    def counts(self, *names: str) -> Counts:
        """The joint table of these attributes, in this order.

        Raises `InputError` where it would be too large, and `DataError` for one that no originals lead to.
        """
        channels = self.channels_of(*names)
        counted = counts_of(self.cells(*names), names, [one.cardinality for one in channels])
        require_possible_table(counted, channels, len(self.codes))
        known = {one.name: one for one in self.allocation.attributes if one.name in names}
        public = len(known) < len(names)
        digests = () if public else tuple(randomized_as(known[name]) for name in names)
        notes = tuple(dict.fromkeys((*counted.notes, *self.notes_of(*names))))
        return replace(counted, randomized_as=digests, weighted_by=self.weighted_by, notes=notes)

    def channels_of(self, *names: str) -> tuple[Channel, ...]:
        """The channels of these attributes, in this order."""
        return tuple(self.channels[name] for name in names)

    def notes_of(self, *names: str) -> tuple[str, ...]:
        """What a result on these columns has to say: of the counting, and of which categories it is."""
        return (*self.notes, *estimate_notes(self.merged(*names)))

    def merged(self, *names: str) -> tuple[Attribute, ...]:
        """Those of these columns that are released in merged categories."""
        released = [one.declared for one in self.allocation.attributes if one.name in names]
        return tuple(one for one in released if is_merged(one))

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.cells(next(iter(self.codes))).n


def open_released(
    released: Any,
    allocation: Allocation,
    names: Sequence[str],
    weight: Weight = None,
    *,
    numbers: Sequence[str] = (),
) -> Released:
    """The columns `names` of a release: attributes, and public columns as categories.

    `released` is a pandas, polars or pyarrow table, the path of a .csv, .csv.gz or .parquet file or of a
    folder of .parquet files, or `Counts` of these attributes and perhaps others. A table is read once, in
    batches; rows are counted on the way where their joint table has at most 1e7 cells and takes less room
    than they do.

    `weight` names the public column of survey weights; None stands for the one that the allocation states,
    and False for none. Counts have theirs already. `numbers` are public columns to be had as doubles.

    Raises `InputError` for names that are unknown, repeated, or of which nothing was released, for counts of
    other attributes, shapes or randomizations, and `DataError` for a table that is no release under this
    allocation: other columns, cells outside the domains, no rows, shares of the categories, or a joint table
    of at most 1e4 cells, that no originals lead to (a false alarm has probability at most 1e-9), weights that
    are not finite, negative or all 0.
    """
    names = tuple(names)
    known = {attribute.name: attribute for attribute in allocation.attributes}
    require_weight(weight)
    _require_names(names, numbers, allocation)
    channels = {name: channel_of(known[name]) for name in names if name in known}
    if isinstance(released, Counts):
        counts = _weighted(released, allocation, weight)
        # what they say of merged categories is said again of the columns that are asked for
        said = estimate_notes(one.declared for one in allocation.attributes)
        notes, weighted_by = tuple(note for note in counts.notes if note not in said), counts.weighted_by
        rows = _from_counts(counts, allocation, names, numbers)
    else:
        notes, weighted_by = (), _weight_column(weight, allocation)
        rows = _from_table(released, allocation, names, weighted_by, numbers)
    require_possible_shares({name: known[name] for name in channels}, rows.cells, rows.names)
    if rows.cells.weights is not None:
        told = (
            "survey weights: those of the counts" if weighted_by is None else f"survey weights: {weighted_by}"
        )
        notes = tuple(dict.fromkeys((*notes, told)))
    labels = {name: known[name].domain.labels for name in channels} | dict(rows.labels)
    channels |= {name: Channel(name, 1.0, uniform(len(rows.labels[name]))) for name in rows.labels}
    codes = dict(zip(rows.names, rows.cells.codes, strict=True))
    found = Released(
        allocation,
        {name: channels[name] for name in names},
        {name: labels[name] for name in names},
        {name: codes[name] for name in names},
        rows.cells.rows,
        rows.cells.weights,
        rows.cells.squares,
        rows.numbers,
        notes,
        weighted_by,
    )
    if math.prod(channel.cardinality for channel in found.channels.values()) <= LARGEST_JUDGED:
        found.counts(*names)  # judges the table, whatever is estimated; so small a one costs little
    return found


def released_column(released: Any, allocation: Allocation, name: str, weight: Weight = None) -> Counts:
    """The reports of one attribute by code, whatever its matrix; arguments and errors of `open_released`."""
    known = {attribute.name: attribute for attribute in allocation.attributes}
    require_weight(weight)
    _require_names([name], (), allocation)
    require_released(known[name])
    if isinstance(released, Counts):
        counts = _weighted(released, allocation, weight)
        weighted_by, rows = counts.weighted_by, _from_counts(counts, allocation, [name], ())
    else:
        weighted_by = _weight_column(weight, allocation)
        rows = _from_table(released, allocation, [name], weighted_by, ())
    require_possible_shares({name: known[name]}, rows.cells, rows.names)
    return replace(
        counts_of(rows.cells, [name], [known[name].cardinality]),
        randomized_as=(randomized_as(known[name]),),
        weighted_by=weighted_by,
    )


def require_table(allocation: Allocation, names: Sequence[str]) -> None:
    """`InputError` where the joint table of these attributes would be too large, before anything is read."""
    sizes = {one.name: one.cardinality for one in allocation.attributes if one.name in names}
    require_size(tuple(sizes), tuple(sizes.values()), 1)


def randomized_as(attribute: AllocatedAttribute) -> str:
    """A digest of all that a code of this attribute means: its name, its categories and its matrix.

    Of a member of a cluster also the cluster's members with their categories, which share the matrix: the
    same columns randomized one by one, or with another partner, are another release.
    """
    part = attribute.part
    meant: list[object] = [attribute.name, list(attribute.domain.labels), _integers(part.sampler)]
    if part.is_cluster:
        meant.append([[one.name, list(one.domain.labels)] for one in part.members])
    return hashlib.sha256(json.dumps(meant).encode()).hexdigest()[:16]


def _integers(sampler: AnySampler | None) -> list[object] | None:
    """What the matrix is made of; decimal strings, since they may pass 2^53."""
    if sampler is None:
        return None
    if isinstance(sampler, MatrixSampler):
        return [sampler.bits, [[str(count) for count in row] for row in sampler.counts]]
    if isinstance(sampler, BackgroundSampler):
        return [sampler.bits, [str(count) for count in sampler.counts]]
    return [sampler.bits, str(sampler.q)]


def _require_names(names: Sequence[str], numbers: Sequence[str], allocation: Allocation) -> None:
    known = [*(attribute.name for attribute in allocation.attributes), *allocation.public]
    require_distinct(names)
    require_known(names, known, "an attribute or a public column of the allocation")
    require_known(numbers, allocation.public, "a public column of the allocation, and only these are numbers")


def _from_table(
    released: Any, allocation: Allocation, names: Sequence[str], weight: str | None, numbers: Sequence[str]
) -> ReadRows:
    table = open_table(released)
    require_released_columns(allocation, table)
    domains = {one.name: one.domain for one in allocation.attributes if one.name in names}
    public = tuple(name for name in names if name not in domains)
    return read_rows(table, Wanted(domains, public, tuple(numbers), weight))


def _weight_column(weight: Weight, allocation: Allocation) -> str | None:
    if weight is False:
        return None
    if weight is None:
        return allocation.survey_weight
    require_known([weight], allocation.public, "a public column of the allocation, and weights must be one")
    return weight


def _from_counts(
    counts: Counts, allocation: Allocation, names: Sequence[str], numbers: Sequence[str]
) -> ReadRows:
    known = {one.name: one for one in allocation.attributes}
    if numbers:
        raise InputError("counts: have no numbers of single rows. Give the released table.")
    require_known(counts.attributes, known, "an attribute of the allocation, but one of the counts")
    require_known(names, counts.attributes, "counted")
    shape = tuple(known[name].cardinality for name in counts.attributes)
    if counts.rows.shape != shape:
        raise InputError(
            f"counts: the table has shape {counts.rows.shape}, the allocation's domains of "
            f"{', '.join(counts.attributes)} need {shape}. Count against the allocation's categories, in "
            "their order."
        )
    digests = tuple(randomized_as(known[name]) for name in counts.attributes)
    if counts.randomized_as and counts.randomized_as != digests:
        raise InputError(
            "counts: were made under another allocation: categories or epsilons of the attributes differ. "
            "Give the allocation that the release was made with."
        )
    if counts.n == 0:
        raise InputError("counts: have no rows, so there is nothing to estimate from.")
    return ReadRows(tuple(names), counts.marginal(*names).cells, {}, {})


def _weighted(counts: Counts, allocation: Allocation, weight: Weight) -> Counts:
    """The counts with the weights that are asked for, which they must have already."""
    if weight is False:
        return counts.unweighted()
    asked = allocation.survey_weight if weight is None else _weight_column(weight, allocation)
    if counts.weights is None and asked is not None:
        stated = ", and the allocation states some" if weight is None else ""
        raise InputError(
            f"counts: have no survey weights{stated}. Count with weight={asked!r}, or pass weight=False to "
            "leave them out."
        )
    if weight is not None and counts.weighted_by is None:
        raise InputError(
            f"counts: do not say which column their weights are of, and {weight!r} is asked for. Count with "
            "it, state it as weighted_by= of the counts, or leave weight= out to take their weights as they "
            "are."
        )
    if asked is not None and counts.weighted_by not in (None, asked):
        raise InputError(
            f"counts: have the weights {counts.weighted_by!r}, and {asked!r} are asked for. Count with these."
        )
    if counts.weights is not None and not counts.weights.max() >= SMALLEST_WEIGHT:
        raise InputError(
            f"counts: no cell has a sum of survey weights above {SMALLEST_WEIGHT:g}. Pass weight=False to "
            "count every row once."
        )
    return counts
