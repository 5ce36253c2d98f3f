"""A linear relaxation of "give up as few floors as possible", and the bound that it proves.

With x_m for log lambda, below tangents of the concave log lambda(e), and d_k for giving up floor k:

    min sum_k d_k   with   x_m <= T_mj(e_m),   sum_S x_m >= log f_k - d_k D_k,   sum_G e_m <= E_G

D_k is what the floor lacks where every x_m is at b_m, the least of its tangents at the lower bound, so that
d_k = 1 asks nothing. Ceilings are left out. Any multipliers y >= 0 of the rows bound the number from below,
as the box of x, e, d is finite: the linear solver's are only a good choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, csr_array, diags_array, eye_array, hstack, vstack

from budget_opt.certificate.box import budget_rows
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.solvers.conflicts.constraints import Constraint

_TANGENTS = 12
_OUTWARD = 1e-9
"""Added to every tangent and taken off the bound, relative: far above rounding."""
_FLAT, _NOTHING_LEFT = 6.0, 36.0
"""Beyond log r by so many nats, lambda is 1 to 0.3 %, and to the last digit."""


@dataclass(frozen=True)
class Relaxation:
    """rows @ u <= limit, low <= u <= high, for u = (x, e, d); minimize the sum of d, one a floor."""

    floors: IntArray
    rows: csc_array
    limit: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, arrays: Arrays, sets: Iterable[frozenset[Constraint]]) -> Relaxation:
        """The relaxation of a problem; of each of `sets` that holds floors alone one must go."""
        floors, m = arrays.floors, arrays.blocks
        floored = csr_array(arrays.incidence[floors])
        upper = np.minimum(arrays.upper, np.log(arrays.cardinality) + _NOTHING_LEFT)
        upper = np.maximum(upper, arrays.lower)
        points = _points(arrays, floored, upper)
        slope = rr.log_retention_slope(points, arrays.cardinality)
        level = rr.log_retention(points, arrays.cardinality) - slope * points + _OUTWARD
        least = np.minimum(np.min(level + slope * arrays.lower, axis=0), 0.0)
        lacking = np.maximum(arrays.log_floor[floors] - floored @ least, 0.0)
        budgets = budget_rows(arrays)
        hits = _hits(sets, floors)
        blocks = [
            _row([csr_array(eye_array(m)), csr_array(diags_array(-s)), None], m, floors.size) for s in slope
        ]
        blocks += [
            _row([-floored, None, csr_array(diags_array(-lacking))], m, floors.size),
            _row([None, csr_array(budgets.coefficient), None], m, floors.size),
            _row([None, None, -hits], m, floors.size),
        ]
        limit = [*level, -arrays.log_floor[floors], budgets.limit]
        return cls(
            floors,
            csc_array(vstack(blocks)),
            np.concatenate([*limit, np.full(hits.shape[0], -1.0)]),
            np.concatenate([least, arrays.lower, np.zeros(floors.size)]),
            np.concatenate([np.zeros(m), upper, np.ones(floors.size)]),
        )

    def solve(self, seconds: float) -> tuple[int, FloatArray]:
        """No fewer floors than this number can be given up, by weak duality; and the shares d."""
        cost = np.zeros(self.low.size)
        cost[self.low.size - self.floors.size :] = 1.0
        matrix: Any = self.rows  # scipy's stubs know dense ones only
        found = linprog(
            cost,
            A_ub=matrix,
            b_ub=self.limit,
            bounds=list(zip(self.low.tolist(), self.high.tolist(), strict=True)),
            options={"time_limit": seconds},
        )
        if found.status != 0 or found.x is None:
            return 0, np.zeros(self.floors.size)
        y = np.maximum(-found.ineqlin.marginals, 0.0)
        reduced = cost + self.rows.T @ y
        parts = np.concatenate([-y * self.limit, np.minimum(reduced * self.low, reduced * self.high)])
        reach = np.maximum(np.abs(self.low), np.abs(self.high))
        size = np.sum(np.abs(parts)) + np.sum((cost + abs(self.rows).T @ y) * reach)
        return max(0, int(np.ceil(np.sum(parts) - _OUTWARD * (1.0 + size)))), found.x[
            self.low.size - self.floors.size :
        ]


def _points(arrays: Arrays, floored: csr_array, upper: FloatArray) -> FloatArray:
    """Epsilons (J, M) of contact: with less than the first, no floor of the attribute can hold."""
    r = arrays.cardinality
    owner = np.repeat(np.arange(floored.shape[0]), np.diff(floored.indptr))
    alone = rr.epsilon_for_log_retention(arrays.log_floor[arrays.floors][owner], r[floored.indices])
    first = np.full(arrays.blocks, np.inf)
    np.minimum.at(first, floored.indices, alone)
    first = np.maximum(np.minimum(np.where(np.isfinite(first), first, 1.0), upper), 1e-9)
    last = np.maximum(np.minimum(upper, np.log(r) + _FLAT), first)
    points: FloatArray = first * (last / first) ** np.linspace(0.0, 1.0, _TANGENTS)[:, None]
    return points


def _hits(sets: Iterable[frozenset[Constraint]], floors: IntArray) -> csr_array:
    """One row for each set of floors, 1 where it contains a floor."""
    place = {int(k): i for i, k in enumerate(floors)}
    pure = [one for one in sets if all(wish.kind == "floor" for wish in one)]
    columns = [place[wish.index] for one in pure for wish in sorted(one)]
    starts = np.cumsum([0, *map(len, pure)])
    return csr_array((np.ones(len(columns)), columns, starts), shape=(len(pure), floors.size))


def _row(parts: list[csr_array | None], m: int, k: int) -> csr_array:
    """One block of rows from its parts for x, e and d; None is 0."""
    height = next(part.shape[0] for part in parts if part is not None)
    widths = (m, m, k)
    filled = [
        csr_array((height, width)) if part is None else part
        for part, width in zip(parts, widths, strict=True)
    ]
    return csr_array(hstack(filled))
