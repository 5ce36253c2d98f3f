"""Shares of sub-tables and conditional shares, unbiased, with intervals that cover.

Categories that are asked for together are one category of a coarser attribute, which was randomized with
the same retention and a background summed alike. So the share of any product of sets of categories is one
cell of a coarser table, two categories an axis, and takes its interval from there.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Estimate, Target, normal_quantile
from budget_opt.estimators.joint.cell_errors import CellErrors, cell_errors
from budget_opt.estimators.joint.unbiased import linear
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.unchanging import hold_arrays
from budget_opt.model.domain import Label

Chosen = Mapping[str, Any]
"""Of some attributes a label, or several: {"smoker": "yes", "income": ["low", "middle"]}."""
Masks = tuple[npt.NDArray[np.bool_], ...]
"""Which categories of every axis are meant."""

SMALLEST_SIGNAL = 4.0
"""Standard errors that the share of a condition must be from 0."""


@dataclass(frozen=True, kw_only=True)
class ShareEstimate(Estimate):
    """A share of a sub-table; its interval is that of a cell of a coarser table (see `CellErrors`)."""

    cell: CellErrors

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval within 0 .. 1 that covers the target in a share `level`, in (0, 1), of releases."""
        low, high = self.cell.interval(level)
        return float(low.reshape(-1)[-1]), float(high.reshape(-1)[-1])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its interval at `level`."""
        return {name: value for name, value in super().to_dict(level).items() if name != "cell"}


@dataclass(frozen=True, kw_only=True)
class RatioEstimate(Estimate):
    """A ratio of two linear functions, with Fieller's interval (1954).

    `parts` are both values, `covariance` is theirs from the target, shape (2, 2). The interval is the set of
    all r with (a - r b)^2 <= z^2 Var(a - r b), cut at 0 and 1.
    """

    parts: tuple[float, float]
    covariance: FloatArray

    def __post_init__(self) -> None:
        hold_arrays(self)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level` of releases, within 0 .. 1."""
        z = normal_quantile(level) ** 2
        (aa, ab), (_, bb) = self.covariance.tolist()
        a, b = self.parts
        square, middle, rest = b * b - z * bb, a * b - z * ab, a * a - z * aa
        if square <= 0:
            return 0.0, 1.0
        root = math.sqrt(max(middle * middle - square * rest, 0.0))
        return max((middle - root) / square, 0.0), min((middle + root) / square, 1.0)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The estimate as plain values for JSON, with its interval at `level`."""
        return super().to_dict(level) | {"covariance": self.covariance.tolist(), "parts": list(self.parts)}


def share_of(
    counts: Counts, channels: Sequence[Channel], masks: Masks, target: Target, label: str
) -> ShareEstimate:
    """The share of the rows whose category is meant on every axis; `InputError` where all of them are."""
    coarse, merged = coarser(counts, channels, masks)
    errors = cell_errors(coarse, merged, target)
    value, error = (float(table.reshape(-1)[-1]) for table in (errors.shares, errors.standard_errors))
    few = bool(errors.few.reshape(-1)[-1])
    odd = {
        "negative: noise; the interval tells how far up it may lie": value < 0,
        "few chance events stand behind it: its interval is rough, and widened": few,
    }
    inside = linear(coarse, merged, [_corner(coarse.rows.shape)])
    variance = float(inside.covariances.population[0, 0])
    spread = float(inside.spreads[0])
    return ShareEstimate(
        label=label,
        value=value,
        standard_error=error,
        n=counts.n,
        target=target,
        raw=float(inside.raw[0]),
        effective_n=spread / variance if spread > 0 and variance > 0 else None,
        notes=(*(note for note, holds in odd.items() if holds), *counts.notes),
        cell=errors,
    )


def conditional_share(
    counts: Counts, channels: Sequence[Channel], masks: Masks, given: Masks, target: Target, label: str
) -> RatioEstimate:
    """The share of `masks` among the rows of `given`, by the delta method, with Fieller's interval.

    Raises `NoiseError` where the share of `given` is less than 4 standard errors from 0.
    """
    both = tuple(mask & condition for mask, condition in zip(masks, given, strict=True))
    found = linear(counts, channels, [_indicator(both), _indicator(given)])
    a, b = (float(value) for value in found.values)
    covariance = getattr(found.covariances, target)
    error = math.sqrt(max(float(covariance[1, 1]), 0.0))
    if not b > SMALLEST_SIGNAL * error:
        raise NoiseError(
            f"{label}: the share of the condition has the standard error {error:.3g}, and is less than "
            f"{SMALLEST_SIGNAL:g} of them from 0: a ratio to it would be noise. Choose a larger condition, "
            "or estimate it from more rows.",
            what=label,
            standard_error=error,
            limit=max(b, 0.0) / SMALLEST_SIGNAL,
        )
    direction = np.array([1.0, -a / b]) / b
    raw_a, raw_b = (float(value) for value in found.raw)
    return RatioEstimate(
        label=label,
        value=a / b,
        standard_error=math.sqrt(found.covariances.variance(direction, target)),
        n=counts.n,
        target=target,
        raw=raw_a / raw_b if raw_b > 0 else None,
        parts=(a, b),
        covariance=covariance,
        notes=counts.notes,
    )


def masks_of(
    chosen: Chosen, attributes: Sequence[str], labels: Sequence[Sequence[Label | None]], what: str
) -> Masks:
    """The categories of every axis that are chosen, all of those of attributes that are not named.

    Raises `InputError` for an unknown attribute or label, and for no label.
    """
    if not isinstance(chosen, Mapping):
        raise InputError(
            f'{what}: is a {type(chosen).__name__}, must be a dict, for instance {{"smoker": "yes"}}.'
        )
    for name in chosen:
        if name not in attributes:
            raise InputError(f"{what}: {name!r} is not an attribute of the table ({', '.join(attributes)}).")
    masks = []
    for name, known in zip(attributes, labels, strict=True):
        mask = np.full(len(known), name not in chosen)
        if name in chosen:
            mask[_places(chosen[name], known, f"{what}: {name!r}")] = True
        masks.append(mask)
    return tuple(masks)


def coarser(counts: Counts, channels: Sequence[Channel], masks: Masks) -> tuple[Counts, tuple[Channel, ...]]:
    """The table with two categories an axis, outside and inside of `masks`, and its channels.

    Axes that are inside as a whole are summed out; `InputError` where that are all.
    """
    axes = [axis for axis, mask in enumerate(masks) if not mask.all()]
    if not axes:
        raise InputError("share: all categories of all attributes are chosen; their share is 1.")
    kept = counts.marginal(*(counts.attributes[axis] for axis in axes))
    reduced = replace(kept, randomized_as=())
    merged = []
    for place, axis in enumerate(axes):
        mask, channel = masks[axis], channels[axis]
        reduced = replace(
            reduced,
            rows=_merged(reduced.rows, mask, place),
            weights=None if reduced.weights is None else _merged(reduced.weights, mask, place),
            squares=None if reduced.squares is None else _merged(reduced.squares, mask, place),
        )
        merged.append(replace(channel, background=_merged(channel.background, mask, 0)))
    return reduced, tuple(merged)


def _merged(table: Any, mask: npt.NDArray[np.bool_], axis: int) -> Any:
    parts = [np.compress(side, table, axis).sum(axis=axis) for side in (~mask, mask)]
    return np.stack(parts, axis=axis)


def _places(wanted: Any, known: Sequence[Label | None], where: str) -> list[int]:
    listed = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
    if not listed:
        raise InputError(f"{where}: no category is chosen. Name one or more.")
    # True == 1 in Python, so the type is compared as well
    places = {(type(label), label): code for code, label in enumerate(known)}
    for label in listed:
        if not isinstance(label, Hashable):
            raise InputError(
                f"{where}: a {type(label).__name__} is no category. Give a label, or one list of labels."
            )
        if (type(label), label) not in places:
            raise InputError(f"{where}: {label!r} is not one of its categories.")
    return [places[type(label), label] for label in listed]


def _indicator(masks: Masks) -> FloatArray:
    table = np.ones(())
    for mask in masks:
        table = np.multiply.outer(table, mask.astype(np.float64))
    return table


def _corner(shape: tuple[int, ...]) -> FloatArray:
    table = np.zeros(shape)
    table.reshape(-1)[-1] = 1.0
    return table
