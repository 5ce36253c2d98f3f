"""The least total that meets all demands: a barrier method, ended by the certificate alone.

    minimize  t sum e(v) - sum log(slack)     for growing t

gives split and multipliers 1 / (t slack), and `certificate.demands` the bound. The start is found in the same
way: all demands give way by a level, which is minimized until all are met, or until its bound is above 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.demands import Demands, Pressures, least_total_bound
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.model.objectives import log_inflations, log_retentions, relative_gap
from budget_opt.solvers.coordinate import LOGIT
from budget_opt.solvers.demands.barrier import Barrier, Point, barrier_of
from budget_opt.solvers.demands.centring import Goal, centring, pressures
from budget_opt.solvers.threads import one_thread

AIM = 1e-9
"""Relative gap at which the method ends."""
_GROWTH, _STAGES = 20.0, 40
"""Of t from stage to stage, and how many there are at most."""
_FAR = 1e-5
"""Relative gap of a centre above which its bound is not worth evaluating."""
_NEARLY = 1e-6
"""Relative gap below which a stage that no longer halves it is the last: the rest is rounding."""
_AMPLE = 0.1
"""Part of the smallest limit by which a start need not be further inside."""


class ImpossibleDemandsError(Exception):
    """No split meets all demands: each misses one by at least `bound` > 0, a logarithm, by `pressures`."""

    def __init__(self, pressures: Pressures, bound: float) -> None:
        super().__init__("no split meets all demands")
        self.pressures, self.bound = pressures, bound


@dataclass(frozen=True, eq=False)
class Found:
    """A split (M,) that meets all demands, and what no sum of epsilon that does so is below."""

    epsilon: FloatArray
    bound: float
    pressures: Pressures

    @property
    def gap(self) -> float:
        """The relative gap."""
        return relative_gap(float(np.sum(self.epsilon)), self.bound)

    def or_better(self, epsilon: FloatArray, bound: float, pressures: Pressures) -> Found:
        """The better split of both, and the better bound."""
        split = epsilon if np.sum(epsilon) < np.sum(self.epsilon) else self.epsilon
        if bound > self.bound:
            return Found(split, bound, pressures)
        return Found(split, self.bound, self.pressures)


def least_total(demands: Demands) -> Found:
    """The split of the least sum of epsilon that meets the demands, budgets and bounds.

    Raises ImpossibleDemandsError with a proof, NotSolvedError where the demands leave no interior.
    """
    with one_thread():
        _require_alone(demands)
        barrier = barrier_of(demands)
        if not barrier.free.size:
            none = _pressure(demands)
            return Found(barrier.fixed, least_total_bound(demands, none), none)
        return _least(barrier, _inside(barrier))


def _require_alone(demands: Demands) -> None:
    """Raise where a demand is missed even with all its attributes at their upper bounds."""
    arrays = demands.arrays
    with np.errstate(invalid="ignore"):  # inf - inf where nothing is demanded
        floors = arrays.log_floor - log_retentions(arrays, arrays.upper)
        limits = log_inflations(arrays, arrays.upper) - demands.log_limit
    floors, limits = (np.where(np.isnan(part), -np.inf, part) for part in (floors, limits))
    missed = np.maximum(floors, limits)
    k = int(np.argmax(missed))
    alone = _pressure(demands, k, inflation=bool(limits[k] >= floors[k]))
    if missed[k] == np.inf:
        raise ImpossibleDemandsError(alone, np.inf)
    if missed[k] > 0 and (bound := least_total_bound(demands, alone, cost=0.0)) > 0:
        raise ImpossibleDemandsError(alone, bound)


def _pressure(demands: Demands, k: int | None = None, *, inflation: bool = False) -> Pressures:
    """A multiplier of 1 on one demand, or none at all."""
    arrays = demands.arrays
    found = Pressures(np.zeros(arrays.moments), np.zeros(arrays.moments), np.zeros(len(arrays.budgets)))
    if k is not None:
        (found.inflations if inflation else found.floors)[k] = 1.0
    return found


def _inside(barrier: Barrier) -> FloatArray:
    """A point (n,) strictly inside all demands, budgets and bounds."""
    v = LOGIT.of(_start(barrier), barrier.cardinality)
    at = Point(v, barrier.missed(v) + 1.0)
    ample = _AMPLE * _smallest_limit(barrier)
    count = barrier.slacks(at).number
    t = count / max(at.level, 1.0)
    for _ in range(_STAGES):
        goal = Goal(t, level=True)
        for nearer in centring(barrier, at, goal):
            at = nearer
            if barrier.missed(at.v) < -ample:
                return at.v
        missed, proof = barrier.missed(at.v), pressures(barrier, at, goal)
        if missed < 0 and count / t <= -missed:
            return at.v
        if (bound := least_total_bound(barrier.demands, proof, cost=0.0)) > 0:
            raise ImpossibleDemandsError(proof, bound / proof.of_demands)
        t *= _GROWTH
    raise NotSolvedError(
        "the wanted values leave no room: possible and impossible cannot be told apart. Want a little less "
        "of one, or raise a group or a bound in the way, by one part in a million."
    )


def _start(barrier: Barrier) -> FloatArray:
    """Some epsilon (n,) inside bounds and budgets."""
    share = np.minimum(0.9 * (barrier.upper - barrier.lower), 3.0 + np.log(barrier.cardinality))
    for row, limit in zip(barrier.caps.rows.toarray(), barrier.cap_limit, strict=True):
        members = row > 0
        share[members] = np.minimum(share[members], 0.9 * limit / np.sum(members))
    split: FloatArray = barrier.lower + share
    return split


def _smallest_limit(barrier: Barrier) -> float:
    demands = barrier.demands
    limits = demands.arrays.log_floor[barrier.floor_rows], demands.log_limit[barrier.limit_rows]
    return float(np.min(np.abs(np.concatenate(limits))))


def _least(barrier: Barrier, inside: FloatArray) -> Found:
    """The split and bound at the end of the central path."""
    at = Point(inside)
    best = Found(barrier.epsilon(inside), -np.inf, _pressure(barrier.demands))
    number = barrier.slacks(at).number
    t = number / float(np.sum(best.epsilon))
    for _ in range(_STAGES):
        goal = Goal(t, level=False)
        for nearer in centring(barrier, at, goal):
            at = nearer
        t *= _GROWTH
        if number / goal.t > _FAR * float(np.sum(barrier.epsilon(at.v))):
            continue  # the centre's own bound is no better
        proof = pressures(barrier, at, goal)
        before = best.gap
        best = best.or_better(barrier.epsilon(at.v), least_total_bound(barrier.demands, proof), proof)
        if best.gap <= AIM or (before <= _NEARLY and best.gap > 0.5 * before):
            break
    return best
