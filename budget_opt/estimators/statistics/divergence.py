"""How far a table is from uniform or from independence: every statistic is a function of one such number.

theta is 0 where the table is its reference, and positive elsewhere:

    entropy             theta = 2 (log r - H)          reference: the uniform table of r cells
    mutual information  theta = 2 MI = G^2 / n         reference: the product of the margins
    chi-square          theta = phi^2 = chi^2 / n      the same; Cramer's V = sqrt(phi^2 / (min r - 1))

It is estimated without its first-order bias: the plug-in's mean is theta + tr(H Sigma) / 2, H its second
derivative and Sigma the covariance of the corrected cells, which randomization makes large (without it this
is Miller's and Bergsma's correction). `noise` is that trace at the reference, and `slope_variance` is g'
Sigma g of the gradient g.

At the reference g vanishes and the delta method with it. There theta + noise is a sum of squares of
correlated normal numbers; far from it, the square of a nearly normal number. A multiple a of a chi-square
with nu = noise / a freedoms and noncentrality theta / a, with a = slope_variance / 4 (theta + noise), has
the right mean and variance in both (at the reference it is Satterthwaite's): its error and interval are used
throughout.

What is left of the bias adds up with the number of cells, the error with its root only. `bias` bounds it, the
sum of what is left (a) by the logarithms of cells near 0, 0.14 of their standard errors (`smoothing`), (b) by
denominators within a few errors of 0, where 1/p+ no longer is 1/p to the second order: 3 noise times the mean
of (s/p+)^2 over the categories (up to 2 was measured), and (c) where both forms are blended, by
how far they are apart. Where it is above half a standard error the interval is widened by it.

And phi^2 may be far above what can be seen: categories of both attributes that are too rare to be told from 0
may go together, which adds up to 1 a pair of them however rare they are. `hidden` is the number of such
pairs, and the upper end is higher by it. (To mutual information they add little: -p log p.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.statistics.corrected import CorrectedTable
from budget_opt.estimators.statistics.noncentral import noncentrality_interval
from budget_opt.estimators.statistics.smoothing import (
    LARGEST_BIAS,
    NEAR,
    entropy_term,
    near_zero,
    positive_part,
)

_EVIDENCE = 5.0
"""Standard errors above the reference from which the logarithms count for more than the squares."""
_OWN_WEIGHT = 0.05
"""How much of an observation the mean of the scale at the reference counts for."""


@dataclass(frozen=True)
class Divergence:
    """theta with what its distribution needs; arrays of one number a table, or numbers.

    `freedoms` > 0 is the number of squares at the reference, `bias` >= 0 bounds what is left of the bias,
    and `hidden` >= 0 what categories that may not occur may add to the value.
    """

    value: FloatArray
    noise: FloatArray
    gradient: FloatArray
    slope_variance: FloatArray
    freedoms: float
    bias: FloatArray
    hidden: FloatArray

    @property
    def scale(self) -> FloatArray:
        """a, 0 where nothing is random.

        Exactly at the reference it is 0/0: there it is noise / freedoms, the mean of the weights.
        """
        own = _OWN_WEIGHT * self.noise
        size = np.maximum(self.value + self.noise, 0.0) + own
        summed = self.slope_variance + 4 * own * self.noise / self.freedoms
        scale: FloatArray = summed / np.where(size > 0, 4 * size, 1.0)
        return scale

    @property
    def standard_error(self) -> FloatArray:
        """sqrt(2 a (noise + 2 theta))."""
        error: FloatArray = np.sqrt(2 * self.scale * (self.noise + 2 * np.maximum(self.value, 0.0)))
        return error

    @property
    def allowance(self) -> FloatArray:
        """What the interval is widened by on both sides.

        0 up to a bias of half a standard error, by which 95 % become 92 %, and all of it from one on.
        """
        wider: FloatArray = np.clip(2 * self.bias - self.standard_error, 0.0, self.bias)
        return wider

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """The ends of the interval of theta, at least 0: widened by `allowance`, above also by `hidden`."""
        scale = self.scale
        unit = np.where(scale > 0, scale, 1.0)
        observed = np.maximum(self.value + self.noise, 0.0)
        low, high = noncentrality_interval(observed / unit, self.noise / unit, level)
        still, wider = np.maximum(self.value, 0.0), self.allowance
        ends = np.where(scale > 0, unit * low, still), np.where(scale > 0, unit * high, still)
        return np.maximum(ends[0] - wider, 0.0), ends[1] + wider + self.hidden


def from_uniform(table: CorrectedTable) -> Divergence:
    """2 (log r - H), H the joint entropy of all attributes in nats.

    Far from uniform by logarithms, near it by r sum (pi - 1/r)^2, which agrees there to the third order and
    has no bias at all (`_blended`).
    """
    r = float(np.prod([channel.cardinality for channel in table.channels]))
    terms, slopes = entropy_term(table.cells, table.errors)
    by_logarithms = 2 * (np.log(r) - terms.sum(axis=table.axes))
    noise = r * table.variances.sum(axis=table.axes)
    by_squares = r * ((table.cells - 1 / r) ** 2).sum(axis=table.axes) - noise
    squares = _Form(by_squares, 2 * r * (table.cells - 1 / r), np.zeros_like(by_squares))
    logarithms = _Form(by_logarithms, -2 * slopes, _bias_of_logarithms([table]))
    return _blended(table, logarithms, squares, noise, r - 1)


def mutual_information(table: CorrectedTable) -> Divergence:
    """2 (H_a + H_b - H_ab) of two attributes: G^2 / n.

    Far from independence by logarithms, near it by phi^2, which agrees there to the third order.
    """
    by_squares = chi_square(table)
    parts = (table.margin(0), table.margin(1), table)
    (a, a_slope), (b, b_slope), (ab, ab_slope) = (entropy_term(part.cells, part.errors) for part in parts)
    value = 2 * (a.sum(axis=table.axes) + b.sum(axis=table.axes) - ab.sum(axis=table.axes))
    slope = 2 * (a_slope + b_slope - ab_slope)
    squares = _Form(by_squares.value, by_squares.gradient, by_squares.bias)
    logarithms = _Form(value, slope, _bias_of_logarithms(parts))
    return _blended(table, logarithms, squares, by_squares.noise, _freedoms(table))


def chi_square(table: CorrectedTable) -> Divergence:
    """phi^2 = sum d^2 / (r c) of two attributes, d = u - r c the cells less the product of the margins.

    The margins of the denominators are `positive_part`s, which also takes care of their own second-order
    bias; what is left of it is, with all covariances from `CorrectedTable`,

        sum w (Var d - 2 d (Cov(d, r)/r + Cov(d, c)/c + Cov(r, c)) + w d^2 Cov(r, c)),   w = 1/(r c)
    """
    rows, columns = table.margin(0), table.margin(1)
    r, c, w = rows.cells, columns.cells, _weights(rows, columns)
    d = table.cells - r * c
    spread = _Spread(table, rows, columns)
    noise = (w * spread.own(r, c)).sum(axis=table.axes)
    bent = spread.with_rows(r, c) * _inverse(rows) + spread.with_columns(r, c) * _inverse(columns)
    bias = (w * d * (w * d * spread.crossed - 2 * (bent + spread.crossed))).sum(axis=table.axes)
    value = (w * d * d).sum(axis=table.axes) - noise - bias
    slope, squares = 2 * d * w, w * d * d
    gradient = (
        slope
        - (slope * c + squares * _relative_slope(rows)).sum(axis=1, keepdims=True)
        - (slope * r + squares * _relative_slope(columns)).sum(axis=0, keepdims=True)
    )
    left = 3 * noise * _uncertainty((rows, columns))
    variance, hidden = table.variance_of(gradient), _hidden(rows, columns)
    return Divergence(value, noise, gradient, variance, _freedoms(table), left, hidden)


class _Spread:
    """Covariances of the cells u, the margins r and c, and of d = u - r c to the first order."""

    def __init__(self, table: CorrectedTable, rows: CorrectedTable, columns: CorrectedTable) -> None:
        self.cell, self.row, self.column = table.variances, rows.variances, columns.variances
        self.cell_row = table.covariances((0, 1), (0,))
        self.cell_column = table.covariances((0, 1), (1,))
        self.crossed = table.covariances((0,), (1,))

    def own(self, r: FloatArray, c: FloatArray) -> FloatArray:
        """Var d."""
        squares = self.cell + c * c * self.row + r * r * self.column
        variance: FloatArray = squares + 2 * (r * c * self.crossed - c * self.cell_row - r * self.cell_column)
        return np.maximum(variance, 0.0)

    def with_rows(self, r: FloatArray, c: FloatArray) -> FloatArray:
        """Cov(d, r)."""
        return self.cell_row - c * self.row - r * self.crossed

    def with_columns(self, r: FloatArray, c: FloatArray) -> FloatArray:
        """Cov(d, c)."""
        return self.cell_column - r * self.column - c * self.crossed


def _freedoms(table: CorrectedTable) -> float:
    first, second = (channel.cardinality for channel in table.channels)
    return float(max((first - 1) * (second - 1), 1))


def _weights(rows: CorrectedTable, columns: CorrectedTable) -> FloatArray:
    return _inverse(rows) * _inverse(columns)


def _inverse(margin: CorrectedTable) -> FloatArray:
    """1 / p+, and 0 for a category that cannot be: it takes no part."""
    positive = positive_part(margin.cells, margin.errors)
    return np.where(positive > 0, 1 / np.where(positive > 0, positive, 1.0), 0.0)


def _relative_slope(margin: CorrectedTable) -> FloatArray:
    """d log p+ / dp = 1 / sqrt(p^2 + 4 s^2)."""
    root = np.sqrt(margin.cells**2 + 4 * margin.variances)
    return np.where(root > 0, 1 / np.where(root > 0, root, 1.0), 0.0)


def _uncertainty(margins: Sequence[CorrectedTable]) -> FloatArray:
    """The mean of (s / p+)^2 over all categories of both attributes."""
    both = [(margin.variances * _inverse(margin) ** 2).sum(axis=margin.axes) for margin in margins]
    mean: FloatArray = sum(both, np.zeros(())) / sum(max(margin.shares.shape[:2]) for margin in margins)
    return mean


def _hidden(rows: CorrectedTable, columns: CorrectedTable) -> FloatArray:
    """How many pairs there can be of a category of each attribute that may not occur."""
    first, second = (near_zero(one.cells, one.errors).sum(axis=one.axes) for one in (rows, columns))
    pairs: FloatArray = np.minimum(first, second).astype(np.float64)
    return pairs


def _bias_of_logarithms(parts: Sequence[CorrectedTable]) -> FloatArray:
    """At most what 2 sum -p log p keeps of its bias, over the cells of these tables."""
    near = [np.where(part.cells < NEAR * part.errors, part.errors, 0.0) for part in parts]
    bias: FloatArray = 2 * LARGEST_BIAS * sum((one.sum(axis=parts[0].axes) for one in near), np.zeros(()))
    return bias


@dataclass(frozen=True)
class _Form:
    """A value with its gradient, and a bound of its bias."""

    value: FloatArray
    gradient: FloatArray
    bias: FloatArray


def _blended(
    table: CorrectedTable, logarithms: _Form, squares: _Form, noise: FloatArray, freedoms: float
) -> Divergence:
    """Values and gradients of both forms, blended by x^2 / (x^2 + 25): x standard errors above the reference.

    The logarithms of cells within a few standard errors of 0 keep a bias that is small beside the error of a
    table far from its reference, and large beside the far smaller error of one near it.
    """
    unit = noise * np.sqrt(2 / freedoms)
    x = np.maximum(squares.value, 0.0) / np.where(unit > 0, unit, 1.0)
    share = np.where(unit > 0, x * x / (x * x + _EVIDENCE**2), 1.0)
    value = share * logarithms.value + (1 - share) * squares.value
    gradient = share * logarithms.gradient + (1 - share) * squares.gradient
    apart = np.abs(logarithms.value - squares.value)
    bias = share * logarithms.bias + (1 - share) * (squares.bias + apart)
    none = np.zeros_like(bias)
    return Divergence(value, noise, gradient, table.variance_of(gradient), freedoms, bias, none)
