"""Conflicts in words, with the ways out; numbers are rounded so that following the advice works."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from budget_opt.model.block import Block
from budget_opt.model.by_moment import told_apart
from budget_opt.model.distortion import distortion
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON
from budget_opt.solvers.conflicts.constraints import WISHES, Constraint, limit_of
from budget_opt.solvers.conflicts.explaining import SHOWN, Explanation
from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up

_LIMITS_SHOWN, _FLOORS_SHOWN = 3, 4
"""At most so many single changes of limits, and of floors outside the conflict, are told."""
_CALLED: dict[ConstraintKind, str] = {
    "ceiling": "the ceiling of {}",
    "group": "group {}",
    "epsilon_max": "the upper bound of {}",
    "epsilon_min": "the lower bound of {}",
    "epsilon": "the pin of {}",
}
_OF_BLOCKS: frozenset[ConstraintKind] = frozenset({"epsilon", "epsilon_min", "epsilon_max"})
_NOUNS: dict[ConstraintKind, tuple[str, str]] = {
    "group": ("a group", "groups"),
    "epsilon_max": ("an upper bound", "upper bounds"),
    "epsilon_min": ("a lower bound", "lower bounds"),
    "epsilon": ("a pin", "pins"),
}


@dataclass(frozen=True)
class Names:
    """How a problem's blocks and moments are called in messages; budgets bear their own names.

    With the `blocks` themselves a pin or bound is named by the member that states it.
    """

    attributes: Sequence[str]
    moments: Sequence[str]
    blocks: Sequence[Block] = ()

    @classmethod
    def of_problem(cls, problem: Problem) -> Names:
        """A problem's own names; labels that two moments share are numbered."""
        return cls(problem.block_names, told_apart(problem.moments), problem.blocks)

    @classmethod
    def numbered(cls, arrays: Arrays) -> Names:
        """Names for arrays that came without any."""
        attributes = [f"attribute {i + 1}" for i in range(arrays.blocks)]
        moments = [" x ".join(attributes[i] for i in arrays.members(k)) for k in range(arrays.moments)]
        return cls(attributes, moments)

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
            "epsilon": [attribute.epsilon is not None for attribute in block.members],
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
    kinds = {one.kind for one in found.given_up.wishes}
    lines = [_headline(why), _conflict(why), _ways_out(why, _noun(kinds))]
    return InfeasibleError("\n  ".join(line for line in lines if line), why)


def unreleasable(moments: IntArray, names: Names) -> InfeasibleError:
    """The error for a variance that no split makes finite."""
    listed = [names.moments[k] for k in moments]
    return InfeasibleError(
        f"min_variance cannot be finite: {_listed(listed)} have an attribute whose epsilon can only be 0.\n"
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
    )


def _headline(why: Infeasibility) -> str:
    wishes = _noun({member.kind for member in why.conflict})
    infinite = [member.name for member in why.conflict if member.kind == "floor" and member.limit >= 1]
    if infinite:
        return f"a floor of 1 needs infinite epsilon: {infinite[0]}."
    if why.least_total_bound is not None and why.total is not None:
        return _more_total(wishes, why.least_total_bound, why.total)
    obstacles = _obstacles(why)
    reason = f": {obstacles}" if obstacles else ""
    if why.no_total:
        return f"no total epsilon meets the {wishes}{reason}."
    if why.total is not None:
        return f"the {wishes} do not fit the total epsilon of {why.total:.12g}."
    return f"the {wishes} cannot all hold{reason}."


def _more_total(wishes: str, bound: float, total: float) -> str:
    least = next((down for digits in range(4, 18) if (down := rounded_down(bound, digits)) > total), None)
    if least is None:
        return (
            f"the {wishes} need a hair more than the total epsilon of {total:.12g} that the problem allows."
        )
    allowed = f"the problem allows {total:.12g}"
    if bound > LARGEST_EPSILON:
        allowed += f", and no problem may state more than {LARGEST_EPSILON:g}"
    return f"the {wishes} need a total epsilon of at least {least:.12g}, {allowed}."


def _noun(kinds: Collection[ConstraintKind]) -> str:
    return " and ".join(f"{kind}s" for kind in ("floor", "ceiling") if kind in kinds) or "limits"


def _obstacles(why: Infeasibility) -> str:
    """The kinds of limits in the way: "a group and 2 pins are in their way"."""
    listed = []
    for kind, (one, several) in _NOUNS.items():
        count = sum(member.kind == kind for member in why.conflict)
        if count:
            listed.append(one if count == 1 else f"{count} {several}")
    if not listed:
        return ""
    single = len(listed) == 1 and not listed[0][0].isdigit()
    return f"{_and(listed)} {'is' if single else 'are'} in their way"


def _conflict(why: Infeasibility) -> str:
    wishes = [str(member) for member in why.conflict if member.kind in WISHES]
    limits = [str(member) for member in why.conflict if member.kind not in WISHES]
    against = f", against {_listed(limits)}" if limits else ""
    doubt = "" if why.irreducible else " (not shown irreducible: some may play no part)"
    more = " This is not the only conflict." if why.fewest_given_up > 1 else ""
    return f"They conflict in: {_listed(wishes)}{against}{doubt}.{more}"


def _ways_out(why: Infeasibility, noun: str) -> str:
    """Every single change that would do: raise the total, change one limit, lower floors, give some up."""
    raising = ""
    if why.least_total is not None and why.least_total <= LARGEST_EPSILON:
        raising = f"raise total_epsilon to {why.least_total:g}"
    ways = [raising, *_changed_limits(why)[:_LIMITS_SHOWN]]
    lowering = _lowering(why)
    ways.append(f"keep {why.total:.12g} and {lowering}" if raising and lowering else lowering)
    ways.append(_giving_up(why, noun))
    text = ", or ".join(way for way in ways if way)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _changed_limits(why: Infeasibility) -> list[str]:
    """Limits other than the total, and ceilings, whose change would do, alone or with another total."""
    found = []
    for one in why.conflict:
        if one.enough is None or one.kind not in _CALLED:
            continue
        if one.enough_total is not None and one.enough_total > LARGEST_EPSILON:
            continue
        verb = "raise" if one.enough > one.limit else "lower"
        total = "" if one.enough_total is None else f" and total_epsilon to {one.enough_total:g}"
        if one.enough_distortion is not None:
            found.append(f"raise the distortion_max of {one.name} to {one.enough_distortion:g}{total}")
            continue
        also = f" (and the bounds of {_and(one.also)})" if one.also else ""
        found.append(f"{verb} {_CALLED[one.kind].format(one.name)}{also} to {one.enough:g}{total}")
    return found


def _lowering(why: Infeasibility) -> str:
    floors = [member.name for member in why.conflict if member.kind == "floor"]
    lowered = why.lowered
    if not lowered or not all(one.lowered > 0 for one in lowered):
        return ""
    values = [f"{one.lowered:g}" for one in lowered]
    own = [one.name for one in lowered] == floors
    if own and len(floors) <= SHOWN:
        return f"lower {'this floor' if len(floors) == 1 else 'these floors'} to {_each(values)}"
    if len(lowered) <= _FLOORS_SHOWN:
        return "lower " + _and([f"{one.name} to {one.lowered:g}" for one in lowered])
    factor = rounded_down(min(one.lowered / one.floor for one in lowered))
    which = f"these {len(floors)}" if own else "all"
    return f"lower {which} floors to {factor:g} of what they are"


def _giving_up(why: Infeasibility, noun: str) -> str:
    count, least = len(why.given_up), why.fewest_given_up
    if count <= 1:
        return f"give up {why.given_up[0]}" if count else ""
    fewest = "no fewer would do" if least == count else f"at least {least} must go"
    named = f": {_and(why.given_up)}" if count <= SHOWN else ""
    return f"give up {count} {noun} ({fewest}){named}"


def _listed(items: Sequence[str]) -> str:
    rest = len(items) - SHOWN
    return ", ".join(items[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _each(values: Sequence[str]) -> str:
    return f"{values[0]} each" if len(values) > 1 and len(set(values)) == 1 else _and(values)


def _and(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
