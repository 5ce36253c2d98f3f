"""The outer maxima at the price that the multipliers state: a bound that comes out the same everywhere.

Where `outer` looks for the best price in a few passes, the last digits of a step may decide where it ends.
Here every maximum is found for itself, to many digits, and depends on the numbers without any jump.
"""

from __future__ import annotations

import numpy as np

from budget_opt.certificate.boxes.maxima import peak
from budget_opt.certificate.boxes.outer import Outer, OuterProblem, at_price


def stated_maxima(problem: OuterProblem) -> Outer:
    """The maxima at `problem.price`; nobody is mixed of two ends."""
    psi, theta = at_price(problem, problem.price)
    found = peak(psi)
    hints, on = (found.z, psi.low, psi.high), np.ones_like(found.z)
    total = np.sum(found.value, axis=0)
    return Outer(problem.price, total, found.value, found.inside, psi, theta, hints, on)
