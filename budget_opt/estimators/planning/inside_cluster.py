"""What a guess adds to the planned variance of a moment of members of one cluster (DESIGN 2.3, 2.9).

Letters: F = prod_T f~_t the product of the members' centred scores, V = prod Var f_t, g = E F / sqrt(V) the
guess, k = E_q F / sqrt(V) = prod (-delta_t / sd_t), tau = 1 / L - 1. F is one function of one attribute with
many categories, and where the squares multiply

    E (F - E_q F)^2 = V (1 + k^2 - 2 k g),

of which `Block.spread_of` has the part without g: n Var / V has the term - 2 tau k g besides. A moment with
members of other blocks has the mean 0 in each of these under independence, and no such term.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from budget_opt.estimators.planning import precision

if TYPE_CHECKING:
    from budget_opt.allocation import AllocatedMoment, Allocation
    from budget_opt.model.attribute import Attribute
    from budget_opt.model.moments.moment import CrossMoment
    from budget_opt.model.problem import Problem


def excess_of(
    allocation: Allocation, moment: AllocatedMoment, log_inflation: float, guess: float
) -> float | None:
    """VI - 1 of a moment with what the guess adds to it in a cluster; None where no double can carry it."""
    excess = precision.excess_of(log_inflation)
    if excess is None:
        return None
    crossing = _crossing(allocation.question, moment.stated, guess)
    if crossing == 0:
        return excess
    (block,) = allocation.touched(moment.attributes)
    return excess + crossing * float(1 / block.exact_retention - 1)


def excess_without_guess(problem: Problem, moment: CrossMoment, excess: float, guess: float) -> float:
    """The VI - 1 that `Block.spread_of` gives at the tau at which it is `excess` > 0 with the guess.

    With c = -2 k g that tau solves b tau^2 + (a + b + c) tau = excess. Since a + c >= 0 and b > 0 both grow
    with tau, and to demand at most the one is to demand at most the other.
    """
    crossing = _crossing(problem, moment, guess)
    if crossing == 0 or not 0 < excess < math.inf:
        return excess
    (index,) = problem.touched(moment.attributes)
    a, b = problem.blocks[index].spread_of(moment.attributes)
    half = (a + b + crossing) / 2
    tau = excess / (half + math.hypot(half, math.sqrt(b) * math.sqrt(excess)))
    return tau * (a + b + b * tau)


def _crossing(problem: Problem, moment: CrossMoment, guess: float) -> float:
    """-2 k g of a moment whose attributes are all members of one cluster; 0 for others.

    At least -(1 + k^2): no square has a mean below 0, which a guess above 1 and squares that multiply would
    make it.
    """
    names = problem.attributes_in(moment)
    inside = len(names) > 1 and len(names) == len(moment.attributes) and len(problem.touched(names)) == 1
    if guess == 0 or not inside:
        return 0.0
    k = math.prod(-_shift(problem.attribute(name)) for name in names)
    return max(-2 * k * guess, -(1 + k * k))


def _shift(attribute: Attribute) -> float:
    """delta / sd under the believed shares; 0 for nominal categories, whose guess has no sign either."""
    if attribute.score_values is None:
        return 0.0
    f = np.array(attribute.score_values)
    f = (f - f[0]) / float(np.ptp(f))  # squares of scores may leave the doubles
    share, law = (
        np.full(f.size, 1 / f.size) if stated is None else np.array(stated) / float(sum(stated))
        for stated in (attribute.believed_shares, attribute.background_weights)
    )
    mean = float(share @ f)
    return (mean - float(law @ f)) / math.sqrt(float(share @ (f - mean) ** 2))
