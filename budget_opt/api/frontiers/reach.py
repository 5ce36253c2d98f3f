"""How far an axis is possible: the least total, or the largest floor, that all constraints allow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.api.checking.needs import at_least, demanding, least_need, possible_end
from budget_opt.api.frontiers.axis import Axis
from budget_opt.errors import Infeasibility, InfeasibleError, NotSolvedError
from budget_opt.model.values import LARGEST_EPSILON

EXPLAINED = 1.0
"""Seconds for the explanation why no value at all is possible, but for single solves."""
_UNLIMITED = 1e-9
"""A floor that may come as near to 1 as this has no limit."""


@dataclass(frozen=True)
class Reach:
    """`end` is a value that is possible, none beyond `bound` is; both None where nothing limits.

    Or `impossible`: no value is.
    """

    axis: Axis
    end: float | None = None
    bound: float | None = None
    impossible: InfeasibleError | None = None

    def why_not(self, value: float) -> InfeasibleError | None:
        """Why the value is proved impossible; None where it is not."""
        if self.impossible is not None:
            return self.impossible
        if self.end is None or self.bound is None:
            return None
        if self.axis.kind == "total_epsilon" and value < self.bound:
            return _too_little(demanding(self.axis.problem), value, self.end, self.bound)
        if self.axis.kind == "floor" and value > self.bound:
            return _too_high(self.axis, value, self.end)
        return None


def reach_of(axis: Axis) -> Reach:
    """How far the axis reaches, proved from the convex problem that asks for it."""
    try:
        if axis.kind == "total_epsilon":
            return _of_total(axis)
        if axis.kind == "floor":
            return _of_floor(axis)
    except InfeasibleError as failure:
        return Reach(axis, impossible=failure)
    except NotSolvedError:
        # too little room to tell: every point says for itself
        pass
    return Reach(axis)


def _of_total(axis: Axis) -> Reach:
    need = least_need(axis.problem.with_total(LARGEST_EPSILON), EXPLAINED)
    return Reach(axis, need.total, need.bound) if need.total > 0 else Reach(axis)


def _of_floor(axis: Axis) -> Reach:
    """The most that the moment can keep while everything else is kept too."""
    from budget_opt.solvers.answer import Settings
    from budget_opt.solvers.explanation import Names
    from budget_opt.solvers.table import solve

    problem = axis.with_moment(floor=None)
    names = Names.of_problem(problem)
    alone = (np.arange(len(problem.moments)) == axis.moment).astype(np.float64)
    question = replace(problem.arrays, objective="geometric_mean", weight=alone)
    found = solve(question, Settings(explanation_limit=EXPLAINED), None, names).certificate
    return Reach(axis, found.value, found.bound) if found.value < 1 - _UNLIMITED else Reach(axis)


def _too_little(demands: str, total: float, end: float, bound: float) -> InfeasibleError:
    return InfeasibleError(
        f"total_epsilon {total:.12g}: {demands} need {at_least(bound, total)}. "
        f"Raise it to {possible_end(end):.12g}, or lower what check names at this total.",
        Infeasibility(total=total, least_total=end, least_total_bound=bound),
    )


def _too_high(axis: Axis, floor: float, end: float) -> InfeasibleError:
    return InfeasibleError(
        f"{axis.varied} {floor:.12g}: no split that keeps all other constraints keeps as much. "
        f"Lower it to {possible_end(end, largest=True):.12g}, or raise the total."
    )
