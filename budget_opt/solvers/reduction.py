"""From a problem to the program of its free attributes, and back (presolve).

Fixed are pins, and attributes that neither a floor nor the objective uses: they stay at their lower
bounds. Caps and floors are aimed at from inside, so that exact decimals and the sampler's slightly smaller
lambda (DESIGN 2.7, 2.8) find nothing to repair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array, vstack

from budget_opt.certificate.multipliers import Multipliers
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact_sum
from budget_opt.model.arrays import Arrays, BoolArray, FloatArray, IntArray
from budget_opt.model.objectives import log_spread
from budget_opt.solvers.coordinate import LOG, LOGIT
from budget_opt.solvers.program import Program, Spread
from budget_opt.solvers.spread_columns import Columns

CAP_MARGIN = 2.0**-46
"""Share of a budget left over: far above the rounding of a sum, far below any gap."""
FLOOR_MARGIN = 1e-12
"""Added to the logarithm of a floor."""
CEILING_MARGIN = 1e-13
"""Taken off the logarithm of a ceiling, for the rounding of its sum."""


_HALVINGS = 900
"""From a nat to the least double that the mechanism is computed for."""


@dataclass(frozen=True)
class Reduction:
    """A problem's program and what it takes to read its answer in the problem's terms.

    `free` are the attributes of the program; `fixed` (M,) holds the others' epsilon. `floors`, `levels`
    are the moments of the program's rows, floors first and `ceilings` last; `budgets` those of its caps,
    which leave `rest` (nats) above the lower bounds. `unmet` are floors that no free attribute can mend.
    """

    arrays: Arrays
    program: Program
    free: IntArray
    fixed: FloatArray
    floors: IntArray
    levels: IntArray
    ceilings: IntArray
    budgets: IntArray
    rest: FloatArray
    unmet: IntArray
    unit: float

    def expand(self, epsilon: FloatArray) -> FloatArray:
        """The program's epsilon (n,) among all attributes' (M,)."""
        whole = self.fixed.copy()
        whole[self.free] = epsilon
        return whole

    def multipliers(self, row_dual: FloatArray, cap_dual: FloatArray) -> Multipliers:
        """The program's multipliers in the units of the certificate."""
        found = Multipliers.zero(self.arrays)
        count = self.floors.size
        found.floors[self.floors] = row_dual[:count] * self.unit
        found.moments[self.levels] = row_dual[count : count + self.levels.size]
        found.ceilings[self.ceilings] = row_dual[count + self.levels.size :] * self.unit
        found.budgets[self.budgets] = cap_dual[: self.budgets.size] * self.unit / self.rest
        return found


def alive(arrays: Arrays) -> FloatArray:
    """The weights, 0 where an attribute without any epsilon to have leaves nothing of the moment."""
    dead = arrays.incidence @ (arrays.upper <= 0).astype(np.float64) > 0
    weights: FloatArray = np.where(dead, 0.0, arrays.weight)
    return weights


def reduce(arrays: Arrays) -> Reduction:
    """The program of a problem; `weighted_sum` has no objective yet."""
    weights = np.zeros(arrays.moments) if arrays.objective == "min_epsilon" else alive(arrays)
    floors = arrays.floors
    needed = np.zeros(arrays.moments, dtype=bool)
    needed[floors] = True
    needed |= weights > 0
    used = arrays.incidence.T @ needed.astype(np.float64) > 0
    coordinate = LOG if arrays.ceilings.size else LOGIT
    enough = np.log(arrays.cardinality) + coordinate.digits
    highest = np.minimum(arrays.upper, enough)
    movable = (arrays.upper > arrays.lower * (1 + 2.0**-45)) & (arrays.lower < enough - 1.0)
    free_mask = used & movable & _has_room(arrays)
    free = np.flatnonzero(free_mask)
    fixed = np.where(free_mask, 0.0, arrays.lower)
    kept = np.where(free_mask, 0.0, rr.log_retention(fixed, arrays.cardinality))
    offset = arrays.incidence @ kept
    touched = arrays.incidence @ free_mask.astype(np.float64) > 0
    unmet = floors[~touched[floors] & (offset[floors] < arrays.log_floor[floors])]
    floors = floors[touched[floors]]
    levels = np.flatnonzero(weights > 0) if arrays.objective == "max_min" else np.zeros(0, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        ceilings = np.flatnonzero((arrays.log_ceiling < 0) & touched & np.isfinite(offset))
    caps, rest, budgets = _caps(arrays, free_mask, highest)
    margin = np.minimum(FLOOR_MARGIN, 1e-3 * np.abs(arrays.log_floor[floors]))
    with np.errstate(invalid="ignore"):
        row_bound = np.concatenate(
            [
                arrays.log_floor[floors] + margin - offset[floors],
                np.log(arrays.target[levels]) - offset[levels],
                offset[ceilings] - arrays.log_ceiling[ceilings] + CEILING_MARGIN,
            ]
        )
    program = Program(
        arrays.cardinality[free],
        arrays.lower[free],
        highest[free],
        _signed_rows(arrays.incidence[:, free], np.concatenate([floors, levels]), ceilings),
        row_bound,
        np.repeat([0.0, 1.0, 0.0], [floors.size, levels.size, ceilings.size]),
        caps[:, free],
        np.ones(budgets.size),
        np.zeros(free.size),
        np.zeros(free.size),
        None,
        arrays.objective == "max_min",
        None,
        coordinate,
    )
    reduction = Reduction(arrays, program, free, fixed, floors, levels, ceilings, budgets, rest, unmet, 1.0)
    return _with_objective(reduction, weights)


def _signed_rows(incidence: csr_array, upward: IntArray, downward: IntArray) -> csr_array:
    """Rows of floors and levels, then those of ceilings with -1."""
    if not downward.size:
        return csr_array(incidence[upward])
    return csr_array(vstack([incidence[upward], -incidence[downward]], format="csr"))


def _with_objective(reduction: Reduction, weights: FloatArray) -> Reduction:
    arrays, free, program = reduction.arrays, reduction.free, reduction.program
    if arrays.objective == "geometric_mean" and np.any(weights > 0):
        gain = (arrays.incidence.T @ (weights / np.sum(weights)))[free]
        program = replace(program, gain=gain)
    if arrays.objective == "min_variance":
        terms = np.flatnonzero(weights > 0)
        fixed_spread = log_spread(arrays, np.where(reduction.fixed > 0, reduction.fixed, 1.0))
        columns = Columns.of(arrays, free)
        fixed_spread[columns.taken] = 0.0
        incidence = arrays.spread_incidence[terms]
        logs = np.log(weights[terms] * arrays.variance[terms]) + incidence @ fixed_spread
        a, b = arrays.spread_a[columns.taken], arrays.spread_b[columns.taken]
        program = replace(program, spread=Spread(logs, incidence[:, columns.taken], a, b, columns))
    if arrays.objective == "min_epsilon" and free.size:
        unit = float(np.sum(_in_caps(program)))
        program = replace(program, cost=np.full(free.size, 1.0 / unit))
        return replace(reduction, program=program, unit=unit)
    return replace(reduction, program=program)


def _has_room(arrays: Arrays) -> BoolArray:
    """False for the members of a budget that their lower bounds use up, to rounding."""
    room = np.ones(arrays.blocks, dtype=bool)
    for budget in arrays.budgets:
        left = budget.cap - exact_sum(arrays.lower[budget.members])
        if left <= budget.cap * Fraction(1, 2**44):
            room[budget.members] = False
    return room


def _caps(arrays: Arrays, free: BoolArray, highest: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Coefficients, what is left above the lower bounds, and indices of the budgets that can bind."""
    rows, rest, budgets = [], [], []
    for index, budget in enumerate(arrays.budgets):
        members = budget.members[free[budget.members]]
        if not members.size:
            continue
        others = exact_sum(arrays.lower[budget.members[~free[budget.members]]])
        lower, upper = arrays.lower[members], highest[members]
        if np.all(np.isfinite(upper)) and exact_sum(upper) <= budget.cap - others:
            continue
        left = float((budget.cap - others) * (1 - Fraction(CAP_MARGIN)) - exact_sum(lower))
        row = np.zeros(arrays.blocks)
        row[members] = 1.0 / left
        rows.append(row)
        rest.append(left)
        budgets.append(index)
    coefficient = np.array(rows).reshape(len(rows), arrays.blocks)
    return coefficient, np.array(rest), np.array(budgets, dtype=np.int64)


def fixed_retention(reduction: Reduction) -> FloatArray:
    """log lambda (M,) of the fixed attributes, 0 for the free ones."""
    kept: FloatArray = rr.log_retention(reduction.fixed, reduction.arrays.cardinality)
    kept[reduction.free] = 0.0
    return kept


def inner_start(program: Program) -> FloatArray:
    """A split (n,) well inside bounds and caps, and ceilings if that can be."""
    split = _in_caps(program)
    down = np.flatnonzero(program.rows.sum(axis=1) < 0)
    for _ in range(_HALVINGS if down.size else 0):
        passed = down[program.row_slack(program.point(split), 0.0)[down] <= 0]
        if not passed.size:
            break
        members = np.unique(program.rows[passed].indices)
        split[members] = program.lower[members] + 0.5 * (split - program.lower)[members]
    return split


def _in_caps(program: Program) -> FloatArray:
    """A split (n,) well inside bounds and caps: an even share of what is left above the lower bounds.

    Where that is more than the rows need when each shares its bound evenly, a little more than the need: from
    far above, floors are too flat to be seen.
    """
    share = np.full(program.size, np.inf)
    for row, limit in zip(program.cap, program.cap_limit, strict=True):
        members = row > 0
        share[members] = np.minimum(share[members], 0.9 * limit / (np.sum(members) * row[members]))
    share = np.minimum(share, 0.9 * (program.upper - program.lower))
    need = np.maximum(1.2 * _even_need(program) - program.lower, 0.1 * program.lower)
    if not program.has_level and not np.any(program.gain) and program.spread is None:
        share = np.minimum(share, need)
    split: FloatArray = program.lower + np.where(np.isinf(share), need, share)
    return split


def _even_need(program: Program) -> FloatArray:
    """epsilon (n,) at which every floor holds with all its members alike in log lambda; 1 without a floor."""
    sizes = np.diff(program.rows.indptr)
    upward = np.repeat(program.rows.sum(axis=1) > 0, sizes)
    log_kept = np.repeat(program.row_bound / np.maximum(sizes, 1), sizes)
    highest = np.full(program.size, -np.inf)
    np.maximum.at(highest, program.rows.indices[upward], log_kept[upward])
    need: FloatArray = rr.epsilon_for_log_retention(np.minimum(highest, -1e-12), program.cardinality)
    return np.where(np.isfinite(highest), need, 1.0)
