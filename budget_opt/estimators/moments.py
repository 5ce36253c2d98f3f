"""Corrected cross-moments of a release with standard errors (DESIGN 2.2, 2.3, 2.10).

Letters: S the attributes, R_S = prod lambda, W~ = f(y) - mean of f(y), psi the influence function
of the released moment. All sums are weighted means over cells of products of per-category numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError
from budget_opt.estimators.counting import Cells, FloatArray, cells_of_codes, cells_of_counts
from budget_opt.estimators.designs import Design, designs_of, require_products_in_range, scores_by_name
from budget_opt.estimators.estimate import MomentEstimate, Target
from budget_opt.tables.counting import AnyCodes

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


def moment(
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Target = "population",
    scores: Mapping[str, Sequence[float]] | None = None,
) -> MomentEstimate:
    """What the original moment E prod (f_m - E f_m) of `attributes` was, from the released table alone.

    For one attribute it is the mean E f: the centred moment would be zero, and the statement
    P(y = v) - q_v = lambda (P(x = v) - q_v) of DESIGN 2.2 gives (mean f(y) - (1 - lambda) E_q f) / lambda.
    For more it is the sample-centred moment with divisor n over R_S. Given the data, its expectation is the
    data's own moment exactly; as an estimate of the population's it shares the bias of that
    (a factor 1 - 1/n at order 2), which is far below the standard error.

    `released` is a pandas, polars or pyarrow table, or a path of a .csv, .csv.gz or .parquet file. `target`
    says what the error is measured from: `population`, or `data`, the value in the original table.
    `scores` replaces declared scores. Raises `InputError` for attributes that cannot be estimated and for
    too few rows (more than the order, and two, are needed), `DataError` for cells outside the domain.
    """
    return moments(released, allocation, [attributes], target=target, scores=scores)[0]


def moments(
    released: Any,
    allocation: Allocation,
    wanted: Sequence[Sequence[str]],
    *,
    target: Target = "population",
    scores: Mapping[str, Sequence[float]] | None = None,
) -> tuple[MomentEstimate, ...]:
    """Several moments of one release, which is read once; everything else is as in `moment`."""
    from budget_opt.tables.reading import read_codes

    given = scores_by_name(scores)
    sets = [
        designs_of(allocation, tuple(names), {name: given[name] for name in names if name in given})
        for names in wanted
    ]
    used = {design.name for designs in sets for design in designs}
    _check_all_used(given, used)
    domains = {a.name: a.domain for a in allocation.attributes if a.name in used}
    codes = read_codes(released, domains, released=True)
    return tuple(moment_from_codes(codes, designs, target=target) for designs in sets)


def moment_from_codes(
    codes: Mapping[str, AnyCodes], designs: Sequence[Design], *, target: Target = "population"
) -> MomentEstimate:
    """As `moment`, from columns of released codes 0 .. r-1; only those that `designs` name are read."""
    cells = cells_of_codes(codes, {design.name: design.cardinality for design in designs})
    return moment_from_cells(cells, designs, target)


def moment_from_counts(
    counts: npt.ArrayLike, designs: Sequence[Design], *, target: Target = "population"
) -> MomentEstimate:
    """As `moment`, from a joint table of released counts, one axis an attribute, as in `designs`."""
    shape = tuple(design.cardinality for design in designs)
    if np.shape(counts) != shape:
        raise InputError(f"counts: the table has shape {np.shape(counts)}, the attributes need {shape}.")
    return moment_from_cells(cells_of_counts(counts), designs, target)


def moment_from_cells(cells: Cells, designs: Sequence[Design], target: Target) -> MomentEstimate:
    """As `moment`, from weighted cells whose codes are in range, in the order of `designs`."""
    _check_target(target)
    require_products_in_range(designs)
    n, order = cells.n, len(designs)
    least = max(2, order + 1)
    if n < least:
        raise InputError(
            f"the release: has {n} rows, a moment of order {order} needs at least {least} for its error. "
            "Give more rows."
        )
    means = _means(cells, designs)
    centred = [design.scores - mean for design, mean in zip(designs, means, strict=True)]
    whole, parts = _released_moments(cells, centred)
    variances = _variances(cells, centred, designs, whole, parts)
    retention = math.prod(design.retention for design in designs)
    if order == 1:
        observed = means[0]
        value = (observed - (1 - retention) * designs[0].background_mean) / retention
    else:
        observed, value = whole, whole / retention
    return MomentEstimate(
        attributes=tuple(design.name for design in designs),
        value=value,
        standard_error=math.sqrt(variances[target] / n) / retention,
        n=n,
        target=target,
        retention=retention,
        observed=observed,
    )


def _means(cells: Cells, designs: Sequence[Design]) -> list[float]:
    totals = np.zeros(len(designs))
    for codes, weight, _ in cells.blocks():
        totals += [weight @ design.scores[code] for code, design in zip(codes, designs, strict=True)]
    return [float(total) / cells.total for total in totals]


def _released_moments(cells: Cells, centred: Sequence[FloatArray]) -> tuple[float, FloatArray]:
    """The released moment m_S, and m_{S without j} for each j; exactly 0 where that is of order one."""
    order = len(centred)
    whole, parts = 0.0, np.zeros(order)
    for codes, weight, _ in cells.blocks():
        scored = [table[code] for code, table in zip(codes, centred, strict=True)]
        whole += float(weight @ _product(scored))
        if order > 2:
            parts += [weight @ _product(scored, without=j) for j in range(order)]
    return whole / cells.total, parts / cells.total


def _variances(
    cells: Cells,
    centred: Sequence[FloatArray],
    designs: Sequence[Design],
    whole: float,
    parts: FloatArray,
) -> dict[Target, float]:
    """n times the variance of the released moment, by target; m_j is `parts`, the moment without j.

    Population: Var psi, psi = prod W~ - sum_j m_j W~_j (DESIGN 2.3), with the divisor n - 1. Data: only y is
    random, so it is E Var(psi | x) = E psi^2 - E (E[psi | x])^2. Given x the W are independent, W~ is
    unbiased for its own mean, and W~^2 - noise for that mean's square; so a row's share is, unbiasedly,

        prod W~^2 - prod (W~^2 - noise) - 2 sum_j m_j noise_j prod_{i != j} W~_i + sum_j m_j^2 noise_j

    which is `noise` itself at order one. In a small table the difference may come out negative: then the
    data's variance is replaced by the population's, which is never smaller in truth; and the population's
    is never reported below the data's. Both step to the larger error.
    """
    n = cells.n
    noises = [design.noise for design in designs]
    first = second = given_data = 0.0
    for codes, _, weight in cells.blocks():
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
        first += float(weight @ psi)
        second += float(weight @ (psi * psi))
        given_data += float(weight @ share)
    population = max(second - first * first / n, 0.0) / (n - 1)
    data = given_data / n
    if data <= 0:
        data = population
    return {"population": max(population, data), "data": data}


def _product(factors: Sequence[FloatArray], without: int | None = None) -> Any:
    """The elementwise product of the factors, without the one at that place; 1 for none."""
    product: Any = 1.0
    for place, factor in enumerate(factors):
        if place != without:
            product = product * factor
    return product


def _check_target(target: str) -> None:
    if target not in get_args(Target):
        raise InputError(f'target: is {target!r}, must be "population" or "data".')


def _check_all_used(given: Mapping[str, object], used: set[str]) -> None:
    unused = sorted(set(given) - used)
    if unused:
        raise InputError(f"scores: {unused[0]!r} is not an attribute of the moments asked for. Leave it out.")
