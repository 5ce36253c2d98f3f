"""Design matrices of randomized response and of the Laplace mechanism, and what they cost (Wang 2016).

Letters: t categories 1 .. t, epsilon in nats, P the design matrix, pi the shares of the truth, lambda = pi P
the law of the reports, Q = P^-1. Rows are the truth and columns the report, the transpose of the paper's.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.optimize import linprog

from budget_opt.mechanisms.odds import largest_odds
from budget_opt.mechanisms.randomized_response import transition_matrix
from budget_opt.mechanisms.sampler import sampler_for

FloatArray = npt.NDArray[np.float64]


@cache
def retention(epsilon: float, t: int) -> float:
    """lambda of the sampler that randomizes t categories at this epsilon."""
    sampler = sampler_for(epsilon, t)
    if sampler is None:
        raise ValueError(f"epsilon: is {epsilon!r}, must be large enough for a report to depend on the truth")
    return float(sampler.retention)


def response(epsilon: float, t: int) -> FloatArray:
    """k-ary randomized response as it is implemented: the paper's P_rr (Results 1 and 3)."""
    return transition_matrix(retention(epsilon, t), np.full(t, 1.0 / t))


def middle_cuts(t: int) -> FloatArray:
    """u + 1/2 for u = 1 .. t - 1, the cut points of Results 2 and 4."""
    cuts: FloatArray = np.arange(1.5, t)
    return cuts


def laplace(epsilon: float, t: int, cuts: FloatArray | None = None) -> FloatArray:
    """The paper's P_lm: the truth plus Laplace noise of scale (t - 1) / epsilon, cut into categories.

    `cuts` are t - 1 increasing numbers, `middle_cuts` by default (eq. 9, 20, 21). A binary attribute 0, 1
    with threshold c is `laplace(epsilon, 2, [1 + c])`.
    """
    edges = np.concatenate([[-np.inf], middle_cuts(t) if cuts is None else np.asarray(cuts), [np.inf]])
    noise = stats.laplace(loc=np.arange(1, t + 1)[:, None], scale=(t - 1) / epsilon)
    lower, upper = edges[:-1], edges[1:]
    above = lower[None, :] >= np.arange(1, t + 1)[:, None]  # there 1 - F has all its digits, and F has not
    cells: FloatArray = np.where(
        above, noise.sf(lower) - noise.sf(upper), noise.cdf(upper) - noise.cdf(lower)
    )
    return cells


def circulant(epsilon: float, t: int, offsets: tuple[int, ...]) -> FloatArray:
    """Reports y = x + d mod t, exp(epsilon) times as likely for d in `offsets` as for any other d.

    With offsets 0, 1, 3 of t = 7 this is subset selection (Ye and Barg 2018) on the lines of the Fano plane.
    """
    shift = (np.arange(t)[None, :] - np.arange(t)[:, None]) % t
    weight = np.where(np.isin(shift, offsets), largest_odds(epsilon), 1.0)
    rows: FloatArray = weight / weight.sum(axis=1, keepdims=True)
    return rows


def loss(P: FloatArray) -> float:
    """The smallest epsilon that the matrix satisfies: ln of its largest likelihood ratio."""
    return float(np.log((P.max(axis=0) / P.min(axis=0)).max()))


def largest_diagonal(epsilon: float, t: int) -> float:
    """max sum_v P[v, v] over all t x t matrices of this epsilon, by linear programming."""
    rows = []
    for y in range(t):
        for x in range(t):
            for other in range(t):
                if other != x:
                    row = np.zeros((t, t))
                    row[x, y], row[other, y] = 1.0, -largest_odds(epsilon)
                    rows.append(row.ravel())
    sums = np.kron(np.eye(t), np.ones(t))
    solved: Any = linprog(-np.eye(t).ravel(), np.array(rows), np.zeros(len(rows)), sums, np.ones(t))
    return -float(solved.fun)


def dispersion(P: FloatArray, shares: FloatArray) -> FloatArray:
    """n times the covariance matrix of the corrected shares, Q^T (diag lambda - lambda lambda^T) Q.

    (Wang 2016, eq. 17-18; theirs is the estimate of it, with n - 1 for n.)
    """
    law = shares @ P
    inverse = np.linalg.inv(P)
    spread: FloatArray = inverse.T @ (np.diag(law) - np.outer(law, law)) @ inverse
    return spread


def share_variances(P: FloatArray, shares: FloatArray) -> FloatArray:
    """n times the variances of the corrected shares; `shares` may be many, shape (..., t)."""
    variances: FloatArray = (shares @ P) @ np.linalg.inv(P) ** 2 - shares**2
    return variances


def errors_by_truth(P: FloatArray, shares: FloatArray) -> FloatArray:
    """1 - Pr(x = v -> estimate = v) for each v, the estimate drawn from the posterior, shape (..., t).

    (Wang 2016, eq. 5; the error of the proof of Theorem 2.)
    """
    errors: FloatArray = 1.0 - (P * _posterior(P, shares)).sum(axis=-1)
    return errors


def wrong_value(P: FloatArray, shares: FloatArray) -> FloatArray:
    """The share of individuals whose estimate is another category than theirs."""
    mean: FloatArray = (shares * errors_by_truth(P, shares)).sum(axis=-1)
    return mean


def squared_distance(P: FloatArray, shares: FloatArray) -> FloatArray:
    """E (estimate - x)^2 over individuals, categories at 1 .. t (Wang 2016, eq. 12)."""
    values = np.arange(1.0, shares.shape[-1] + 1)
    given = _posterior(P, shares)
    # given the report, truth and estimate are two independent draws from the posterior
    variance = values**2 @ given - (values @ given) ** 2
    distance: FloatArray = 2.0 * ((shares @ P) * variance).sum(axis=-1)
    return distance


def wrong_guess(P: FloatArray, shares: FloatArray) -> FloatArray:
    """The least share of wrong guesses that anybody who sees the reports can reach."""
    least: FloatArray = 1.0 - (shares[..., None] * P).max(axis=-2).sum(axis=-1)
    return least


def _posterior(P: FloatArray, shares: FloatArray) -> FloatArray:
    """P(x | y), rows x and columns y."""
    joint = shares[..., None] * P
    given: FloatArray = joint / joint.sum(axis=-2, keepdims=True)
    return given
