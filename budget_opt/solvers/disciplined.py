"""The convex objectives in cvxpy, in the logarithmic form of DESIGN 2.4; solved by Clarabel: the reference.

With x = log lambda and e = epsilon both free, randomized response is  exp(x) + (r - 1) exp(x - e) + exp(-e)
<= 1. Where a variance needs tau itself, w >= log tau obeys  r exp(-e - w) + exp(-e) <= 1.

The split is Clarabel's, moved towards one inside the floors by as little as exact feasibility needs (usually
1e-9 to 1e-6 of the way), and never polished. Its bound comes from Clarabel's multipliers or from the split
alone, whichever is better: neither its status nor its tolerance is believed. Clarabel's tolerance of 1e-8 is
absolute: gaps of 1e-9 to 1e-5 are usual at totals near 1 an attribute, and below 1e-3 little is left of it.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from budget_opt.errors import NotSolvedError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.answer import Task
from budget_opt.solvers.convex import Progress
from budget_opt.solvers.coordinate import LOG
from budget_opt.solvers.program import Program, Spread


@dataclass(frozen=True)
class Answer:
    """Clarabel's split (n,), clipped to the bounds, and its multipliers of the rows and of the caps."""

    epsilon: FloatArray
    rows: FloatArray
    caps: FloatArray


def propose(state: Progress, task: Task) -> None:
    """Offer Clarabel's split and multipliers.

    Raises OutOfTimeError where the time limit passed first, NotSolvedError where Clarabel has no split.
    """
    task.clock.check()
    found = answer(state.reduction.program, task.clock.left())
    task.clock.check()
    if found is None:
        raise NotSolvedError("cvxpy with Clarabel found no split. Use the solver 'interior point'.")
    state.propose(found.epsilon)
    state.bound_by(found.rows, found.caps)


def answer(program: Program, seconds: float = math.inf) -> Answer | None:
    """What Clarabel says of a program within so many seconds of its own; None where it has no split."""
    import cvxpy as cp

    x, e, level = cp.Variable(program.size), cp.Variable(program.size), cp.Variable()
    limits, rows, caps = _limits(cp, program, x, e, level)
    goal, more = _goal(cp, program, x, e, level)
    limited = {} if math.isinf(seconds) else {"time_limit": seconds}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the certificate judges that
            cp.Problem(cp.Maximize(goal), limits + more).solve(solver=cp.CLARABEL, **limited)
    except (cp.error.SolverError, cp.error.DCPError, ValueError, ArithmeticError):
        return None
    split = _split(program, x.value, e.value)
    if split is None:
        return None
    return Answer(split, _dual(rows, program.row_bound.size), _dual(caps, program.cap_limit.size))


def _limits(
    cp: Any, program: Program, x: Any, e: Any, level: Any
) -> tuple[list[Any], Any | None, Any | None]:
    """Randomized response, bounds, rows and caps; the last two by themselves where there are some."""
    log_rest = np.log(program.cardinality - 1.0)
    limits = [cp.exp(x) + cp.exp(x - e + log_rest) + cp.exp(-e) <= 1, e >= program.lower, e <= program.upper]
    held = np.flatnonzero(program.lower > 0)
    if held.size:
        limits.append(x[held] >= rr.log_retention(program.lower, program.cardinality)[held])
    rows = caps = None
    if program.row_bound.size:
        rows = program.rows @ x - program.row_level * level >= program.row_bound
        limits.append(rows)
    if program.cap_limit.size:
        caps = program.cap @ (e - program.lower) <= program.cap_limit
        limits.append(caps)
    return limits, rows, caps


def _split(program: Program, x: FloatArray | None, e: FloatArray | None) -> FloatArray | None:
    """Epsilon (n,) within the bounds; None unless all is finite."""
    if x is None or e is None or not np.all(np.isfinite(x) & np.isfinite(e)):
        return None
    wanted = e
    if program.coordinate is LOG:
        # epsilon beyond what its retention needs would pass a ceiling
        wanted = rr.epsilon_for_log_retention(np.minimum(x, -1e-16), program.cardinality)
    split: FloatArray = np.clip(wanted, program.lower, program.upper)
    return split


def _dual(limit: Any | None, count: int) -> FloatArray:
    """The multipliers of a constraint, 0 where Clarabel states none."""
    stated = None if limit is None else limit.dual_value
    return np.zeros(count) if stated is None else np.asarray(stated, dtype=np.float64).reshape(count)


def _goal(cp: Any, program: Program, x: Any, e: Any, level: Any) -> tuple[Any, list[Any]]:
    """What is maximized, and the constraints that it brings."""
    if program.spread is not None:
        return _variance(cp, program, program.spread, x, e)
    if program.has_level:
        return level, []
    return program.gain @ x - program.cost @ (e - program.lower), []


def _variance(cp: Any, program: Program, spread: Spread, x: Any, e: Any) -> tuple[Any, list[Any]]:
    if np.all(spread.plain):
        return -cp.log_sum_exp(spread.terms - 2 * (spread.rows @ _columns(spread, x))), []
    w, inflation = cp.Variable(program.size), cp.Variable(spread.columns.block.size)
    log_r, log_tau = np.log(program.cardinality), _columns(spread, w)
    summands = cp.vstack(
        [
            cp.exp(-inflation),
            cp.exp(log_tau - inflation + np.log(spread.a + spread.b)),
            cp.exp(2 * log_tau - inflation + np.log(spread.b)),
        ]
    )
    constraints = [cp.exp(log_r - e - w) + cp.exp(-e) <= 1, cp.sum(summands, axis=0) <= 1]
    return -cp.log_sum_exp(spread.terms + spread.rows @ inflation), constraints


def _columns(spread: Spread, variable: Any) -> Any:
    """The attribute's variable (n,) for every spread column (J,)."""
    return variable if spread.columns.one_each else variable[spread.columns.block]
