"""Can these constraints hold together? A proof that they cannot, a split that keeps them, or neither.

The largest t with log R_k >= log floor_k + t for all floors, everything else kept, is a convex problem
(`phase_one`); with log lambda as the variable that includes ceilings. A bound of t below 0, with its
allowance for rounding, is a proof; its multipliers say which constraints it needs. Where an attribute has
no room at all, simpler proofs stand in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from budget_opt.certificate.box import budget_rows
from budget_opt.certificate.convex import Frame, log_bound
from budget_opt.certificate.lagrangian import stationary
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.errors import NotSolvedError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, BoolArray, FloatArray
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.conflicts.constraints import Constraint, System, holds
from budget_opt.solvers.phase_one import elastic, margin

Tick: TypeAlias = Callable[[], None]
"""Raises OutOfTimeError when there is no time left."""

_NEEDED = 1e-6
"""Share of the largest multiplier above which a constraint is tried as part of the proof."""
_ROUNDING = 1e-12
"""On sums of a moment's few logarithms."""


@dataclass(frozen=True)
class Proof:
    """Constraints that cannot hold together, proved, and their multipliers.

    A multiplier is the derivative of the logarithm of the largest common factor on the floors by the
    logarithm of the constraint's limit, without its sign; None where there is no such factor.
    """

    multipliers: dict[Constraint, float | None]

    @property
    def members(self) -> frozenset[Constraint]:
        """The constraints."""
        return frozenset(self.multipliers)

    def weight(self, one: Constraint) -> float:
        """The multiplier, 0 where there is none."""
        return self.multipliers[one] or 0.0


Answer: TypeAlias = Proof | FloatArray | None
"""A proof that the system is impossible, a split (M,) that keeps it exactly, or None: undecided."""


def decide(system: System, tick: Tick, *, exact: bool = False) -> Answer:
    """Judge a system; with `exact` the multipliers of a proof are those of the largest common factor."""
    arrays = system.restricted
    simple = _passed_ceiling(system) or _infinite_floor(system)
    if simple is not None:
        return simple
    if not arrays.floors.size:
        return arrays.lower if holds(arrays, arrays.lower) else None
    if is_blocked(system):
        return _blocked_floor(system)
    try:
        found = margin(arrays, tick, exact=exact)
    except NotSolvedError:
        return None
    if found.impossible:
        return _proof(system, found.multipliers)
    return found.epsilon if holds(arrays, found.epsilon) else None


def _proof(system: System, multipliers: Multipliers) -> Proof:
    """The least set of constraints that these multipliers are seen to need."""
    sizes = _elasticities(system, multipliers)
    largest = max(sizes.values())
    for least in (_NEEDED * largest, 0.0):
        needed = {one: size for one, size in sizes.items() if size > least}
        part = System(system.arrays, frozenset(needed))
        if _proves(part, system, multipliers):
            return Proof(dict(needed))
    return Proof({one: sizes.get(one, 0.0) for one in system.kept})


def _proves(part: System, whole: System, multipliers: Multipliers) -> bool:
    """True where the multipliers bound the margin of a part of the system below 0."""
    if not part.of_kind("floor"):
        return False
    stretched = elastic(part.restricted)
    budgets = [multipliers.budgets[whole.budgets.index(one)] for one in part.budgets]
    own = Multipliers(
        np.zeros(stretched.moments), multipliers.moments, np.array(budgets), multipliers.ceilings
    ).sanitized(stretched)
    return log_bound(Frame.of(stretched), stretched.lower, own)[0] < 0


def _elasticities(system: System, multipliers: Multipliers) -> dict[Constraint, float]:
    """How much every kept constraint contributes to the bound."""
    arrays = system.restricted
    rows = budget_rows(arrays)
    c = arrays.incidence.T @ (multipliers.moments - multipliers.ceilings)
    nu = multipliers.budgets @ rows.coefficient
    wanted = stationary(np.maximum(c, 0.0), np.zeros_like(c), nu, arrays.cardinality)
    sizes = {Constraint("floor", int(k)): float(multipliers.moments[k]) for k in arrays.floors}
    sizes |= {Constraint("ceiling", int(k)): float(multipliers.ceilings[k]) for k in arrays.ceilings}
    spent = multipliers.budgets * rows.limit
    sizes |= {one: float(size) for one, size in zip(system.budgets, spent, strict=True)}
    low, high = _pressure(arrays, c, nu, arrays.lower), _pressure(arrays, c, nu, arrays.upper)
    bounds = system.of_kind("epsilon_min", "epsilon_max", "epsilon")
    sizes |= dict.fromkeys(bounds, 0.0)
    for one in bounds:
        if one.kind != "epsilon_max" and wanted[one.index] < arrays.lower[one.index]:
            sizes[one] = -float(low[one.index])
    for m in np.flatnonzero(wanted > arrays.upper).tolist():
        for one in _above(system, m):
            sizes[one] = max(sizes[one], float(high[m]))
    return sizes


def _pressure(arrays: Arrays, c: FloatArray, nu: FloatArray, epsilon: FloatArray) -> FloatArray:
    """The slope of the Lagrangian's summand in log epsilon; 0 where there is no bound."""
    here = np.where((epsilon > 0) & np.isfinite(epsilon), epsilon, 1.0)
    slope = (c * rr.log_retention_slope(here, arrays.cardinality) - nu) * here
    bounded: FloatArray = np.where(here == epsilon, slope, 0.0)
    return bounded


def _passed_ceiling(system: System) -> Proof | None:
    """A ceiling that pins and lower bounds alone pass."""
    arrays = system.restricted
    ceilings = arrays.ceilings
    if not ceilings.size:
        return None
    excess = log_retentions(arrays, arrays.lower)[ceilings] - _ROUNDING - arrays.log_ceiling[ceilings]
    worst = int(np.argmax(excess))
    if not excess[worst] > 0:
        return None
    k = int(ceilings[worst])
    pressing = system.lower_bounds(arrays.members(k))
    return Proof(dict.fromkeys({Constraint("ceiling", k), *pressing}))


def _infinite_floor(system: System) -> Proof | None:
    """A floor of 1, which no finite epsilon meets."""
    for k in system.restricted.floors:
        if system.restricted.log_floor[k] >= 0:
            return Proof({Constraint("floor", int(k)): None})
    return None


def is_blocked(system: System) -> bool:
    """True where some floor has an attribute that is left no epsilon at all."""
    arrays = system.restricted
    return bool(np.any(arrays.incidence[arrays.floors] @ _at_zero(system).astype(np.float64) > 0))


def _at_zero(system: System) -> BoolArray:
    """True (M,) for attributes that can only be at 0, to rounding."""
    arrays = system.restricted
    nothing: BoolArray = arrays.upper <= 0
    nothing[list(system.held)] = True
    nothing &= arrays.lower == 0
    return nothing


def _blocked_floor(system: System) -> Proof | None:
    """A floor that is missed although the attributes that can move have all they may have."""
    arrays, at_zero = system.restricted, _at_zero(system)
    for k in arrays.floors:
        members = arrays.members(int(k))
        if not np.any(at_zero[members]):
            continue
        reached = float(np.sum(rr.log_retention(arrays.upper[members], arrays.cardinality[members])))
        if reached + _ROUNDING < arrays.log_floor[k]:
            why = [_above(system, m) for m in members.tolist()]
            return Proof(dict.fromkeys({Constraint("floor", int(k))}.union(*why)))
    return None


def _above(system: System, m: int) -> frozenset[Constraint]:
    """The constraints behind the upper bound of an attribute."""
    held, own = system.held.get(m), system.of_kind("epsilon", "epsilon_max")
    if held is not None and held.most <= system.restricted.upper[m]:
        return held.by
    return own & {Constraint("epsilon", m), Constraint("epsilon_max", m)}
