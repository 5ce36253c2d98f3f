"""The same questions in other formulations, without the theorem of `hamming.theorem`: judges of `bo.hamming`.

`matrix_program`: the linear program over all entries of the matrix, r^2 + 1 variables, HiGHS. `by_bisection`:
its inverse, epsilon for a distortion. `reduced_form`: the paper's r diagonal entries, a linear program for a
fixed least one, searched over that one. `leakage`: the least worst-case mutual information, by cvxpy.
All are floating point to the solvers' tolerances.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog, minimize_scalar

from budget_opt.mechanisms.hamming import Source


def vertices_of(source: Source) -> Any:
    """The source's extreme points as doubles, shape (count, r)."""
    return np.array(source.vertices, dtype=np.float64)


def matrix_program(source: Source, epsilon: float) -> float:
    """The least worst-case distortion over every matrix with likelihood ratio <= exp(epsilon).

    Column j lies between m_j >= 0 and exp(epsilon) m_j, so it is all zero or all positive.
    """
    shares = vertices_of(source)
    count, r = shares.shape
    # variables: the rows of Q one after another, m (r), D
    width = r * r + r + 1
    diagonal = [i * r + i for i in range(r)]
    worst = np.zeros((count, width))
    worst[:, diagonal], worst[:, -1] = -shares, -1.0
    entries, column = np.eye(r * r), np.tile(np.eye(r), (r, 1))
    none = np.zeros((r * r, 1))
    ratio = math.exp(epsilon)
    limits = np.vstack(
        [worst, np.hstack([entries, -ratio * column, none]), np.hstack([-entries, column, none])]
    )
    whole = np.hstack([np.kron(np.eye(r), np.ones(r)), np.zeros((r, r + 1))])
    found = linprog(
        np.eye(1, width, width - 1)[0],
        A_ub=limits,
        b_ub=np.r_[-np.ones(count), np.zeros(2 * r * r)],
        A_eq=whole,
        b_eq=np.ones(r),
        bounds=(0, None),
        method="highs",
    )
    return float(found.fun or 0.0)


def by_bisection(source: Source, distortion: float, largest: float = 40.0) -> float:
    """The epsilon at which `matrix_program`, which falls with epsilon, reaches this distortion."""
    low, high = 0.0, largest
    if matrix_program(source, low) <= distortion + 1e-9:
        return 0.0
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if matrix_program(source, middle) <= distortion else (middle, high)
    return high


def reduced_form(source: Source, distortion: float) -> float:
    """min log(sum_(i >= 2) (1 - D_i) / D_1), D_1 <= D_i <= 1, sum p_i D_i <= D: a known order, D < D^(1)."""
    shares = -np.sort(-vertices_of(source), axis=1)
    r = shares.shape[1]

    def ratio(first: float) -> float:
        found = linprog(
            np.full(r - 1, -1.0),
            A_ub=shares[:, 1:],
            b_ub=distortion - shares[:, 0] * first,
            bounds=(first, 1.0),
            method="highs",
        )
        return (r - 1 + float(found.fun)) / first if found.fun is not None else math.inf

    # quasi-convex: a convex function of D_1 over D_1. D_i >= D_1 for all means D_1 <= D
    found = minimize_scalar(ratio, bounds=(1e-9, distortion), method="bounded", options={"xatol": 1e-12})
    return max(0.0, math.log(min(float(found.fun), ratio(distortion))))


def leakage(source: Source, distortion: float) -> float:
    """The least, over matrices of this worst-case distortion, of the worst mutual information in nats.

    I(p, Q) = min over s of sum_i p_i KL(Q_i || s) is linear in p and convex in (Q, s), so that the largest
    over the hull is that over its vertices with one s for all: a convex program in (Q, s, t). It is solved
    for a few vertices, to which those that its answer violates most are added until none is.
    """
    shares = vertices_of(source)
    if shares.min(axis=0).max() >= 1 - distortion:
        return 0.0  # one category, reported of everybody
    used = {int(np.argmin(shares.max(axis=1)))}
    while True:
        matrix, divergences, worst = _least_leakage(shares[sorted(used)], distortion)
        over = {int(np.argmax(shares @ divergences)), int(np.argmin(shares @ np.diag(matrix)))}
        violated = max(
            float((shares @ divergences).max()) - worst,
            1 - distortion - float((shares @ np.diag(matrix)).min()),
        )
        if violated <= 1e-7 or over <= used:
            return max(0.0, worst)
        used |= over


def _least_leakage(shares: Any, distortion: float) -> tuple[Any, Any, float]:
    """The program for these vertices: Q, the divergences of its rows from s, and t."""
    import cvxpy as cp

    r = shares.shape[1]
    matrix, reports, worst = cp.Variable((r, r), nonneg=True), cp.Variable(r, nonneg=True), cp.Variable()
    divergences = cp.sum(
        cp.rel_entr(matrix, np.ones((r, 1)) @ cp.reshape(reports, (1, r), order="C")), axis=1
    )
    problem = cp.Problem(
        cp.Minimize(worst),
        [
            cp.sum(matrix, axis=1) == 1,
            cp.sum(reports) == 1,
            shares @ divergences <= worst,
            shares @ cp.diag(matrix) >= 1 - distortion,
        ],
    )
    problem.solve(solver=cp.CLARABEL)
    return matrix.value, divergences.value, float(problem.value)


def symmetric_leakage(cardinality: int, distortion: float) -> float:
    """log r - h(D) - D log(r - 1) in nats, 0 from D = (r - 1) / r on: the least for a source of class I.

    The uniform distribution has this rate at this distortion, and the symmetric matrix no more for any.
    """
    if distortion >= 1 - 1 / cardinality:
        return 0.0
    entropy = -distortion * math.log(distortion) - (1 - distortion) * math.log1p(-distortion)
    return math.log(cardinality) - entropy - distortion * math.log(cardinality - 1)
