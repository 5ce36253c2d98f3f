"""The convex objectives in cvxpy, in the logarithmic form of DESIGN 2.4; solved by Clarabel.

With x = log lambda and e = epsilon both free, randomized response is  exp(x) + (r - 1) exp(x - e) + exp(-e)
<= 1. Where a variance needs tau itself, w >= log tau obeys  r exp(-e - w) + exp(-e) <= 1. The answer is a
first guess: neither its status nor its tolerance is believed (DESIGN 2.5).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.coordinate import LOG
from budget_opt.solvers.program import Program, Spread
from budget_opt.solvers.reduction import Reduction


def first_guess(reduction: Reduction) -> FloatArray | None:
    """Epsilon (n,) at the optimum as cvxpy sees it, clipped to the bounds; None without an answer."""
    import cvxpy as cp

    program = reduction.program
    x, e = cp.Variable(program.size), cp.Variable(program.size)
    level = cp.Variable()
    log_rest = np.log(program.cardinality - 1.0)
    constraints = [cp.exp(x) + cp.exp(x - e + log_rest) + cp.exp(-e) <= 1, e >= program.lower]
    held = np.flatnonzero(program.lower > 0)
    if held.size:
        constraints.append(x[held] >= rr.log_retention(program.lower, program.cardinality)[held])
    capped = np.flatnonzero(np.isfinite(program.upper))
    if capped.size:
        constraints.append(e[capped] <= program.upper[capped])
    if program.row_bound.size:
        constraints.append(program.rows @ x - program.row_level * level >= program.row_bound)
    if program.cap_limit.size:
        constraints.append(program.cap @ (e - program.lower) <= program.cap_limit)
    goal, more = _goal(cp, program, x, e, level)
    problem = cp.Problem(cp.Maximize(goal), constraints + more)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the certificate judges that
            problem.solve(solver=cp.CLARABEL)
    except (cp.error.SolverError, cp.error.DCPError, ValueError, ArithmeticError):
        return None
    if x.value is None or not np.all(np.isfinite(x.value)):
        return None
    wanted = e.value
    if program.coordinate is LOG:
        # epsilon beyond what its retention needs would pass a ceiling
        wanted = rr.epsilon_for_log_retention(np.minimum(x.value, -1e-16), program.cardinality)
    guess: FloatArray = np.clip(np.asarray(wanted, dtype=np.float64), program.lower, program.upper)
    return guess


def _goal(cp: Any, program: Program, x: Any, e: Any, level: Any) -> tuple[Any, list[Any]]:
    """What is maximized, and the constraints that it brings."""
    if program.spread is not None:
        return _variance(cp, program, program.spread, x, e)
    if program.has_level:
        return level, []
    return program.gain @ x - program.cost @ (e - program.lower), []


def _variance(cp: Any, program: Program, spread: Spread, x: Any, e: Any) -> tuple[Any, list[Any]]:
    if np.all(spread.a == 1.0) and np.all(spread.b == 1.0):
        return -cp.log_sum_exp(spread.terms - 2 * (spread.rows @ x)), []
    w, inflation = cp.Variable(program.size), cp.Variable(program.size)
    log_r = np.log(program.cardinality)
    summands = cp.vstack(
        [
            cp.exp(-inflation),
            cp.exp(w - inflation + np.log(spread.a + spread.b)),
            cp.exp(2 * w - inflation + np.log(spread.b)),
        ]
    )
    constraints = [cp.exp(log_r - e - w) + cp.exp(-e) <= 1, cp.sum(summands, axis=0) <= 1]
    return -cp.log_sum_exp(spread.terms + spread.rows @ inflation), constraints
