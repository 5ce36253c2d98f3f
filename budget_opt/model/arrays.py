"""The numeric view of a problem that solvers and certificates work on.

M blocks, which are what is randomized as one, an attribute alone or a cluster, in the order of
`Problem.blocks`; K moments in problem order; all epsilons in nats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Objective = Literal["weighted_sum", "geometric_mean", "max_min", "min_epsilon", "min_variance"]
OBJECTIVES: tuple[Objective, ...] = (
    "weighted_sum",
    "geometric_mean",
    "max_min",
    "min_epsilon",
    "min_variance",
)
MINIMIZED: frozenset[Objective] = frozenset({"min_epsilon", "min_variance"})


TOTAL = "total_epsilon"
"""The name of the total among the budgets; no group may take it."""


@dataclass(frozen=True, eq=False)
class Budget:
    """sum of epsilon over `members` <= `cap`, in exact decimals; the first of a problem is the total."""

    name: str
    members: IntArray
    cap: Fraction


@dataclass(frozen=True, eq=False)
class Arrays:
    """One problem as arrays.

    Compared by identity, so that problems that hold theirs are compared by their fields alone.

    `cardinality` (M,) is the effective cardinality; `lower`, `upper` (M,) the bounds of epsilon, equal
    for a pin, `upper` already cut to what every budget leaves when all others are at their lower
    bounds, and inf where nothing limits it; `stated_upper` (M,) before that cut. `incidence` (K, M)
    is 1 where a moment has members of a block. `weight`, `target`, `variance` (K,) are as in the file, but
    that `weight` is 0 for the moments of other levels than the one that is asked for, the first;
    `log_floor` is -inf and `log_ceiling` 0 where there is none.

    Where categories are merged, the stated retention of a moment is its `detail` (K,) times the product of
    lambda, and the same is done to what a split is judged by: weights of `weighted_sum` are times the detail,
    floors, ceilings, targets and variances divided by it, so that all of them are about the product of lambda
    alone. The mean of `geometric_mean` has the factor `scale` besides. Without groupings all are 1.

    The variance inflation of a moment is a product of one factor a block too, but which depends on the
    members of the block that the moment has: so it has columns of its own, J >= M, those of a block side by
    side. `spread_block` (J,) is the column's block, `spread_a`, `spread_b` (J,) are its E f^2 / Var f and
    s / Var f (DESIGN 2.3), `spread_incidence` (K, J) has one column of each block that a moment touches.
    Where no cluster has several, J = M and both incidences are the same.
    """

    objective: Objective
    cardinality: FloatArray
    lower: FloatArray
    upper: FloatArray
    stated_upper: FloatArray
    incidence: csr_array
    weight: FloatArray
    log_floor: FloatArray
    log_ceiling: FloatArray
    target: FloatArray
    variance: FloatArray
    detail: FloatArray
    spread_block: IntArray
    spread_a: FloatArray
    spread_b: FloatArray
    spread_incidence: csr_array
    budgets: tuple[Budget, ...]

    @property
    def blocks(self) -> int:
        """M."""
        return int(self.cardinality.size)

    @property
    def moments(self) -> int:
        """K."""
        return int(self.weight.size)

    @property
    def floors(self) -> IntArray:
        """Indices of the moments with a floor."""
        return np.flatnonzero(np.isfinite(self.log_floor))

    @property
    def ceilings(self) -> IntArray:
        """Indices of the moments with a ceiling."""
        return np.flatnonzero(self.log_ceiling < 0)

    @cached_property
    def mean_pull(self) -> FloatArray:
        """The sum of the weight shares of each block's moments, (M,)."""
        pull: FloatArray = self.incidence.T @ (self.weight / np.sum(self.weight))
        return pull

    def members(self, k: int) -> IntArray:
        """Indices of the blocks of moment k."""
        start, stop = self.incidence.indptr[k], self.incidence.indptr[k + 1]
        return np.asarray(self.incidence.indices[start:stop], dtype=np.int64)

    @cached_property
    def log_scale(self) -> float:
        """log of the factor that the details are of the objective's value where they are in no term of it."""
        if self.objective != "geometric_mean" or not np.any(self.weight > 0):
            return 0.0
        return float(self.weight @ np.log(self.detail) / np.sum(self.weight))

    def spread_columns(self, k: int) -> IntArray:
        """Indices of the spread columns of moment k, one for each of its blocks."""
        start, stop = self.spread_incidence.indptr[k], self.spread_incidence.indptr[k + 1]
        return np.asarray(self.spread_incidence.indices[start:stop], dtype=np.int64)

    @property
    def is_convex(self) -> bool:
        """True where a certificate of DESIGN 2.5 can close the gap.

        Ceilings are linear in log lambda, in which all objectives but `weighted_sum` are convex, and
        `min_variance` where no marginal is stated (a = b = 1 for all that a weighted moment uses).
        """
        if self.objective == "weighted_sum":
            return False
        if self.objective != "min_variance" or self.ceilings.size == 0:
            return True
        used = self.spread_incidence.T @ (self.weight > 0).astype(np.float64) > 0
        return bool(np.all((self.spread_a[used] == 1.0) & (self.spread_b[used] == 1.0)))
