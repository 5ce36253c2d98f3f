"""Why no total meets what is wanted: which wishes conflict, against which bounds and groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budget_opt.api.totals.wanted import Wish
from budget_opt.certificate.demands import Demands, Pressures, least_total_bound
from budget_opt.errors import ConflictMember, Infeasibility, InfeasibleError
from budget_opt.model.arrays import TOTAL, Arrays, BoolArray, Budget
from budget_opt.model.moments.by_moment import told_apart
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON

_SHARES = (0.1, 1e-2, 1e-3, 1e-6)
"""Of the largest multiplier: those below play no part, where the rest still prove it."""
SHOWN = 10


def with_reasons(failure: InfeasibleError, asked: Problem, wishes: Sequence[Wish]) -> InfeasibleError:
    """The same error, with the floors of its conflict that wanted errors became explained."""
    told = {member.name for member in failure.conflict if member.kind == "floor"}
    became = [
        f"{wish} needs {moment.floor:.6g}"
        for wish, moment, name in zip(wishes, asked.moments, told_apart(asked.moments), strict=True)
        if wish.error is not None and name in told
    ]
    if not became:
        return failure
    return InfeasibleError(f"{failure}\n  Wanted errors are floors here: {_listed(became)}.", failure.why)


def impossible(
    proof: Pressures, bound: float, demands: Demands, asked: Problem, wishes: Sequence[Wish]
) -> InfeasibleError:
    """The error of a proof: every split misses one of the wishes by the factor exp(`bound`) or more."""
    proof = _essential(proof, demands)
    conflict = _conflict(proof)
    touched = {i for k in conflict for i in asked.touched(wishes[k].moment.attributes)}
    obstacles = _obstacles(proof, demands, asked, touched)
    against = f", against {_listed(list(map(str, obstacles)))}" if obstacles else ""
    miss = "Nothing is released of an attribute"
    if math.isfinite(bound):
        factor = math.exp(min(bound, 700.0))
        miss = f"Every split misses one of all wishes by a factor of {factor:.4g} or more"
    return InfeasibleError(
        "no total epsilon meets what is wanted.\n"
        f"  They conflict in: {_listed([str(wishes[k]) for k in conflict])}{against}.\n"
        f"  {miss} (of its variance inflation or retention). Want less of them, or give them more room.",
        Infeasibility(conflict=tuple(obstacles), no_total=True),
    )


def _essential(proof: Pressures, demands: Demands) -> Pressures:
    """The proof without the multipliers that it does not need."""
    for share in _SHARES:
        least = share * max(float(np.max(proof.floors)), float(np.max(proof.inflations)))
        fewer = replace(
            proof,
            floors=np.where(proof.floors >= least, proof.floors, 0.0),
            inflations=np.where(proof.inflations >= least, proof.inflations, 0.0),
        )
        if least_total_bound(demands, fewer, cost=0.0) > 0:
            proof = fewer
            break
    for row in range(proof.budgets.size):
        fewer = replace(proof, budgets=np.where(np.arange(proof.budgets.size) == row, 0.0, proof.budgets))
        if least_total_bound(demands, fewer, cost=0.0) > 0:
            proof = fewer
    return proof


def _conflict(proof: Pressures) -> list[int]:
    """The moments that the proof leans on, the largest multipliers first."""
    weight = proof.floors + proof.inflations
    return [int(k) for k in np.argsort(-weight, kind="stable") if weight[k] > 0]


def _obstacles(proof: Pressures, demands: Demands, asked: Problem, touched: set[int]) -> list[ConflictMember]:
    """Groups that hold blocks of the conflict, and the pins and upper bounds that hold these themselves."""
    members = np.array([i in touched for i in range(len(asked.blocks))])
    found = [
        ConflictMember("group", budget.name, float(budget.cap))
        for budget, price in zip(demands.arrays.budgets, proof.budgets, strict=True)
        if budget.name != TOTAL and (price > 0 or _cuts(demands.arrays, budget, members))
    ]
    for block in (asked.blocks[i] for i in sorted(touched)):
        for attribute in block.members:
            if attribute.pin is not None:
                found.append(ConflictMember("epsilon", attribute.name, attribute.pin))
            elif attribute.epsilon_max is not None and attribute.epsilon_max == block.upper:
                found.append(ConflictMember("epsilon_max", attribute.name, attribute.epsilon_max))
    return found or [ConflictMember("total_epsilon", TOTAL, LARGEST_EPSILON)]


def _cuts(arrays: Arrays, budget: Budget, members: BoolArray) -> bool:
    """True where this budget bounds one of these blocks even with all others at their lower bounds."""
    inside = budget.members
    spare = float(budget.cap) - float(np.sum(arrays.lower[inside]))
    bounded = np.isclose(arrays.upper[inside], arrays.lower[inside] + spare, rtol=1e-12)
    cut = bounded & (arrays.upper[inside] < arrays.stated_upper[inside])
    return bool(np.any(cut & members[inside]))


def _listed(items: Sequence[str]) -> str:
    more = f", and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return f"{', '.join(items[:SHOWN])}{more}"
