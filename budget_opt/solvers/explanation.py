"""Conflicts in words, with the ways out; numbers are rounded so that following the advice works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.errors import (
    ConflictMember,
    ConstraintKind,
    Infeasibility,
    InfeasibleError,
    LoweredFloor,
)
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, IntArray
from budget_opt.model.clusters.block import Block
from budget_opt.model.clusters.open_choices import open_choices
from budget_opt.model.distortion import distortion
from budget_opt.model.moments.by_moment import told_apart
from budget_opt.model.problem import Problem
from budget_opt.solvers.conflicts.constraints import Constraint, limit_of
from budget_opt.solvers.conflicts.explaining import Explanation
from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up
from budget_opt.solvers.conflicts.words import explained, listed

_OF_BLOCKS: frozenset[ConstraintKind] = frozenset({"epsilon", "epsilon_min", "epsilon_max"})


@dataclass(frozen=True)
class Names:
    """How a problem's blocks and moments are called in messages; budgets bear their own names.

    With the `problem` itself a pin or bound is named by the member that states it.
    """

    attributes: Sequence[str]
    moments: Sequence[str]
    problem: Problem | None = None

    @classmethod
    def of_problem(cls, problem: Problem) -> Names:
        """A problem's own names; labels that two moments share are numbered."""
        return cls(problem.block_names, told_apart(problem.moments), problem)

    @classmethod
    def numbered(cls, arrays: Arrays) -> Names:
        """Names for arrays that came without any."""
        attributes = [f"attribute {i + 1}" for i in range(arrays.blocks)]
        moments = [" x ".join(attributes[i] for i in arrays.members(k)) for k in range(arrays.moments)]
        return cls(attributes, moments)

    @property
    def blocks(self) -> Sequence[Block]:
        """The problem's blocks, none without a problem."""
        return () if self.problem is None else self.problem.blocks

    def left_to_design(self, conflict: Sequence[Constraint]) -> tuple[str, ...]:
        """What `design` could choose otherwise for the floors of a conflict."""
        if self.problem is None:
            return ()
        floors = [one.index for one in conflict if one.kind == "floor"]
        return open_choices(self.problem, [self.problem.moments[k] for k in floors])

    def of(self, arrays: Arrays, one: Constraint) -> str:
        """The name of what a constraint is about."""
        match one.kind:
            case "floor" | "ceiling":
                return self.moments[one.index]
            case "total_epsilon" | "group":
                return arrays.budgets[one.index].name
            case "epsilon" | "epsilon_min" | "epsilon_max":
                return self._stating(one)

    def _stating(self, one: Constraint) -> str:
        """The attribute that states this pin or bound; the cluster itself where two bounds meet."""
        if not self.blocks:
            return self.attributes[one.index]
        block = self.blocks[one.index]
        if one.kind == "epsilon_min" and block.most_distorted is not None:
            return block.most_distorted.name
        stated = {
            "epsilon": [attribute.pin is not None for attribute in block.members],
            "epsilon_min": [attribute.lower == block.lower for attribute in block.members],
            "epsilon_max": [attribute.upper == block.upper for attribute in block.members],
        }[one.kind]
        found = [name for name, states in zip(block.names, stated, strict=True) if states]
        return found[0] if found else block.name

    def distorted(self, one: Constraint, enough: float | None) -> tuple[float | None, float | None]:
        """The `distortion_max` behind a least epsilon, and what `enough` keeps; None for a stated one."""
        block = self.blocks[one.index] if self.blocks and one.kind == "epsilon_min" else None
        attribute = None if block is None else block.most_distorted
        if block is None or attribute is None:
            return None, None
        if enough is None:
            return attribute.distortion_max, None
        kept = Fraction(float(rr.retention(enough, block.effective_cardinality)))
        return attribute.distortion_max, rounded_up(float(distortion(attribute, kept)))

    def following(self, one: Constraint, number: float | None) -> tuple[str, ...]:
        """The other members of the cluster whose own pins and bounds do not admit this epsilon."""
        if number is None or not self.blocks or one.kind not in _OF_BLOCKS:
            return ()
        members = self.blocks[one.index].members
        return tuple(
            member.name
            for member in members
            if member.name != self._stating(one) and not member.lower <= number <= member.upper
        )


def infeasible(found: Explanation, names: Names) -> InfeasibleError:
    """The error that says what conflicts, what would do, and both again as data."""
    why = _in_names(found, names)
    return InfeasibleError(explained(why, {one.kind for one in found.given_up.wishes}), why)


def unreleasable(moments: IntArray, names: Names) -> InfeasibleError:
    """The error for a variance that no split makes finite."""
    named = [names.moments[k] for k in moments]
    return InfeasibleError(
        f"min_variance cannot be finite: {listed(named)} have an attribute whose epsilon can only be 0.\n"
        "  Give that attribute an epsilon, or the moment the weight 0."
    )


def _in_names(found: Explanation, names: Names) -> Infeasibility:
    arrays = found.arrays

    def member(one: Constraint) -> ConflictMember:
        limit = limit_of(arrays, one)
        multiplier = found.conflict.proof.multipliers.get(one)
        change = found.enough.get(one)
        enough, total = (None, None) if change is None else (change.limit, change.total)
        also = names.following(one, enough)
        distorted = names.distorted(one, enough)
        return ConflictMember(
            one.kind, names.of(arrays, one), limit, multiplier, enough, total, also, *distorted
        )

    infinite = any(one.kind == "floor" and limit_of(arrays, one) >= 1 for one in found.members)
    least, factor, lowered = found.least_total, found.common_factor, []
    if found.lowered is not None:
        order = [one for one in found.members if one in found.lowered.floors]
        order += sorted(found.lowered.floors - set(order))
        for one in order:
            floor = limit_of(arrays, one)
            lowered.append(
                LoweredFloor(names.of(arrays, one), floor, rounded_down(floor * found.lowered.factor))
            )
    return Infeasibility(
        conflict=tuple(map(member, found.members)),
        irreducible=found.conflict.irreducible,
        total=found.total,
        no_total=found.no_total,
        least_total=None if least is None else rounded_up(least.enough),
        least_total_bound=None if least is None else max(least.bound, found.total or 0.0),
        common_factor=None if factor is None else factor.enough,
        common_factor_bound=None if factor is None else min(factor.bound, 1.0),
        lowered=tuple(lowered),
        given_up=tuple(str(member(one)) for one in sorted(found.given_up.wishes)),
        fewest_given_up=found.given_up.fewest,
        left_to_design=() if infinite else names.left_to_design(found.members),
    )
