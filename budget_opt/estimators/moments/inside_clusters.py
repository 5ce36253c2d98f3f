"""Corrected moments with two members of one cluster, which the product rule does not hold for (DESIGN 2.9).

Letters: S the attributes, mu their corrected means, f~_m = f_m - mu_m, F = prod_S f~_m, F_-j and F_-jk that
of all but j, or but j and k; g^ = `Channel.unbiased` of g along all axes, a cluster's together: E[g^(y) | x]
= g(x). From the joint table of the reports, so that the shifts delta of DESIGN 2.9 are estimated too,

    value = mean F^ + bias,     psi = F^ - value - sum_j (mean F_-j^) f~_j^

psi is the influence function: mu is estimated as well. The reports of a row enter mu, which costs the mean of
F^ a bias of order 1 / n given the data, and is added back:

    bias = sum_j sum W2 (F_-j^ f~_j^ - F^) / (sum W1)^2
           - sum_{j < k} mean F_-jk^ sum W2 (f~_j^ f~_k^ - (f~_j f~_k)^) / (sum W1)^2

(0 for members of different clusters). What is left is exactly 0 where one pair of members takes part, with
any outsiders, and of order 1 / n^2 where more do (of backgrounds that are not uniform: beside the rounding of
joint counts to whole words, see `channels`). The released moment itself has the influence function
prod W~ - m_S - sum_j m_{S without j} W~_j, and both together tell whether correcting is useful.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all, axes_of_blocks
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.errors_of_means import Covariances, covariances_of_means
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.moments.spread import Spread
from budget_opt.estimators.moments.usefulness import Usefulness, usefulness
from budget_opt.estimators.releases.counting import Cells, Counts, counts_of

LARGEST_TABLE = 2**22
"""Cells of the joint table of such a moment: some dozen copies of it are held, 32 MB each."""


@dataclass(frozen=True)
class InsideClusters:
    """A moment of members of one cluster, with others or without.

    `value` is corrected, `raw` that of the release. `covariances` are those of the means of psi, of the raw
    moment's influence function, and of any `further` functions of the reports. `square` and `fourth` are the
    means over the rows of psi^2 and psi^4, in the unit of the largest psi. `inflation` is that of the
    variance if the blocks were independent of each other, None where it is not defined.
    """

    value: float
    raw: float
    square: float
    fourth: float
    inflation: float | None
    covariances: Covariances

    def variance(self, target: Target) -> float:
        """That of the corrected moment from the target."""
        return self.covariances.variance(self._ends(1.0, 0.0), target)

    def usefulness(self, target: Target) -> Usefulness:
        """Whether correcting is useful."""
        difference, raw = (
            self.covariances.variance(ends, target) for ends in (self._ends(-1.0, 1.0), self._ends(0.0, 1.0))
        )
        return usefulness(self.raw - self.value, difference, self.variance(target), raw)

    def _ends(self, corrected: float, raw: float) -> FloatArray:
        ends = np.zeros(len(self.covariances.data))
        ends[:2] = corrected, raw
        return ends


def moment_inside(
    cells: Cells, designs: Sequence[Design], spreads: Sequence[Spread], further: Sequence[FloatArray] = ()
) -> InsideClusters:
    """The moment of these attributes from weighted cells in their order.

    `further` are functions of the reports of mean 0, tables that broadcast to the joint one. Raises
    `InputError` where that has more than `LARGEST_TABLE` cells.
    """
    counts = _joint_counts(cells, designs)
    truths = along_all(Channel.corrected, designs, counts.shares)
    scores = _axes([one.scores - spread.mean for one, spread in zip(designs, spreads, strict=True)])
    plain, influence = _moment(truths, scores)
    psi = along_all(Channel.unbiased, designs, influence)
    raw, raw_psi = _moment(counts.shares, _axes([spread.centred for spread in spreads]))
    more = [np.broadcast_to(one, psi.shape) for one in further]
    weights = counts.second / counts.second.sum()
    relative = psi / (float(np.abs(psi).max()) or 1.0)
    return InsideClusters(
        value=plain + _bias(counts.second / counts.first.sum() ** 2, truths, designs, scores),
        raw=raw,
        square=float((weights * relative**2).sum()),
        fourth=float((weights * relative**4).sum()),
        inflation=_inflation(counts.shares, designs, scores),
        covariances=covariances_of_means(np.stack([psi, raw_psi, *more], axis=-1), counts, designs),
    )


def _joint_counts(cells: Cells, designs: Sequence[Design]) -> Counts:
    shape = tuple(one.cardinality for one in designs)
    names = [one.name for one in designs]
    if math.prod(shape) > LARGEST_TABLE:
        raise InputError(
            f"moment of {' x '.join(names)}: two of the attributes are members of one cluster, so that it is "
            f"corrected through the joint table, which has {math.prod(shape):,} cells; at most "
            f"{LARGEST_TABLE:,} can be. Name fewer attributes, or at most one of each cluster."
        )
    return counts_of(cells, names, shape)


def _moment(table: FloatArray, factors: Sequence[FloatArray]) -> tuple[float, FloatArray]:
    """m = mean of prod f of factors centred at their means, and prod f - m - sum_j m_-j f_j."""
    product = _product(factors)
    moment = float((table * product).sum())
    influence: FloatArray = product - moment
    if len(factors) > 2:  # of two, m_-j is the mean of a centred factor
        for j, factor in enumerate(factors):
            influence = influence - float((table * _product(factors, {j})).sum()) * factor
    return moment, influence


def _bias(
    weighted: FloatArray, truths: FloatArray, designs: Sequence[Design], scores: Sequence[FloatArray]
) -> float:
    """What the mean of F^ is too small by, since each row has its part in the means; see the module."""
    whole = along_all(Channel.unbiased, designs, _product(scores))
    alone = [design.unbiased(scores[axis], axis) for axis, design in enumerate(designs)]
    bias = 0.0
    for axes in axes_of_blocks(designs):
        for j in axes if len(axes) > 1 else ():
            rest = np.broadcast_to(_product(scores, {j}), whole.shape)
            bias += float((weighted * (along_all(Channel.unbiased, designs, rest) * alone[j] - whole)).sum())
        for j, k in combinations(axes, 2):
            pair = np.broadcast_to(scores[j] * scores[k], whole.shape)
            apart = alone[j] * alone[k] - along_all(Channel.unbiased, designs, pair)
            mean = float((truths * _product(scores, {j, k})).sum())
            bias -= mean * float((weighted * apart).sum())
    return bias


def _inflation(reports: FloatArray, designs: Sequence[Design], scores: Sequence[FloatArray]) -> float | None:
    """Var prod F^_T over Var prod F_T, T the members in each block, if the blocks were independent.

    The means of squares are products then; that of the moment itself is 0 where a block has one member.
    """
    randomized = original = mean = 1.0
    for axes in axes_of_blocks(designs):
        others = tuple(axis for axis in range(reports.ndim) if axis not in axes)
        table = reports.sum(axis=others)
        members = [designs[axis] for axis in axes]
        function = _product([scores[axis] for axis in axes]).reshape(table.shape)
        unbiased, squares = (along_all(Channel.unbiased, members, one) for one in (function, function**2))
        randomized *= float((table * unbiased**2).sum())
        original *= float((table * squares).sum())
        mean *= float((table * unbiased).sum()) if len(axes) > 1 else 0.0
        if original <= 0:
            return None
    spread = original - mean**2
    return max((randomized - mean**2) / spread, 1.0) if spread > 0 else None


def _product(factors: Sequence[FloatArray], without: AbstractSet[int] = frozenset()) -> FloatArray:
    """The product along the axes of all but some, of shape 1 along theirs."""
    product: FloatArray = np.ones((1,) * factors[0].ndim)
    for place, factor in enumerate(factors):
        if place not in without:
            product = product * factor
    return product


def _axes(functions: Sequence[FloatArray]) -> list[FloatArray]:
    """Each along its own axis, of shape 1 along the others."""
    every = range(len(functions))
    return [f.reshape([-1 if other == axis else 1 for other in every]) for axis, f in enumerate(functions)]
