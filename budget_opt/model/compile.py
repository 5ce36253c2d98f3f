"""From a problem to the arrays that solvers work on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.model.arrays import Arrays, Budget, FloatArray, IntArray
from budget_opt.model.clusters.block import Block

if TYPE_CHECKING:
    from budget_opt.model.problem import Problem


def arrays_of(problem: Problem) -> Arrays:
    """The numeric view of a problem in its order of blocks and moments, with the weights of its first level.

    Raises `ProblemError` while the clusters are still to be chosen.
    """
    blocks = problem.blocks
    budgets = tuple(
        Budget(name, np.array(sorted(problem.touched(members)), dtype=np.int64), cap)
        for name, members, cap in problem.budgets()
    )
    lower = [block.lower for block in blocks]
    touched = [problem.touched(moment.attributes) for moment in problem.moments]
    columns = _spread_columns(blocks, touched)
    detail = _details(problem)
    log_detail = np.log(detail)
    return Arrays(
        objective=problem.objective,
        cardinality=np.array([block.effective_cardinality for block in blocks]),
        lower=np.array(lower),
        upper=np.array(_upper(blocks, lower, budgets)),
        stated_upper=np.array([block.upper for block in blocks]),
        incidence=_ones([list(found) for found in touched], len(blocks)),
        weight=weights_of(problem, min(problem.levels, default=1)),
        log_floor=np.array(
            [-math.inf if moment.floor is None else math.log(moment.floor) for moment in problem.moments]
        )
        - log_detail,
        log_ceiling=np.minimum(
            [0.0 if moment.ceiling is None else math.log(moment.ceiling) for moment in problem.moments]
            - log_detail,
            0.0,
        ),
        target=np.array([moment.target for moment in problem.moments]) / detail,
        variance=np.array([moment.variance for moment in problem.moments]) / detail,
        detail=detail,
        spread_block=columns.block,
        spread_a=columns.a,
        spread_b=columns.b,
        spread_incidence=columns.incidence,
        budgets=budgets,
    )


def weights_of(problem: Problem, level: int) -> FloatArray:
    """The weights (K,) of the moments of one level, 0 for those of the others.

    In a weighted sum what groupings leave of a moment weighs like a weight.
    """
    weight = np.array([moment.weight if moment.level == level else 0.0 for moment in problem.moments])
    return weight * _details(problem) if problem.objective == "weighted_sum" else weight


def _details(problem: Problem) -> FloatArray:
    """What the groupings leave of every moment, (K,)."""
    return np.array([float(problem.detail_of(moment)) for moment in problem.moments])


Touched = Mapping[int, tuple[str, ...]]
"""Which members of which blocks a moment has."""


class _SpreadColumns(NamedTuple):
    block: IntArray
    a: FloatArray
    b: FloatArray
    incidence: csr_array


def _spread_columns(blocks: Sequence[Block], touched: Sequence[Touched]) -> _SpreadColumns:
    """One column for each block and each pair (a, b) that moments have of it, those of a block side by side.

    A block alone has one; a cluster as many as its members, and sets of them, differ in their marginals. That
    of a block in no moment is in no row of the incidence, and says (1, 1).
    """
    used = [[(i, blocks[i].spread_of(members)) for i, members in found.items()] for found in touched]
    in_use = {i for keys in used for i, _ in keys}
    idle = [(i, (1.0, 1.0)) for i in range(len(blocks)) if i not in in_use]
    # a stable sort: those of a block stay in the order of the moments
    keys = sorted(dict.fromkeys(chain(*used, idle)), key=itemgetter(0))
    column = {key: j for j, key in enumerate(keys)}
    return _SpreadColumns(
        np.array([i for i, _ in keys], dtype=np.int64),
        np.array([a for _, (a, _) in keys]),
        np.array([b for _, (_, b) in keys]),
        _ones([[column[key] for key in of_moment] for of_moment in used], len(keys)),
    )


def _ones(columns: Sequence[Sequence[int]], width: int) -> csr_array:
    """The sparse matrix with a 1 at these columns of each row."""
    rows = [k for k, found in enumerate(columns) for _ in found]
    places = (rows, [j for found in columns for j in found])
    return csr_array((np.ones(len(rows)), places), shape=(len(columns), width))


def _upper(blocks: Sequence[Block], lower: list[float], budgets: tuple[Budget, ...]) -> list[float]:
    """Each block's own upper bound, cut to what every budget leaves, rounded down."""
    least = [exact(low) for low in lower]
    upper = [block.upper for block in blocks]
    for budget in budgets:
        left = budget.cap - sum((least[i] for i in budget.members), Fraction(0))
        for i in budget.members:
            if upper[i] > lower[i]:
                upper[i] = max(lower[i], min(upper[i], float_at_most(least[i] + left)))
    return upper
