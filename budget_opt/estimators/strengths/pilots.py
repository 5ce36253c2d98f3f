"""Joint tables of the moments that a problem weighs: as they are, or with noise that a budget pays for.

The privacy of the noisy tables (n, the domains and the moments are public). Let E be the budget, K the
number of moments. Each moment has one table of counts, and each record stands in exactly one cell of
each table. Replacing one record by another moves it from one cell to at most one other: in every table two
counts change, each by 1, or none. So the vector of all counts of all tables changes by at most 2 K in sum of
absolute differences, whatever the data, and `discrete_laplace` noise of rate E / (2 K) on every cell,
drawn anew for each, makes all tables together E-differentially private; no theorem of composition is needed
for it. Shares, marginals, strengths and weights are computed from the noisy tables and n alone, and cost
nothing more. Nothing else of the data is looked at, except that a cell outside its domain stops everything.
The time that a pilot takes depends on the noise that is drawn, since draws are rejected until one fits:
whoever can measure it learns something of the noise, which the epsilon does not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.releases.counting import FloatArray
from budget_opt.estimators.strengths.links import Axis, Link, link
from budget_opt.estimators.strengths.result import is_measured
from budget_opt.mechanisms.discrete_laplace import Below, discrete_laplace, noise_variance
from budget_opt.mechanisms.exact import exact
from budget_opt.model.backgrounds.background import background_shares
from budget_opt.model.moments.by_moment import told_apart
from budget_opt.tables.counting import AnyCodes, IntArray, joint_counts

if TYPE_CHECKING:
    from budget_opt.model.attribute import Attribute
    from budget_opt.model.problem import Problem

LARGEST_TABLE = 2**22
"""Cells of one moment's table (32 MB)."""
LARGEST_PILOT = 2**20
"""Cells of all tables of a pilot: each gets a draw of some microseconds."""

Tables = Mapping[tuple[str, ...], FloatArray]
"""Counts by the attributes of a moment, one axis an attribute."""


def weighted_moments(problem: Problem) -> tuple[tuple[str, ...], ...]:
    """The attributes of the moments whose links are measured: those with a weight, and no public column.

    Raises `InputError` where there is none, or one too large.
    """
    weighted = [moment for moment in problem.moments if moment.weight > 0 and is_measured(problem, moment)]
    if not weighted:
        raise InputError(
            "problem: has no moment of attributes alone with a weight above 0, and strengths are of links "
            "between attributes: with a public column, whose categories nobody declared, a weight stays as "
            "it is stated. State the moments whose links may matter."
        )
    for moment, name in zip(weighted, told_apart(weighted), strict=True):
        cells = _cells(problem, moment.attributes)
        if cells > LARGEST_TABLE:
            raise InputError(
                f"problem: the table of {name} has {cells:,} cells, more than {LARGEST_TABLE:,}. "
                "Give the moment a weight of your own, or its attributes fewer categories."
            )
    return tuple(moment.attributes for moment in weighted)


def require_room(problem: Problem, moments: Sequence[tuple[str, ...]]) -> None:
    """`InputError` where the tables of a pilot have more cells than noise can be drawn for."""
    cells = sum(_cells(problem, names) for names in moments)
    if cells > LARGEST_PILOT:
        raise InputError(
            f"problem: the tables of {len(moments)} moments have {cells:,} cells, more than "
            f"{LARGEST_PILOT:,}: their noise would hide every link. Ask for fewer moments or categories."
        )


def counted(problem: Problem, moments: Sequence[tuple[str, ...]], codes: Mapping[str, AnyCodes]) -> Tables:
    """The table of every moment, from columns of codes."""
    return {names: _counts(problem, names, codes).astype(np.float64) for names in moments}


def noisy(
    problem: Problem,
    moments: Sequence[tuple[str, ...]],
    codes: Mapping[str, AnyCodes],
    rate: Fraction,
    below: Below,
) -> Tables:
    """The same with noise on every cell, drawn with `below`; sums are of integers."""
    found = {}
    for names in moments:
        counts = _counts(problem, names, codes)
        noised = [count + discrete_laplace(rate, below) for count in counts.reshape(-1).tolist()]
        found[names] = np.array([float(cell) for cell in noised]).reshape(counts.shape)
    return found


def noise_rate(epsilon: float, moments: int) -> Fraction:
    """E / (2 K): the rate at which the tables of K moments cost E together (exact)."""
    return exact(epsilon) / (2 * moments)


def links_of(
    problem: Problem, tables: Tables, n: int, *, rate: Fraction | None = None, noise_levels: float = 0.0
) -> dict[tuple[str, ...], Link]:
    """The link of every moment from its table of counts of n records; `rate` is that of the noise, if any.

    Of noisy tables, each attribute's shares are the mean over all tables that tell them, by precision; a
    share within `noise_levels` of its noise counts as a category that does not occur.
    """
    variance = 0.0 if rate is None else noise_variance(rate) / n**2
    used = dict.fromkeys(name for names in tables for name in names)
    shares = {names: counts / n for names, counts in tables.items()}
    axes = {
        name: _axis(problem.attribute(name), _marginal(name, shares, variance, noise_levels)) for name in used
    }
    return {
        names: link(table, [axes[name] for name in names], variance, noise_levels)
        for names, table in shares.items()
    }


def _axis(attribute: Attribute, share: FloatArray) -> Axis:
    weights = attribute.background_weights
    return Axis(share, attribute.score_values, None if weights is None else background_shares(weights))


@dataclass(frozen=True)
class _Sighting:
    """The shares of one attribute as one table tells them, and the cells that were added up for each."""

    shares: FloatArray
    cells: int


def _marginal(name: str, tables: Tables, variance: float, noise_levels: float) -> FloatArray:
    seen = [_sighting(names.index(name), table) for names, table in tables.items() if name in names]
    precision = np.array([1 / one.cells for one in seen])
    mean = np.average([one.shares for one in seen], axis=0, weights=precision)
    mean[mean <= noise_levels * math.sqrt(variance / precision.sum())] = 0.0
    total = float(mean.sum())
    return mean / total if total > 0 else mean


def _sighting(axis: int, table: FloatArray) -> _Sighting:
    others = tuple(m for m in range(table.ndim) if m != axis)
    return _Sighting(table.sum(axis=others), table.size // table.shape[axis])


def _counts(problem: Problem, names: Sequence[str], codes: Mapping[str, AnyCodes]) -> IntArray:
    shape = [attribute.cardinality for attribute in _attributes(problem, names)]
    return joint_counts([codes[name] for name in names], shape)


def _cells(problem: Problem, names: Sequence[str]) -> int:
    return math.prod(attribute.cardinality for attribute in _attributes(problem, names))


def _attributes(problem: Problem, names: Sequence[str]) -> list[Attribute]:
    return [problem.attribute(name) for name in names]
