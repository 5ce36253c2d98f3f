"""The corrected covariance matrix: covariances with the retention divided out, and corrected variances."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target, require_target
from budget_opt.estimators.intervals.chance_events import FEW_EVENTS, behind, chance_events, degrees_of
from budget_opt.estimators.intervals.errors_of_means import require_rows
from budget_opt.estimators.matrices.member_pairs import MemberPair, member_pairs
from budget_opt.estimators.matrices.pair_sums import PairSums, pair_sums
from budget_opt.estimators.matrices.result import CovarianceMatrix
from budget_opt.estimators.matrices.scored import Scored, scored
from budget_opt.estimators.matrices.withholding import listed, withheld
from budget_opt.estimators.moments.designs import Design, require_products_in_range
from budget_opt.estimators.moments.moment import NO_VARIANCE, largest_moment
from budget_opt.estimators.releases.counting import Cells


@dataclass(frozen=True)
class SecondMoments:
    """What covariances and correlations both are made of."""

    attributes: tuple[Scored, ...]
    sums: PairSums
    n: int
    effective: float
    members: tuple[MemberPair, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes."""
        return tuple(one.design.name for one in self.attributes)

    @property
    def units(self) -> FloatArray:
        """u of every attribute."""
        return np.array([one.unit for one in self.attributes])

    @property
    def kept(self) -> FloatArray:
        """The retention of every pair; of members of one cluster that of the cluster."""
        retention = np.array([one.design.retention for one in self.attributes])
        return _with_members(np.outer(retention, retention), self.members, lambda pair: pair.retention)

    @property
    def raw(self) -> FloatArray:
        """The released covariance of every pair, in units u_a u_b; the diagonal has no meaning."""
        return _with_members(self.sums.covariance * self.kept, self.members, lambda pair: pair.moment.raw)

    @property
    def inflations(self) -> FloatArray:
        """The variance inflation of every mean; NaN where the corrected variance is not positive."""
        found = (one.spread.inflation for one in self.attributes)
        return np.array([math.nan if inflation is None else inflation for inflation in found])

    @property
    def effective_n(self) -> FloatArray:
        """Of every pair; NaN on the diagonal, since the closed form is of different attributes."""
        product = np.outer(self.inflations, self.inflations)
        rows = self.effective / _with_members(product, self.members, _inflation)
        np.fill_diagonal(rows, math.nan)
        return rows

    @property
    def events(self) -> FloatArray:
        """The chance events behind the covariance of every pair; the diagonal has no meaning."""
        events = chance_events(self.sums.squares, self.sums.fourths, self.effective)
        unseen = np.array([one.spread.unseen for one in self.attributes])
        return np.where(unseen[:, None] | unseen[None, :], 0.0, events)

    def behind(self, events: FloatArray, target: Target) -> FloatArray:
        """What every interval rests on: see `chance_events.behind`."""
        kept = self.kept
        np.fill_diagonal(kept, [one.design.retention for one in self.attributes])
        kurtosis = np.array([one.spread.kurtosis for one in self.attributes])
        unlinked = chance_events(1.0, np.outer(kurtosis, kurtosis), self.effective)
        np.fill_diagonal(unlinked, math.inf)
        return behind(np.minimum(events, unlinked), self.effective, kept, target)


def second_moments(cells: Cells, designs: Sequence[Design]) -> SecondMoments:
    """The sums of all pairs; `InputError` for fewer than 3 rows, or scores beyond all doubles."""
    require_rows(cells, "a pair", 3)
    for one in designs:
        require_products_in_range([one, one])
    attributes = scored(cells, tuple(designs))
    members = member_pairs(cells, attributes)
    sums = pair_sums(cells, attributes, members)
    return SecondMoments(attributes, sums, cells.n, cells.effective, members)


def covariance_matrix(
    cells: Cells, designs: Sequence[Design], target: Target, noise_limit: float = math.inf
) -> CovarianceMatrix:
    """All covariances and variances of the originals, from cells in the order of `designs`."""
    return covariances_from(second_moments(cells, designs), target, noise_limit)


def covariances_from(found: SecondMoments, target: Target, noise_limit: float = math.inf) -> CovarianceMatrix:
    """The same from sums that are there."""
    require_target(target)
    designs = [one.design for one in found.attributes]
    values, raw, corrected_mse, raw_mse = _entries(found, target)
    hidden, notes = withheld(
        np.sqrt(corrected_mse), _largest(designs), found.names, noise_limit, "covariance", diagonal=True
    )
    events = found.events
    np.fill_diagonal(events, [one.variance_events() for one in found.attributes])
    evidence = found.behind(events, target)
    few = few_pairs(evidence, found.names, hidden, diagonal=True)
    return CovarianceMatrix(
        attributes=found.names,
        values=np.where(hidden, math.nan, values),
        standard_errors=np.where(hidden, math.nan, np.sqrt(corrected_mse)),
        raw=raw,
        effective_n=found.effective_n,
        mse_corrected=corrected_mse,
        mse_raw=raw_mse,
        n=found.n,
        target=target,
        behind=evidence,
        degrees=degrees_of(events, found.effective),
        of_two=tuple(one.of_two(target) for one in found.attributes),
        notes=(*_notes(found), *notes, *few),
    )


def _entries(found: SecondMoments, target: Target) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Values, raw values, and the mean squared errors of both."""
    scale = np.outer(found.units, found.units)
    values = found.sums.covariance * scale
    variances = found.sums.errors[target].product * scale**2
    raw = values * found.kept
    raw_mse = mse_of_scaled(values, variances, found.kept)
    for pair in found.members:
        a, b = pair.places
        raw[a, b] = raw[b, a] = pair.moment.raw * scale[a, b]
        raw_mse[a, b] = raw_mse[b, a] = pair.moment.usefulness(target).mse_raw * scale[a, b] ** 2
    for m, one in enumerate(found.attributes):
        usefulness = one.variance_usefulness(target)
        values[m, m], raw[m, m] = one.variance(target), one.spread.raw_variance
        variances[m, m] = usefulness.mse_corrected * one.unit**4
        raw_mse[m, m] = usefulness.mse_raw * one.unit**4
    return values, raw, variances, raw_mse


def _with_members(
    matrix: FloatArray, members: Sequence[MemberPair], number: Callable[[MemberPair], float]
) -> FloatArray:
    """The matrix, in place, with this number for the pairs within a cluster."""
    for pair in members:
        a, b = pair.places
        matrix[a, b] = matrix[b, a] = number(pair)
    return matrix


def _inflation(pair: MemberPair) -> float:
    return math.nan if pair.moment.inflation is None else pair.moment.inflation


def mse_of_scaled(values: FloatArray, variances: FloatArray, kept: FloatArray) -> FloatArray:
    """The mean squared error of kept x value: `usefulness.usefulness_of_scaled`, entry by entry."""
    bias = np.maximum(values**2 - variances, 0.0)
    mse: FloatArray = kept**2 * variances + (1 - kept) ** 2 * bias
    return mse


def few_pairs(
    evidence: FloatArray, names: Sequence[str], hidden: npt.NDArray[np.bool_], *, diagonal: bool
) -> tuple[str, ...]:
    """What a matrix says of the entries that have few chance events."""
    few = (evidence < FEW_EVENTS) & ~hidden
    told = [
        names[a] if a == b else f"{names[a]} x {names[b]}"
        for a in range(len(names))
        for b in range(a if diagonal else a + 1, len(names))
        if few[a, b]
    ]
    if not told:
        return ()
    return (f"few rows or chance events stand behind the intervals of {listed(told)}: they are rough",)


def _largest(designs: Sequence[Design]) -> FloatArray:
    """The largest size of every entry: a variance is that of one attribute with itself."""
    return np.array([[largest_moment([one, other]) for other in designs] for one in designs])


def _notes(found: SecondMoments) -> tuple[str, ...]:
    return tuple(
        NO_VARIANCE.format(one.design.name) for one in found.attributes if one.spread.inflation is None
    )
