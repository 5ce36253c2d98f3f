"""The deletion filter: from a proof to constraints of which none can be spared (Chinneck, 2008, 6.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from budget_opt.errors import ConstraintKind
from budget_opt.model.arrays import Arrays
from budget_opt.solvers.answer import OutOfTimeError
from budget_opt.solvers.conflicts.constraints import Constraint, System
from budget_opt.solvers.conflicts.deciding import Proof, Tick, decide

_ORDER: tuple[ConstraintKind, ...] = (
    "floor",
    "ceiling",
    "epsilon_min",
    "epsilon_max",
    "epsilon",
    "group",
    "total_epsilon",
)
"""What is spared first: wishes that play no part must not be named, what limits them should be."""


@dataclass(frozen=True)
class Conflict:
    """Constraints that cannot hold together, proved.

    `irreducible` where each was dropped in turn, and a split found that keeps all the others.
    """

    proof: Proof
    irreducible: bool


def filtered(arrays: Arrays, proof: Proof, tick: Tick, needed: Iterable[Constraint] = ()) -> Conflict:
    """An irreducible part of a proof's constraints; `needed` are known to be, and not tried.

    Constraints are tried in order of increasing multipliers, several at once while that succeeds; each
    new proof drops whatever it does not need. Ends early, and says so, when `tick` or Ctrl-C says.
    """
    settled, undecided, size = set(needed), set[Constraint](), len(proof.multipliers)
    try:
        while untried := _next(proof, settled):
            size = max(1, min(size, (len(untried) + 1) // 2))
            tried = untried[:size]
            answer = decide(System(arrays, proof.members).without(tried), tick)
            if isinstance(answer, Proof):
                proof, size = answer, 2 * size
            elif size > 1:
                size //= 2
            else:
                settled.update(tried)
                undecided.update(tried if answer is None else ())
        return Conflict(proof, irreducible=undecided.isdisjoint(proof.members))
    except (OutOfTimeError, KeyboardInterrupt):
        return Conflict(proof, irreducible=False)


def _next(proof: Proof, settled: set[Constraint]) -> list[Constraint]:
    """The untried constraints of the first kind that has any, by increasing multiplier."""
    for kind in _ORDER:
        found = [one for one in proof.members - settled if one.kind == kind]
        if found:
            return sorted(found, key=lambda one: (proof.weight(one), one.index))
    return []


def weighed(arrays: Arrays, proof: Proof, tick: Tick) -> Proof:
    """The proof with the multipliers of the largest common factor, where they need the same constraints."""
    try:
        answer = decide(System(arrays, proof.members), tick, exact=True)
    except (OutOfTimeError, KeyboardInterrupt):
        return proof
    same = isinstance(answer, Proof) and answer.members == proof.members
    return answer if same and isinstance(answer, Proof) else proof


def by_weight(proof: Proof) -> list[Constraint]:
    """The constraints by decreasing multiplier."""
    order = {kind: i for i, kind in enumerate(_ORDER)}
    return sorted(
        proof.members,
        key=lambda one: (-np.nan_to_num(proof.weight(one)), order[one.kind], one.index),
    )
