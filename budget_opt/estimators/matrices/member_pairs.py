"""Pairs of a matrix that are members of one cluster: their covariance by DESIGN 2.9, in `Scored` units.

Letters as in `pair_sums`: C the corrected covariance, S the root of the product of the corrected variances, P
and H the influence functions of C and of log S; with a prime those of the released table as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.estimators.channels import FloatArray, axes_of_blocks
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.matrices.scored import Scored
from budget_opt.estimators.moments.inside_clusters import InsideClusters, moment_inside
from budget_opt.estimators.moments.spread import Spread
from budget_opt.estimators.moments.usefulness import usefulness
from budget_opt.estimators.releases.counting import Cells


@dataclass(frozen=True)
class MemberPair:
    """Attributes a < b of one cluster: their places, the cluster's retention, and their covariance."""

    places: tuple[int, int]
    retention: float
    moment: InsideClusters

    def errors(self, target: Target) -> FloatArray:
        """The covariance matrix of P, P', H, H' from the target; the larger where both are contradictory."""
        both = self.moment.covariances
        population, data = float(both.population[0, 0]), float(both.data[0, 0])
        if target == "data":
            return both.population if data <= 0 and both.randomized else both.data * both.randomized
        return both.data if data > population and both.randomized else both.population

    def mse_of_raw_correlation(self, root: float, raw_root: float, target: Target) -> float:
        """The mean squared error of the released correlation; the roots are S and S'."""
        errors = self.errors(target)
        value, raw = self.moment.value / root, self.moment.raw / raw_root
        corrected = np.array([1 / root, 0.0, -value, 0.0])
        released = np.array([0.0, 1 / raw_root, 0.0, -raw])
        apart, own, of_raw = (
            max(float(one @ errors @ one), 0.0) for one in (released - corrected, corrected, released)
        )
        return usefulness(raw - value, apart, own, of_raw).mse_raw


def member_pairs(cells: Cells, attributes: Sequence[Scored]) -> tuple[MemberPair, ...]:
    """All pairs of members of one cluster, from cells in the order of `attributes`."""
    designs = [one.design for one in attributes]
    return tuple(
        _pair(cells, attributes, (a, b))
        for axes in axes_of_blocks(designs)
        for place, a in enumerate(axes)
        for b in axes[place + 1 :]
    )


def _pair(cells: Cells, attributes: Sequence[Scored], places: tuple[int, int]) -> MemberPair:
    both = [attributes[place] for place in places]
    spreads = [_in_units(one) for one in both]
    codes = tuple(cells.codes[place] for place in places)
    alone = replace(cells, codes=codes)
    further = [
        (function(both[0])[:, None] + function(both[1])[None, :]) / 2
        for function in (_relative, _raw_relative)
    ]
    found = moment_inside(alone, [one.design for one in spreads], spreads, further)
    return MemberPair(places, both[0].design.retention, found)


def _in_units(one: Scored) -> Spread:
    """Mean and variance with the scores in units u."""
    return Spread(replace(one.design, scores=one.design.scores / one.unit), one.counts.shares)


def _relative(one: Scored) -> FloatArray:
    """The influence function of the logarithm of the corrected variance."""
    return one.relative


def _raw_relative(one: Scored) -> FloatArray:
    """The influence function of the logarithm of the released variance; 0 of a constant column."""
    variance = one.spread.raw_variance
    return one.spread.raw_influence / variance if variance > 0 else np.zeros(one.design.cardinality)
