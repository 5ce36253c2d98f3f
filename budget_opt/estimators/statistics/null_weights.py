"""The null distribution of n sum d^2 / prod(margins): the weights of its chi-squares of one freedom each.

d is the (corrected) table less the product of its margins. Under independence of the attributes, with
psi_m(y)_i = (h_i(y) - pi_i) / sqrt(pi_i) and kappa_m(y, y') = psi_m(y) . psi_m(y'), a row adds to d the
products of the psi of every set of two or more attributes, and these are uncorrelated. So the weights are

    rows of equal weight    the products of one eigenvalue of S_m = Cov psi_m of each m of a set, over all
    sets
                            of two or more attributes: (r-1)(c-1) of them for two; all 1 where lambda = 1
    survey weights          the eigenvalues of diag(v) K diag(v), v = sqrt(t2 n') over the cells of the
                            reports, K = prod (1 + kappa_m) - 1 - sum kappa_m  (Rao and Scott 1981)
    members of one cluster  their reports are not independent of each other even where the attributes are: the
                            eigenvalues of Psi^T diag(v^2) Psi, Psi(y, i) = (h_i(y) - prod pi - sum_m (h_m(y)
                            - pi_m) prod of the others' pi) / sqrt(prod pi) the influence of a report on d_i
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.statistics.smoothing import positive_part

LARGEST_KERNEL = 1024
"""Cells up to which the eigenvalues of survey-weighted tables are computed (8 MB, a second)."""
LARGEST_TRACES = 16_384
LARGEST_INFLUENCE = 4096
"""Cells with members of one cluster: a matrix of their squares is held (134 MB)."""
_ROWS = 256


@dataclass(frozen=True)
class Margin:
    """One attribute of a test: shares of its reports, the truths behind them, and what these err by."""

    channel: Channel
    reports: FloatArray
    truths: FloatArray
    errors: FloatArray

    @property
    def expected(self) -> FloatArray:
        """The shares that divide: positive, and 0 only for a category that cannot be."""
        return positive_part(self.truths, self.errors)

    @property
    def scores(self) -> FloatArray:
        """psi, a row a report and a column a category that can be."""
        h = self.channel.unbiased(np.eye(self.truths.size), 0)
        can_be = self.expected > 0
        scores: FloatArray = (h[:, can_be] - self.truths[can_be]) / np.sqrt(self.expected[can_be])
        return scores

    @property
    def eigenvalues(self) -> FloatArray:
        """Those of Cov psi, without the one that is 0 because shares add up to 1; none for one category."""
        scores = self.scores
        covariance = scores.T @ (self.reports[:, None] * scores)
        return _at_least_0(np.linalg.eigvalsh(covariance)[1:])


def weights_of_rows(margins: Sequence[Margin]) -> FloatArray:
    """The weights for rows of equal weight."""
    by_size: list[FloatArray] = [np.ones(1)] + [np.empty(0)] * len(margins)
    for margin in margins:
        values = margin.eigenvalues
        longer = [np.outer(found, values).ravel() for found in by_size[:-1]]
        by_size = [by_size[0], *(np.append(kept, new) for kept, new in zip(by_size[1:], longer, strict=True))]
    return np.concatenate(by_size[2:])


def weights_of_survey(margins: Sequence[Margin], squares: FloatArray, effective: float) -> FloatArray:
    """The weights for rows with survey weights; `squares` are t2, `effective` n' multiplies d^2.

    Above 1,024 cells as many equal ones as give the same mean and variance (Satterthwaite, the second-order
    correction of Rao and Scott); `InputError` above 16,384.
    """
    cells = np.argwhere(squares > 0)
    if len(cells) > LARGEST_TRACES:
        raise InputError(
            f"independence_test: {len(cells):,} cells with survey weights are more than {LARGEST_TRACES:,}. "
            "Test fewer attributes, or pass weight=False."
        )
    v = np.sqrt(squares[squares > 0] * effective)
    scores = [margin.scores[cells[:, axis]] for axis, margin in enumerate(margins)]
    if len(cells) <= LARGEST_KERNEL:
        kernel = v[:, None] * _kernel(scores, slice(None)) * v
        return _at_least_0(np.linalg.eigvalsh(kernel)[-freedoms_of(margins) :])
    first = second = 0.0
    for start in range(0, len(cells), _ROWS):
        part = slice(start, start + _ROWS)
        block = v[part, None] * _kernel(scores, part) * v
        first += float(block[np.arange(len(block)), start + np.arange(len(block))].sum())
        second += float((block * block).sum())
    freedoms = max(round(first**2 / second), 1)
    return np.full(freedoms, first / freedoms)


def weights_of_clusters(
    margins: Sequence[Margin], channels: Sequence[Channel], chances: FloatArray
) -> FloatArray:
    """The weights where members of one cluster take part; `chances` are v^2, of the reports' shape.

    Above 1,024 cells as many equal ones as give the same mean and variance; `InputError` above 4,096.
    """
    cells = chances.size
    if cells > LARGEST_INFLUENCE:
        raise InputError(
            f"independence_test: {cells:,} cells, some of them of members of one cluster, are more than "
            f"{LARGEST_INFLUENCE:,}. Test fewer attributes, or at most one of each cluster."
        )
    influence = _influence(margins, channels)
    weighted: FloatArray = influence.T @ (chances.reshape(-1, 1) * influence)
    if cells <= LARGEST_KERNEL:
        return _at_least_0(np.linalg.eigvalsh(weighted)[-freedoms_of(margins) :])
    first, second = float(np.trace(weighted)), float(np.vdot(weighted, weighted))
    freedoms = max(round(first**2 / second), 1)
    return np.full(freedoms, first / freedoms)


def _influence(margins: Sequence[Margin], channels: Sequence[Channel]) -> FloatArray:
    """Psi, a row a report and a column a cell of truths that can be."""
    shape = tuple(channel.cardinality for channel in channels)
    cells = math.prod(shape)
    expected = reduce(np.multiply.outer, [margin.expected for margin in margins]).reshape(-1)
    can_be = expected > 0
    product = reduce(np.multiply.outer, [margin.truths for margin in margins]).reshape(-1)
    influence = along_all(Channel.unbiased, channels, np.eye(cells).reshape(*shape, cells)) - product
    codes = np.indices(shape).reshape(len(shape), -1)
    for m, margin in enumerate(margins):
        others = reduce(
            np.multiply.outer,
            [np.ones_like(one.truths) if one is margin else one.truths for one in margins],
        ).reshape(-1)
        h = margin.channel.unbiased(np.eye(margin.truths.size), 0) - margin.truths
        along = [-1 if axis == m else 1 for axis in range(len(shape))]
        influence -= (h[:, codes[m]] * others).reshape(*along, cells)
    whole: FloatArray = influence.reshape(cells, cells)[:, can_be] / np.sqrt(expected[can_be])
    return whole


def _at_least_0(eigenvalues: npt.NDArray[np.floating]) -> FloatArray:
    return np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0)


def _kernel(scores: Sequence[FloatArray], part: slice) -> FloatArray:
    whole, alone = np.ones(1), np.zeros(1)
    for one in scores:
        kappa = one[part] @ one.T
        whole, alone = whole * (1 + kappa), alone + kappa
    return whole - 1 - alone


def freedoms_of(margins: Sequence[Margin]) -> int:
    """prod r - 1 - sum (r - 1) over the categories that can be: (r-1)(c-1) for two attributes."""
    sizes = [int(np.count_nonzero(margin.expected)) for margin in margins]
    return math.prod(sizes) - 1 - sum(size - 1 for size in sizes)
