"""What every estimator works on: the released cells of some attributes, with their channels and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, channel_of
from budget_opt.estimators.counting import Cells, Counts, FloatArray, counts_of
from budget_opt.model.domain import Label
from budget_opt.tables.counting import AnyCodes, IntArray

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


@dataclass(frozen=True)
class Released:
    """A release as weighted rows: `codes` by column, all of one length, and what each place stands for.

    `channels` and `labels` (by code) are of the same columns. `rows`, `weights`, `squares` as in `Cells`.
    """

    allocation: Allocation
    channels: Mapping[str, Channel]
    labels: Mapping[str, tuple[Label | None, ...]]
    codes: Mapping[str, AnyCodes]
    rows: IntArray | None = None
    weights: FloatArray | None = None
    squares: FloatArray | None = None

    def cells(self, *names: str) -> Cells:
        """The rows of these attributes, in this order."""
        return Cells(tuple(self.codes[name] for name in names), self.rows, self.weights, self.squares)

    def counts(self, *names: str) -> Counts:
        """The joint table of these attributes, in this order."""
        return counts_of(self.cells(*names), names, [self.channels[name].cardinality for name in names])

    def channels_of(self, *names: str) -> tuple[Channel, ...]:
        """The channels of these attributes, in this order."""
        return tuple(self.channels[name] for name in names)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.cells(next(iter(self.codes))).n


def open_released(
    released: Any, allocation: Allocation, names: Sequence[str], *, weight: str | None = None
) -> Released:
    """The columns `names` of a release: a table, the path of a file, or `Counts` of these and perhaps others.

    `weight` is the public column of survey weights, None for that of the allocation's problem, if any.
    """
    from budget_opt.tables.reading import read_codes

    known = {attribute.name: attribute for attribute in allocation.attributes}
    for name in names:
        if name not in known:
            raise InputError(f"{name!r} is not an attribute of the allocation.")
    channels = {name: channel_of(known[name]) for name in names}
    labels = {name: known[name].domain.labels for name in names}
    if isinstance(released, Counts):
        cells = released.cells
        codes = dict(zip(released.attributes, cells.codes, strict=True))
        wanted = {name: codes[name] for name in names}
        return Released(allocation, channels, labels, wanted, cells.rows, cells.weights, cells.squares)
    domains = {name: known[name].domain for name in names}
    return Released(allocation, channels, labels, read_codes(released, domains, released=True))
