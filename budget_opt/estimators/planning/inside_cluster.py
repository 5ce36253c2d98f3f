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

if TYPE_CHECKING:
    from budget_opt.allocation import AllocatedMoment, Allocation
    from budget_opt.model.attribute import Attribute


def crossed_excess(allocation: Allocation, moment: AllocatedMoment, guess: float) -> float:
    """-2 tau k g of a moment whose attributes are all members of one cluster; 0 for others."""
    names = allocation.question.attributes_in(moment.stated)
    blocks = allocation.touched(names)
    is_inside = moment.touches_twice and len(blocks) == 1 and len(names) == len(moment.attributes)
    if guess == 0 or not is_inside or not blocks[0].is_released:
        return 0.0
    tau = float(1 / blocks[0].exact_retention - 1)
    return -2 * tau * guess * math.prod(-_shift(one) for one in blocks[0].members if one.name in names)


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
