"""Bounds of the error of RR-Independent and of RR-Ind-Joint (Castell 2022, section III).

Letters: P the true shares of D = prod r_m cells, Q the product of its marginals pi_m, J the unbiased table,
n the number of records, lambda_m, q_m, r_m as in `channels`, AVD = 1/2 sum |.|. The
expectation is over the randomization, P the shares in the table that was randomized.

**RR-Ind-Joint.** A column of the inverse matrix of attribute m has squared length c_m, the same for all,

    c_m = (1 - (1 - lambda^2) / r) / lambda^2,    c_m - 1 = (1 - 1/r) (1 - lambda^2) / lambda^2,

so E sum (J - P)^2 = (prod c_m - 1) / n exactly, whatever P is (uniform backgrounds). Of another background
the column of the report y has length 1 - 2 u_y + sum u^2 over lambda^2, u = (1 - lambda) q, whose expectation
for the truth x is (1 - sum u^2 - 2 lambda u_x) / lambda^2: at most c_m with the rarest category for x, and

    c_m - 1 = (1 - lambda) ((1 + lambda) - (1 - lambda) sum q^2 - 2 lambda min q) / lambda^2,

so (prod c_m - 1) / n is an upper bound then. By the inequalities of Jensen and Cauchy

    E AVD(J, P) <= 1/2 sqrt(D (prod c_m - 1) / n).     (J)

A cluster is one attribute here, of prod r_m categories. Assumed: records are randomized independently, as
stated. (For P of a population, to which sampling adds,
prod c_m - 1 becomes prod c_m - sum P^2.)

**RR-Independent.** From 0 <= P(x) <= M(x) = min_m pi_m(x_m) alone (the paper's interval):

    AVD(P, Q) <= 1 - exp(-(sum H_m - max H_m)) <= 1 - max r_m / D,      H_m the entropy of pi_m.     (Q)

Proof: 1 - AVD = sum min(P, Q) >= sum P Q / M, since P <= M and Q <= M. Q / M is the product of all
marginals but the smallest, so at least that of all but the j-th, for any j; and E_P of this product is, by
Jensen, at least exp(-sum_{m != j} H_m). Take the j of largest entropy; H_m <= log r_m. Equality: P = 1/r on
the diagonal of r^w. The estimate is a product of estimated marginals that were moved to the nearest
distribution, which brings them no further from pi_m; distances of products add up at most, so that

    E AVD(estimate, P) <= min(1, (Q) + sum_m 1/2 sqrt(r_m (c_m - 1) / n)).     (I)

**The paper's own bounds** are per cell. Theorem 5, for uniform marginals: 1/max r_m - 1/D. Then each cell
obeys it, but no table reaches it in many cells at once: their half sum is (D / max r_m - 1) / 2, where AVD
is at most 1. With other marginals a cell may err by more, up to min pi_m - Q. Theorem 6 takes the released
shares as off by a rounding error, uniform on -1/n .. 1/n, of mean size 1/(2n), so that the error of a cell
is at most prod_m L_m / (2n), L_m the sum of the sizes in a row of the inverse. **That is no bound**: a
released share y is not rounded but a mean of n reports, of standard error up to sqrt(y (1 - y) / n), so
that the error falls as 1/sqrt(n) and exceeds the "bound" by any factor as n grows (r = 2, epsilon 1, one
attribute, n = 10,000: 0.0077 beside 0.0001). A switch by it takes the unbiased table long after it has
become noise. It is kept under the name "paper", to compare with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray, uniform
from budget_opt.estimators.layout import layout_of


def excess_of(channel: Channel) -> float:
    """c - 1 >= 0: the summed squared error of the unbiased marginal, times n; 0 for a public column.

    At most that where the background is not uniform.
    """
    kept, q = channel.retention, channel.background
    told = (1 + kept) - (1 - kept) * float(q @ q) - 2 * kept * float(q.min())
    return (1 - kept) * told / kept**2


def squared_error(channels: Sequence[Channel], n: float) -> float:
    """E sum (J - P)^2 = (prod c_m - 1) / n for `n` records: exactly for uniform backgrounds, else at most."""
    excess = 0.0
    for channel in layout_of(channels).blocks:
        excess += (1 + excess) * excess_of(channel)  # prod c - 1, with its digits where all c are near 1
    return excess / n


def joint_bound(channels: Sequence[Channel], n: float) -> float:
    """(J): the expected AVD of the unbiased table of `n` records is at most this; it may exceed 1."""
    return math.sqrt(_cells(channels) * squared_error(channels, n)) / 2


def dependence_bound(marginals: Sequence[FloatArray]) -> float:
    """(Q): the AVD between any table with these marginals and their product is at most this, in 0 .. 1."""
    entropies = [entropy(marginal) for marginal in marginals]
    return 1 - math.exp(max(entropies) - math.fsum(entropies))


def worst_dependence(channels: Sequence[Channel]) -> float:
    """(Q) for the worst marginals, 1 - max r / D."""
    return dependence_bound([uniform(channel.cardinality) for channel in channels])


def independent_bound(channels: Sequence[Channel], n: float, dependence: float) -> float:
    """(I): the expected AVD of the product of estimated marginals; `dependence` is that of the true ones."""
    return min(1.0, dependence + math.fsum(joint_bound([channel], n) for channel in channels))


def paper_joint_bound(channels: Sequence[Channel], n: float) -> float:
    """Theorem 6 of the paper, per cell: prod L_m / (2n). Not a bound (see the module)."""
    return math.prod(map(_row_of_inverse, layout_of(channels).blocks)) / (2 * n)


def paper_independent_bound(channels: Sequence[Channel]) -> float:
    """Theorem 5 of the paper with uniform marginals, per cell: 1 / max r - 1 / D."""
    return 1 / max(channel.cardinality for channel in channels) - 1 / _cells(channels)


def entropy(shares: FloatArray) -> float:
    """-sum p log p in nats, of shares >= 0."""
    present = shares[shares > 0]
    return float(-(present @ np.log(present)))


def _row_of_inverse(channel: Channel) -> float:
    """L = (1 + (r - 2) u) / lambda, u = (1 - lambda) q: an entry 1 - u, r - 1 of size u, over lambda.

    Of the most common category of the background, whose row is the largest.
    """
    lost = (1 - channel.retention) * float(channel.background.max())
    return (1 + (channel.cardinality - 2) * lost) / channel.retention


def _cells(channels: Sequence[Channel]) -> float:
    return math.prod(float(channel.cardinality) for channel in channels)
