"""What joined weights leave of a tolerance is spent on a move towards the next level's own optimum.

Where an objective is not convex, the splits that weights reach are corners of what is possible, and between
two of them they find nothing. Budgets, bounds and floors hold for every mixture of two splits that keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers.answer import Candidate
from budget_opt.solvers.levels.kept import Advance, Kept
from budget_opt.solvers.local import keeps_all

_HALVINGS = 40


def own_optimum(arrays: Arrays, solve: Callable[[Arrays], Candidate]) -> FloatArray | None:
    """The best split (M,) of a level without those before it; None where no time is left for it."""
    try:
        return solve(arrays).epsilon
    except NotSolvedError:
        return None


def towards(
    advance: Advance,
    wanted: FloatArray | None,
    arrays: Arrays,
    kept: Sequence[Kept],
    allowances: Sequence[float],
) -> Advance:
    """The advance, moved towards the wanted split as far as every level before keeps its allowance.

    Where that makes the level no better, it stays as it is. What is proved is proved of any split.
    """
    if wanted is None:
        return advance

    def allowed(share: float) -> bool:
        split = mixed(share)
        losses = [level.loss(split) for level in kept]
        return keeps_all(arrays, split) and all(
            loss <= allowance for loss, allowance in zip(losses, allowances, strict=True)
        )

    def mixed(share: float) -> FloatArray:
        between: FloatArray = advance.epsilon + share * (wanted - advance.epsilon)
        return between

    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if allowed(middle) else (low, middle)
    moved = mixed(low)
    sign = -1.0 if arrays.objective in MINIMIZED else 1.0
    better = sign * objective_value(arrays, moved) > sign * objective_value(arrays, advance.epsilon)
    return replace(advance, epsilon=moved) if better else advance
