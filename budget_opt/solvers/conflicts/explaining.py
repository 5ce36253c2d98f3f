"""From an impossible problem to all that is known about why, within a time limit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from budget_opt.model.arrays import Arrays
from budget_opt.solvers.answer import Clock, OutOfTimeError
from budget_opt.solvers.conflicts.constraints import WISHES, Constraint, System, limit_of
from budget_opt.solvers.conflicts.deciding import Proof, decide
from budget_opt.solvers.conflicts.filtering import Conflict, by_weight, filtered, weighed
from budget_opt.solvers.conflicts.giving_up import GivenUp, fewest_given_up
from budget_opt.solvers.conflicts.ways_out import (
    Advice,
    Change,
    common_factor,
    factor_on,
    least_total,
    limit_that_would_do,
    limit_with_a_total,
)
from budget_opt.solvers.threads import one_thread

SHOWN = 10
"""At most so many constraints are named, and looked at one by one."""
_FILTER, _LIMITS, _FEWEST = 0.4, 0.6, 0.4
"""Shares of the time: when the filter and the search for single limits end, and what the fewest may take."""
_ALMOST = 0.9
"""Lowering only some floors is advised where that keeps this much of the common factor on all."""


@dataclass(frozen=True)
class Lowered:
    """Floors that would do once multiplied by `factor`, if everything else stays."""

    floors: frozenset[Constraint]
    factor: float


@dataclass(frozen=True)
class Explanation:
    """Why a problem is impossible, in constraints of its arrays; `errors.Infeasibility` says it in names.

    `members` of the conflict by decreasing multiplier; `no_total` where it is proved that no total would
    do; `enough` holds limits that would do alone; what could not be told in time is None or missing.
    """

    arrays: Arrays
    members: list[Constraint]
    conflict: Conflict
    total: float | None
    no_total: bool
    least_total: Advice | None
    enough: dict[Constraint, Change]
    common_factor: Advice | None
    lowered: Lowered | None
    given_up: GivenUp


def explain(arrays: Arrays, time_limit: float | None) -> Explanation:
    """Explain a problem that is proved to be impossible, within `time_limit` seconds and a few solves."""
    with one_thread():
        return _explain(arrays, time_limit)


def _explain(arrays: Arrays, time_limit: float | None) -> Explanation:
    clock = Clock(time_limit)
    whole = System.of(arrays)
    totals = whole.of_kind("total_epsilon")
    free = whole.without(totals)
    without_total = decide(free, _never)
    possible = isinstance(without_total, np.ndarray)
    first = without_total if isinstance(without_total, Proof) else decide(whole, _never)
    if not isinstance(first, Proof):
        first = Proof(dict.fromkeys(whole.kept))  # proved by whoever asks, and not taken apart yet
    found = filtered(arrays, first, lambda: clock.check(_FILTER), totals if possible else ())
    proof = weighed(arrays, found.proof, lambda: clock.check(_LIMITS))
    members = by_weight(proof)
    factor = common_factor(whole, _never)
    return Explanation(
        arrays=arrays,
        members=members,
        conflict=Conflict(proof, found.irreducible),
        total=next((limit_of(arrays, one) for one in totals), None),
        no_total=bool(totals) and isinstance(without_total, Proof),
        least_total=least_total(free, Clock(None)) if possible and totals else None,
        common_factor=factor,
        lowered=_lowered(whole, proof, factor, clock),
        enough=_enough(whole, free, members, clock),
        given_up=fewest_given_up(whole, proof.members & whole.wishes, _part(clock, time_limit)),
    )


def _part(clock: Clock, time_limit: float | None) -> Clock:
    """What the search for the fewest may take: it can go on for ever and tell little more."""
    return Clock(None if time_limit is None else max(min(clock.left(), _FEWEST * time_limit), 0.0))


def _never() -> None:
    """A tick without an end."""


def _lowered(whole: System, proof: Proof, factor: Advice | None, clock: Clock) -> Lowered | None:
    """The floors of the conflict where lowering them costs little more than lowering all; else all."""
    floors = whole.of_kind("floor")
    named = proof.members & floors
    if factor is None:
        return None
    if named and named != floors and clock.left(_LIMITS) > 0:
        own = factor_on(whole, named, clock)
        if own is not None and own >= _ALMOST * factor.enough:
            return Lowered(named, own)
    return Lowered(floors, factor.enough)


def _enough(whole: System, free: System, members: list[Constraint], clock: Clock) -> dict[Constraint, Change]:
    """Limits that would do if only one is changed, for the constraints that are named.

    Where another total would be needed as well, and raising the total alone is not enough, it is added.
    """
    limited = Clock(max(clock.left(_LIMITS), 0.0)) if np.isfinite(clock.left()) else clock
    found = {}
    total_is_no_member = len(free.kept) < len(whole.kept) and free.kept.issuperset(members)
    with suppress(OutOfTimeError, KeyboardInterrupt):
        for one in [one for one in members if one.kind != "total_epsilon"][:SHOWN]:
            limited.check()
            limit = limit_that_would_do(whole.arrays, one, limited)
            change = None if limit is None else Change(limit)
            if change is None and one.kind not in WISHES and total_is_no_member:
                change = limit_with_a_total(free, one, limited)
            if change is not None:
                found[one] = change
    return found
