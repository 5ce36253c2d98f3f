"""Corrected cross-moments of a release with standard errors (DESIGN 2.2, 2.3, 2.10).

Letters: S the attributes, R_S = prod lambda, W~ = f(y) - mean of f(y), psi the influence function
of the released moment. All sums are weighted means over cells of products of per-category numbers; N, W1 and
W2 are as in `counting`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray, axes_of_blocks, retention_of, touches_twice
from budget_opt.estimators.estimate import MomentEstimate, Target, require_target
from budget_opt.estimators.intervals.chance_events import behind, chance_events, degrees_of, few_note
from budget_opt.estimators.intervals.errors_of_means import (
    is_randomized,
    larger,
    require_rows,
    sampling_factor,
)
from budget_opt.estimators.intervals.score_ranges import range_notes
from budget_opt.estimators.moments.designs import Design, require_products_in_range
from budget_opt.estimators.moments.inside_clusters import moment_inside
from budget_opt.estimators.moments.of_two import of_two
from budget_opt.estimators.moments.spread import Spread, effective_rows, spreads_of
from budget_opt.estimators.moments.usefulness import usefulness_of_scaled
from budget_opt.estimators.releases.counting import Cells, cells_of_codes, cells_of_counts, counts_of
from budget_opt.tables.counting import AnyCodes

NO_VARIANCE = "the corrected variance of {} is not positive: no effective n"
"""A note: a marginal whose noise is as large as its variance."""


def moment_from_codes(
    codes: Mapping[str, AnyCodes], designs: Sequence[Design], *, target: Target = "population"
) -> MomentEstimate:
    """As `moment_from_cells`, from columns of released codes 0 .. r-1; only those of `designs` are read."""
    cells = cells_of_codes(codes, {design.name: design.cardinality for design in designs})
    return moment_from_cells(cells, designs, target)


def moment_from_counts(
    counts: npt.ArrayLike, designs: Sequence[Design], *, target: Target = "population"
) -> MomentEstimate:
    """As `moment_from_cells`, from a joint table of released counts, one axis an attribute in order."""
    shape = tuple(design.cardinality for design in designs)
    if np.shape(counts) != shape:
        raise InputError(f"counts: the table has shape {np.shape(counts)}, the attributes need {shape}.")
    return moment_from_cells(cells_of_counts(counts), designs, target)


def moment_from_cells(cells: Cells, designs: Sequence[Design], target: Target) -> MomentEstimate:
    """What the original moment E prod (f_m - E f_m) was, from weighted cells in the order of `designs`.

    For one attribute it is the mean E f: the centred moment would be zero, and the statement
    P(y = v) - q_v = lambda (P(x = v) - q_v) of DESIGN 2.2 gives (mean f(y) - (1 - lambda) E_q f) / lambda.
    For more it is the sample-centred moment with divisor n over R_S. Given the data, its expectation is the
    data's own moment exactly; as an estimate of the population's it shares the bias of that
    (a factor 1 - 1/n at order 2), which is far below the standard error. Where two members of one cluster
    take part, see `inside_clusters`. Raises `InputError` for too few rows (more than the order, and two, are
    needed).
    """
    require_target(target)
    require_products_in_range(designs)
    n, order = cells.n, len(designs)
    require_rows(cells, f"a moment of order {order}", max(2, order + 1))
    spreads = spreads_of(cells, designs)
    if touches_twice(designs):
        return _of_members(cells, designs, spreads, target)
    centred = [spread.centred for spread in spreads]
    whole, parts = _released_moments(cells, centred)
    retention = retention_of(designs)
    found = _variances(cells, centred, designs, whole, parts)
    variance = found.variances[target] / retention**2
    evidence = _evidence(found.square, found.fourth, cells.effective, spreads, designs, target)
    share = None
    if order == 1 and designs[0].cardinality == 2:
        share = of_two(counts_of(cells, [designs[0].name], [2]), designs[0], target)
    raw, value, deviation = whole, whole / retention, whole / retention
    if order == 1:
        raw, value = (designs[0].origin + mean for mean in (spreads[0].raw_mean, spreads[0].mean))
        deviation = spreads[0].mean - designs[0].background_mean
    names = tuple(design.name for design in designs)
    estimate = MomentEstimate(
        label=" x ".join(names),
        attributes=names,
        value=value,
        standard_error=math.sqrt(variance),
        n=n,
        target=target,
        retention=retention,
        raw=raw,
        effective_n=effective_rows(cells.effective, spreads),
        usefulness=usefulness_of_scaled(deviation, variance, retention),
        degrees=None if share is not None else evidence.degrees,
        of_two=share,
        notes=(*_notes(spreads), *few_note(evidence.behind)),
    )
    if order > 1:
        return estimate
    ends = (designs[0].origin + float(end) for end in (designs[0].scores.min(), designs[0].scores.max()))
    return replace(estimate, notes=(*estimate.notes, *range_notes(estimate, *ends)))


def _of_members(
    cells: Cells, designs: Sequence[Design], spreads: Sequence[Spread], target: Target
) -> MomentEstimate:
    """The moment where two members of one cluster take part; `retention` is that of functions of it."""
    found = moment_inside(cells, designs, spreads)
    evidence = _evidence(found.square, found.fourth, cells.effective, spreads, designs, target)
    names = tuple(design.name for design in designs)
    return MomentEstimate(
        label=" x ".join(names),
        attributes=names,
        value=found.value,
        standard_error=math.sqrt(found.variance(target)),
        n=cells.n,
        target=target,
        retention=retention_of(designs),
        raw=found.raw,
        effective_n=None if found.inflation is None else cells.effective / found.inflation,
        usefulness=found.usefulness(target),
        degrees=evidence.degrees,
        notes=(*_of_clusters(designs), *_notes(spreads), *few_note(evidence.behind)),
    )


@dataclass(frozen=True)
class _Evidence:
    """Degrees of freedom of an interval, None for the normal law, and how many chance events it rests on."""

    degrees: float | None
    behind: float


def _evidence(
    square: float,
    fourth: float,
    effective: float,
    spreads: Sequence[Spread],
    designs: Sequence[Design],
    target: Target,
) -> _Evidence:
    """What stands behind an error, from the means of psi^2 and psi^4 over the rows."""
    events = chance_events(square, fourth, effective)
    if any(spread.unseen for spread in spreads):
        events = np.zeros(())
    degrees = float(degrees_of(events, effective))
    unlinked = chance_events(1.0, math.prod(spread.kurtosis for spread in spreads), effective)
    number = float(behind(np.minimum(events, unlinked), effective, retention_of(designs), target))
    return _Evidence(None if math.isinf(degrees) else degrees, number)


def largest_moment(designs: Sequence[Design]) -> float:
    """The largest size that a moment of these scores can have (for one attribute: of E f - mid-range).

    By Hölder's inequality at most prod (E |f_m - mu_m|^k)^(1/k), and each factor is largest where all mass
    lies on the ends of the range, p on one of them: range^k ((1 - p) p^k + p (1 - p)^k).
    """
    return _largest_share(len(designs)) * math.prod(float(np.ptp(design.scores)) for design in designs)


@cache
def _largest_share(k: int) -> float:
    p = np.linspace(0, 0.5, 5001)
    return float(np.max((1 - p) * p**k + p * (1 - p) ** k))


def _notes(spreads: Sequence[Spread]) -> tuple[str, ...]:
    return tuple(NO_VARIANCE.format(one.design.name) for one in spreads if one.inflation is None)


def _of_clusters(designs: Sequence[Design]) -> tuple[str, ...]:
    """What is said of members of one cluster, for whom the product rule does not hold."""
    together = [axes for axes in axes_of_blocks(designs) if len(axes) > 1]
    return tuple(
        f"{' and '.join(designs[axis].name for axis in axes)} are randomized together: the retention is that "
        "of functions of their cluster, and the raw number is not the corrected one times it"
        for axes in together
    )


def _released_moments(cells: Cells, centred: Sequence[FloatArray]) -> tuple[float, FloatArray]:
    """The released moment m_S, and m_{S without j} for each j; exactly 0 where that is of order one."""
    order = len(centred)
    whole, parts = 0.0, np.zeros(order)
    for codes, first, _ in cells.blocks():
        scored = [table[code] for code, table in zip(codes, centred, strict=True)]
        whole += float(first @ _product(scored))
        if order > 2:
            parts += [first @ _product(scored, without=j) for j in range(order)]
    return whole / cells.total, parts / cells.total


@dataclass(frozen=True)
class _Variances:
    """By target, and the means of psi^2 and of psi^4 over the rows, in a unit of their own size."""

    variances: dict[Target, float]
    square: float
    fourth: float


def _variances(
    cells: Cells,
    centred: Sequence[FloatArray],
    designs: Sequence[Design],
    whole: float,
    parts: FloatArray,
) -> _Variances:
    """The variance of the released moment, by target, and the means of psi^2 and psi^4.

    m_j is `parts`, the moment without j.

    Population: that of the mean of psi = prod W~ - m_S - sum_j m_j W~_j (DESIGN 2.3). Data: only y is
    random, so a row adds Var(psi | x) = E psi^2 - (E[psi | x])^2. Given x the W are independent, W~ is
    unbiased for its own mean, and W~^2 - noise for that mean's square; so a row's share is, unbiasedly,

        prod W~^2 - prod (W~^2 - noise) - 2 sum_j m_j noise_j prod_{i != j} W~_i + sum_j m_j^2 noise_j

    which is `noise` itself at order one.
    """
    noises = [design.noise for design in designs]
    population = data = fourth = 0.0
    unit = math.prod(float(np.abs(table).max()) or 1.0 for table in centred)
    for codes, _, second in cells.blocks():
        scored = [table[code] for code, table in zip(codes, centred, strict=True)]
        noise = [table[code] for code, table in zip(codes, noises, strict=True)]
        psi = _product(scored) - whole
        share = _product([u * u for u in scored]) - _product(
            [u * u - d for u, d in zip(scored, noise, strict=True)]
        )
        for j, part in enumerate(parts):
            if part != 0:
                psi = psi - part * scored[j]
                share = share + part * noise[j] * (part - 2 * _product(scored, without=j))
        population += float(second @ (psi * psi))
        fourth += float(second @ (psi / unit) ** 4)
        data += float(second @ share)
    squared = cells.total**2
    total = squared / cells.effective  # sum W2
    variances = larger(
        population * sampling_factor(cells.effective) / squared,
        data / squared,
        randomized=is_randomized(designs),
    )
    return _Variances(variances, population / total / unit / unit, fourth / total)


def _product(factors: Sequence[FloatArray], without: int | None = None) -> Any:
    """The elementwise product of the factors, without the one at that place; 1 for none."""
    product: Any = 1.0
    for place, factor in enumerate(factors):
        if place != without:
            product = product * factor
    return product
