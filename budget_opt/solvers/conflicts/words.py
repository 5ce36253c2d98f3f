"""The words of an infeasibility: what conflicts, and every way out that is known to do."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from budget_opt.errors import ConstraintKind, Infeasibility
from budget_opt.model.values import LARGEST_EPSILON
from budget_opt.solvers.conflicts.constraints import WISHES
from budget_opt.solvers.conflicts.explaining import SHOWN
from budget_opt.solvers.conflicts.rounding import rounded_down

_LIMITS_SHOWN, _FLOORS_SHOWN = 3, 4
"""At most so many single changes of limits, and of floors outside the conflict, are told."""
_CALLED: dict[ConstraintKind, str] = {
    "ceiling": "the ceiling of {}",
    "group": "group {}",
    "epsilon_max": "the upper bound of {}",
    "epsilon_min": "the lower bound of {}",
    "epsilon": "the pin of {}",
}
_NOUNS: dict[ConstraintKind, tuple[str, str]] = {
    "group": ("a group", "groups"),
    "epsilon_max": ("an upper bound", "upper bounds"),
    "epsilon_min": ("a lower bound", "lower bounds"),
    "epsilon": ("a pin", "pins"),
}


def explained(why: Infeasibility, given_up: Collection[ConstraintKind]) -> str:
    """The message, a line each: the headline, the conflict, the ways out; `given_up` are kinds of wishes."""
    lines = [_headline(why), _conflict(why), _ways_out(why, _noun(given_up)), _design(why)]
    return "\n  ".join(line for line in lines if line)


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
    found = []
    for kind, (one, several) in _NOUNS.items():
        count = sum(member.kind == kind for member in why.conflict)
        if count:
            found.append(one if count == 1 else f"{count} {several}")
    if not found:
        return ""
    single = len(found) == 1 and not found[0][0].isdigit()
    return f"{_and(found)} {'is' if single else 'are'} in their way"


def _conflict(why: Infeasibility) -> str:
    wishes = [str(member) for member in why.conflict if member.kind in WISHES]
    limits = [str(member) for member in why.conflict if member.kind not in WISHES]
    against = f", against {listed(limits)}" if limits else ""
    doubt = "" if why.irreducible else " (not shown irreducible: some may play no part)"
    more = " This is not the only conflict." if why.fewest_given_up > 1 else ""
    return f"They conflict in: {listed(wishes)}{against}{doubt}.{more}"


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


def _design(why: Infeasibility) -> str:
    """Another choice than this problem's clusters and groupings, which nobody has tried yet."""
    if not why.left_to_design:
        return ""
    return (
        f"Or let design choose {_and(why.left_to_design)} (budget-opt design): that may need less, and was "
        "not tried here."
    )


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


def listed(items: Sequence[str]) -> str:
    """The items, so many that people read them, and how many more there are."""
    rest = len(items) - SHOWN
    return ", ".join(items[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _each(values: Sequence[str]) -> str:
    return f"{values[0]} each" if len(values) > 1 and len(set(values)) == 1 else _and(values)


def _and(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
