"""What no partition passes, whatever is randomized together: every moment as if it were alone."""

from __future__ import annotations

import math

import numpy as np

from budget_opt.certificate.partitions.choice import Blocks, Choice
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

_ROUNDING = 1e-12


def trivial_bound(choice: Choice) -> float:
    """The bound of the score of every partition: a moment keeps no more than any of its members could.

    A block has the lambda of its epsilon and of more categories than a member has alone, and no more epsilon
    than any budget of the member allows. A variance inflation is at least 1, and a sum of epsilons at least
    what one floor or lower bound needs.
    """
    alone = Blocks.of(choice, choice.alone)
    if choice.objective == "min_epsilon":
        return -_least_total(choice, alone)
    moments = [
        (moment.weight, moment, members)
        for moment, members in zip(choice.problem.moments, choice.members, strict=True)
        if moment.weight > 0 and moment.level == min(choice.problem.levels)
    ]
    if choice.objective == "min_variance":
        return -math.log(math.fsum(weight * moment.variance for weight, moment, _ in moments)) + _ROUNDING
    most = _most_kept(alone)
    kept = np.array([min((most[i] for i in members), default=0.0) for _, _, members in moments])
    weights = np.array([weight for weight, _, _ in moments])
    if choice.objective == "max_min":
        return float(np.min(kept - np.log([moment.target for _, moment, _ in moments]))) + _ROUNDING
    if choice.objective == "geometric_mean":
        return float(weights @ kept / np.sum(weights)) * (1 - _ROUNDING) + _ROUNDING
    return math.log(float(weights @ np.exp(kept))) + _ROUNDING if np.any(np.isfinite(kept)) else -math.inf


def _most_kept(alone: Blocks) -> FloatArray:
    kept: FloatArray = rr.log_retention(alone.upper, alone.cardinality)
    return kept


def _least_total(choice: Choice, alone: Blocks) -> float:
    """The most that one lower bound, or one floor by its smallest member, needs."""
    needs = [0.0, *alone.lower]
    for moment, members in zip(choice.problem.moments, choice.members, strict=True):
        if moment.floor is not None and members:
            r = np.array([min(alone.cardinality[i] for i in members)])
            kept = np.array([math.log(moment.floor)])
            needs.append(float(rr.epsilon_for_log_retention(kept, r)[0]) * (1 - _ROUNDING))
    return float(max(needs))
