"""How attributes were randomized, as linear maps along the axes of a table (DESIGN 2.1, 2.9, 2.10).

Letters: lambda the implemented retention, q the background, P = lambda I + (1 - lambda) 1 q^T with rows by
the truth x and columns by the report y. Every map below is a closed form; no matrix is formed. Of a table t
over several attributes the maps along its axes are those of the Kronecker product, in any order.

Members of one cluster share a draw: either all of them stay, or all are replaced, each by its own
background. So any of them together are one channel over the product of their categories, with the cluster's
lambda and the product of their backgrounds, and a map goes along their axes together (`along_all`). (Of a
background that is not uniform the counts of the joint codes are each rounded up to a whole word, which
moves the product by less than r / 2^b; the retention is exact.)

    spread      t of truths  -> law of reports       lambda t + (1 - lambda) q sum t
    corrected   t of reports -> unbiased t of truths (t - (1 - lambda) q sum t) / lambda
    unbiased    a of truths  -> h of reports with E[h(y) | x] = a(x):  (a - (1 - lambda) E_q a) / lambda
    expected    h of reports -> E[h(y) | x]:         lambda h + (1 - lambda) E_q h

`corrected` and `unbiased` are adjoint: sum a corrected(t) = sum unbiased(a) t, so that the variance of any
linear function of a corrected table is that of a mean of numbers a report, h(y). Totals are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.model.clusters.block import cluster_name

if TYPE_CHECKING:
    from budget_opt.allocation import AllocatedAttribute

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Channel:
    """One attribute as it was randomized: `retention` lambda in (0, 1], `background` q of shape (r,).

    `cluster` names the cluster that it is a member of, None where it was randomized alone; channels of one
    cluster have one retention. By itself a member is a channel like any other. A public column has
    retention 1. Raises `InputError` for another retention.
    """

    name: str
    retention: float
    background: FloatArray
    cluster: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not 0 < self.retention <= 1:
            raise InputError(
                f"attribute {self.name!r}: the retention is {self.retention!r}, must be in (0, 1]"
            )

    @property
    def cardinality(self) -> int:
        """r, the number of categories."""
        return int(self.background.size)

    def spread(self, table: FloatArray, axis: int = -1) -> FloatArray:
        """The law of reports of a table of truths, along this axis."""
        law = self._noise(table, axis)
        law += self.retention * table
        return law

    def corrected(self, table: FloatArray, axis: int = -1) -> FloatArray:
        """The unbiased table of truths of a table of reports, along this axis."""
        truths = self._noise(table, axis)
        np.subtract(table, truths, out=truths)
        truths /= self.retention
        return truths

    def unbiased(self, values: FloatArray, axis: int = -1) -> FloatArray:
        """h with E[h(y) | x] = a(x), of a function a of the categories along this axis."""
        mean = (values * self._along(values, axis)).sum(axis=axis, keepdims=True)
        functions: FloatArray = values - (1 - self.retention) * mean
        functions /= self.retention
        return functions

    def expected(self, values: FloatArray, axis: int = -1) -> FloatArray:
        """E[h(y) | x] of a function h of the reports along this axis."""
        mean = (values * self._along(values, axis)).sum(axis=axis, keepdims=True)
        expectation: FloatArray = self.retention * values
        expectation += (1 - self.retention) * mean
        return expectation

    def squared(self, table: FloatArray, axis: int = -1) -> FloatArray:
        """sum_y Pinv[y, x]^2 t(y) along this axis: E h_x(y)^2, h_x unbiased for the indicator of x."""
        lost = (1 - self.retention) * self._along(table, axis)
        total = table.sum(axis=axis, keepdims=True)
        squares: FloatArray = lost**2 * total
        squares += (1 - 2 * lost) * table
        squares /= self.retention**2
        return squares

    def _noise(self, table: FloatArray, axis: int) -> FloatArray:
        """(1 - lambda) q sum t along the axis, in memory of its own."""
        total = table.sum(axis=axis, keepdims=True)
        noise: FloatArray = (1 - self.retention) * self._along(table, axis) * total
        return noise

    def _along(self, table: FloatArray, axis: int) -> FloatArray:
        shape = [1] * table.ndim
        shape[axis] = -1
        return self.background.reshape(shape)


def along_all(
    step: Callable[[Channel, FloatArray, int], FloatArray], channels: Sequence[Channel], table: FloatArray
) -> FloatArray:
    """One of the maps along every axis in turn: `along_all(Channel.corrected, channels, counts)`.

    Axis m is that of `channels[m]`, and the axes of one cluster are taken together; further axes at the end
    are left alone.
    """
    for axes in axes_of_blocks(channels):
        if len(axes) == 1:
            table = step(channels[axes[0]], table, axes[0])
        else:
            table = _along_together(step, [channels[axis] for axis in axes], table, axes)
    return table


def axes_of_blocks(channels: Sequence[Channel]) -> tuple[tuple[int, ...], ...]:
    """The places of what was randomized together, in the order of the first of each."""
    found: dict[object, list[int]] = {}
    for axis, channel in enumerate(channels):
        found.setdefault((axis,) if channel.cluster is None else channel.cluster, []).append(axis)
    return tuple(map(tuple, found.values()))


def touches_twice(channels: Sequence[Channel]) -> bool:
    """Whether two of the channels are members of one cluster."""
    return len(axes_of_blocks(channels)) < len(channels)


def retention_of(channels: Sequence[Channel]) -> float:
    """The product of the retentions of what was randomized by itself: a cluster counts once."""
    return math.prod(channels[axes[0]].retention for axes in axes_of_blocks(channels))


def joint_channel(members: Sequence[Channel]) -> Channel:
    """Members of one cluster as one channel over the product of their categories, the last fastest."""
    if len(members) == 1:
        return members[0]
    name = " + ".join(member.name for member in members)
    kept = {member.retention for member in members}
    if len(kept) > 1:
        raise InputError(f"cluster {name!r}: its members must have one retention, they have {sorted(kept)}.")
    background: FloatArray = reduce(np.multiply.outer, [member.background for member in members])
    return Channel(name, members[0].retention, background.reshape(-1))


def _along_together(
    step: Callable[[Channel, FloatArray, int], FloatArray],
    members: Sequence[Channel],
    table: FloatArray,
    axes: Sequence[int],
) -> FloatArray:
    """The map of the joint channel along the axes of a cluster's members."""
    first = tuple(range(len(axes)))
    moved = np.moveaxis(table, axes, first)
    shape = moved.shape
    joint = moved.reshape(-1, *shape[len(axes) :])
    return np.moveaxis(step(joint_channel(members), joint, 0).reshape(shape), first, axes)


def require_released(attribute: AllocatedAttribute) -> None:
    """`InputError` where nothing of the attribute was released."""
    if not attribute.is_released:
        raise InputError(
            f"attribute {attribute.name!r}: epsilon is {attribute.epsilon!r}, so nothing about it was "
            "released and nothing with it can be estimated. Give it a budget (epsilon_min, or a floor on a "
            "moment with it)."
        )


def channel_of(attribute: AllocatedAttribute) -> Channel:
    """The channel of an attribute of an allocation.

    `InputError` where nothing of it was released, and for a matrix that a known source chose.
    """
    require_released(attribute)
    if not attribute.has_retention:
        raise InputError(
            f"attribute {attribute.name!r}: its matrix was chosen for a known source and has no retention; "
            "of it the marginal alone is estimated. Take estimate.source_marginal(released, allocation, "
            f"{attribute.name!r}), or remove its source before a release."
        )
    cluster = cluster_name(attribute.cluster) if attribute.cluster else None
    kept, background = float(attribute.exact_retention), _background(attribute)
    return Channel(attribute.name, kept, background, cluster=cluster)


def _background(attribute: AllocatedAttribute) -> FloatArray:
    """The law of a replaced cell, from the integers of its column."""
    sampler = attribute.column_sampler
    if isinstance(sampler, BackgroundSampler):
        return np.array([float(Fraction(count, sampler.replaced)) for count in sampler.counts])
    law: FloatArray = uniform(attribute.cardinality)
    return law


def uniform(cardinality: int) -> Any:
    """The uniform background over r categories, shape (r,)."""
    return np.full(cardinality, 1.0 / cardinality)
