"""Statistics of released counts: what each is of theta (`divergence`), its range, and what to say of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel
from budget_opt.estimators.estimate import Target, require_target
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.statistics.corrected import CorrectedTable, corrected_table
from budget_opt.estimators.statistics.divergence import (
    Divergence,
    chi_square,
    from_uniform,
    mutual_information,
)
from budget_opt.estimators.statistics.few_rows import require_informed
from budget_opt.estimators.statistics.plain import plain_entropy, plain_information, plain_phi_square
from budget_opt.estimators.statistics.results import Scale, StatisticEstimate, Unit
from budget_opt.estimators.statistics.smoothing import near_zero

Distance: TypeAlias = Callable[[CorrectedTable], Divergence]

_NEGATIVE = 0.05
"""The share of a variance up to which negative cells may take part in it."""
_PAIRS = ("mutual information", "chi-square", "G^2", "phi^2", "Cramer's V")


@dataclass(frozen=True)
class _Asked:
    """A statistic, what it is of theta, what it is of the released table, and what is to be said of it."""

    statistic: str
    scale: Scale
    raw: float
    notes: tuple[str, ...]
    unit: Unit | None


def entropy_estimate(
    counts: Counts,
    channels: Sequence[Channel],
    target: Target = "population",
    *,
    unit: Unit = "nats",
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """The joint entropy of all attributes of the counts. Raises `InputError`, `NoiseError`."""
    require_target(target)
    size = math.prod(counts.rows.shape)
    if size < 2:
        raise InputError("entropy: of one category alone is 0. Name an attribute with two or more.")
    table = corrected_table(counts, channels, target)
    one = _unit(unit)
    scale = Scale(start=math.log(size) / one, factor=-0.5 / one, largest=math.log(size) / one)
    raw = plain_entropy(table.shares) / one
    asked = _Asked("entropy", scale, raw, (*counts.notes, *_cell_notes(table, 84)), unit)
    return _estimate(asked, table, from_uniform, noise_limit)


def pair_estimate(
    statistic: str,
    counts: Counts,
    channels: Sequence[Channel],
    target: Target = "population",
    *,
    unit: Unit = "nats",
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """One of the statistics of two attributes, by its name. Raises `InputError`, `NoiseError`.

    chi-square is n phi^2 and G^2 is 2 n times the mutual information of the target's table, n the rows or
    with survey weights Kish's effective number of them: that of the design whose chi-square has the mean
    freedoms / n under independence where the weights do not depend on the values (Rao and Scott 1981).
    """
    require_target(target)
    if statistic not in _PAIRS:
        raise InputError(f"statistic: is {statistic!r}, must be one of {', '.join(map(repr, _PAIRS))}.")
    if len(channels) != 2:
        raise InputError(f"{statistic}: is of two attributes, {len(channels)} are named. Name two.")
    table = corrected_table(counts, channels, target)
    rank = least_cardinality(table) - 1
    if rank < 1:
        raise InputError(
            f"{statistic}: one of the attributes has a single category, so that nothing can depend on it."
        )
    by_logarithms = statistic in ("mutual information", "G^2")
    plain = 2 * plain_information(table.shares) if by_logarithms else plain_phi_square(table.shares)
    distance = mutual_information if by_logarithms else chi_square
    most = 2 * math.log(rank + 1) if by_logarithms else float(rank)
    factor = {
        "mutual information": 0.5 / _unit(unit),
        "chi-square": counts.effective,
        "G^2": counts.effective,
        "phi^2": 1.0,
        "Cramer's V": 1 / rank,
    }[statistic]
    root = statistic == "Cramer's V"
    scale = Scale(0.0, factor, math.sqrt(factor * most) if root else factor * most, root)
    notes = (*counts.notes, *_margin_notes(table), *_cell_notes(table, 83 if by_logarithms else 87))
    shown = unit if statistic == "mutual information" else None
    return _estimate(_Asked(statistic, scale, scale.of(plain), notes, shown), table, distance, noise_limit)


def least_cardinality(table: CorrectedTable) -> int:
    """The number of categories that can be, of the attribute with fewest.

    Every declared category can be where there is noise: that none of it is seen is then no evidence. Without
    noise (a public column) a category without rows is none.
    """
    occupied = [
        int(np.count_nonzero(table.margin(axis).shares)) if channel.retention == 1 else channel.cardinality
        for axis, channel in enumerate(table.channels)
    ]
    return min(occupied)


def _unit(unit: object) -> float:
    sizes = {"nats": 1.0, "bits": math.log(2)}
    if not isinstance(unit, str) or unit not in sizes:
        raise InputError(f'unit: is {unit!r}, must be "nats" or "bits".')
    return sizes[unit]


def _estimate(
    asked: _Asked, table: CorrectedTable, distance: Distance, noise_limit: float
) -> StatisticEstimate:
    divergence = distance(table)
    names = tuple(channel.name for channel in table.channels)
    label = f"{asked.statistic} of {' x '.join(names)}"
    theta, scale = float(divergence.value), asked.scale
    if scale.root:  # of the root of a noncentral chi-square, which is at most sqrt(a) anywhere
        error = math.sqrt(float(divergence.scale) * scale.factor)
    else:
        error = float(divergence.standard_error) * abs(scale.factor)
    bias = max(scale.apart(theta, float(divergence.bias)), scale.apart(0.0, float(divergence.hidden)))
    require_informed(label, table, error, bias, scale.largest, noise_limit)
    return StatisticEstimate(
        label=label,
        value=scale.of(theta),
        standard_error=error,
        n=table.n,
        target=table.target,
        raw=asked.raw,
        effective_n=_effective_n(replace(table, target="population"), distance, root=scale.root),
        notes=(*asked.notes, *_range_notes(asked.statistic, scale, divergence)),
        statistic=asked.statistic,
        attributes=names,
        unit=asked.unit,
        divergence=divergence,
        scale=scale,
    )


def _effective_n(table: CorrectedTable, distance: Distance, *, root: bool) -> float | None:
    """Unrandomized rows of the same error from the population; None where it is not known.

    Where the interval begins at 0 the first derivative says nothing: there the rows of independent attributes
    (of an entropy: of a uniform table) are meant, n of which have noise = freedoms / n and scale = 1 / n.
    Elsewhere those of the same first-order error, g' Sigma g; its own part sum pi (g - mean)^2 is not known
    where negative cells count in it.
    """
    divergence = distance(table)
    if float(divergence.interval(0.95)[0]) <= 0:
        scale, error = float(divergence.scale), float(divergence.standard_error)
        if root:
            return 1 / scale if scale > 0 else None
        return math.sqrt(2 * divergence.freedoms) / error if error > 0 else None
    g = divergence.gradient
    mean = float((table.cells * g).sum())
    own = table.cells * (g - mean) ** 2
    spread, error = float(own.sum()), float(table.variance_of(g))
    if -float(own[own < 0].sum()) > _NEGATIVE * spread or spread <= 0 or error <= 0:
        return None
    return spread / error


def _range_notes(statistic: str, scale: Scale, divergence: Divergence) -> list[str]:
    theta = float(divergence.value)
    notes = []
    if scale.start + scale.factor * theta < 0:
        notes.append(
            f"the estimate of {statistic} is below 0, as it may be by chance where the truth is near 0"
        )
    elif scale.of(theta) > scale.largest:
        notes.append(
            f"the estimate of {statistic} is above its largest possible value, as it may be by chance"
        )
    if float(divergence.allowance) > 0:
        bias = scale.apart(theta, float(divergence.bias))
        notes.append(
            f"cells or categories near 0 may leave a bias of up to {bias:.2g}, by which the interval is wider"
        )
    hidden = int(divergence.hidden)
    if hidden:
        notes.append(
            f"rare categories of both attributes that cannot be told from 0 may go together, {hidden} pairs: "
            f"{statistic} is larger than the estimate by up to {scale.apart(theta, hidden):.2g}, and so is "
            "the upper end of the interval"
        )
    ends = [scale.of(float(end)) for end in divergence.interval(0.95)]
    below, above = min(ends) < 0, max(ends) > scale.largest * (1 + 1e-12)
    if below and above:
        notes.append(
            f"the 95 % interval is unbounded but for the range, 0 to {scale.largest:.4g}: {statistic} is not "
            "told apart from noise"
        )
    elif below or above:
        notes.append(f"the 95 % interval is cut off at the end of the range, 0 to {scale.largest:.4g}")
    return notes


def _cell_notes(table: CorrectedTable, covered: int) -> list[str]:
    """`covered` is the least coverage that was measured there."""
    negative = int(np.count_nonzero(table.cells < 0))
    near = int(np.count_nonzero(near_zero(table.cells, table.errors)))
    notes = []
    if negative:
        notes.append(f"{negative} of {table.cells.size} corrected cells are negative; none is cut off")
    if near:
        notes.append(
            f"{near} of {table.cells.size} corrected cells are within 4 standard errors of 0: the 95 % "
            f"interval may cover as little as {covered} % (measured)"
        )
    return notes


def _margin_notes(table: CorrectedTable) -> list[str]:
    notes = []
    for axis, channel in enumerate(table.channels):
        margin = table.margin(axis)
        near = int(np.count_nonzero(near_zero(margin.cells, margin.errors)))
        if near:
            notes.append(
                f"{near} categories of {channel.name!r} may not occur at all (within 4 standard errors of "
                "0). Merged with others they would be estimated better."
            )
    return notes
