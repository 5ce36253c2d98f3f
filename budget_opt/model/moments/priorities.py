"""Priorities in the analyst's words: pairs of attributes as moments, with one weight for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from budget_opt.errors import Fault, InputError, ProblemError
from budget_opt.model.arguments import as_list
from budget_opt.model.moments.moment import CrossMoment

MOST_MOMENTS = 10_000
"""Moments that one rule may stand for; more are hardly a priority, and no solver would end soon."""


def all_pairs(names: Iterable[str], weight: float = 1.0, **fields: Any) -> tuple[CrossMoment, ...]:
    """A moment for every pair of these attributes: `all_pairs(["smoker", "income", "age"], weight=2)`.

    `fields` are those of a `CrossMoment` (floor, ceiling, target, variance, level) and hold for each.
    Raises `ProblemError` for fewer than two names, for a repeated one, and where a field cannot be used.
    """
    pairs = pairs_among(names)
    return tuple(CrossMoment(*pair, weight=weight, **fields) for pair in pairs)


def pairs_with(
    name: str, names: Iterable[str], weight: float = 1.0, **fields: Any
) -> tuple[CrossMoment, ...]:
    """A moment for `name` with each of `names`: `pairs_with("income", ["smoker", "age"], floor=0.2)`.

    `name` itself is left out of `names`, so that the names of all attributes can be given. `fields` are
    those of a `CrossMoment` and hold for each. Raises `ProblemError` where no other name is left, for a
    repeated one, and where a field cannot be used.
    """
    pairs = pairs_from(name, names)
    return tuple(CrossMoment(*pair, weight=weight, **fields) for pair in pairs)


def pairs_among(names: Iterable[str], where: str = "names") -> list[tuple[str, str]]:
    """Every pair of distinct names, in order; `where` is what a fault names."""
    listed = _distinct(names, where)
    if len(listed) < 2:
        raise _fault(where, listed, "must be at least two names", "Name the attributes whose pairs matter.")
    require_few(len(listed) * (len(listed) - 1) // 2, where, f"{len(listed)} names")
    return list(combinations(listed, 2))


def pairs_from(name: str, names: Iterable[str], where: str = "names") -> list[tuple[str, str]]:
    """`name` with each of the other names, in order; `where` is what a fault names."""
    others = [other for other in _distinct(names, where) if other != name]
    if not others:
        raise _fault(where, [name], f"must name an attribute beside {name!r}", "Name those that matter.")
    require_few(len(others), where, f"{len(others)} names")
    return [(name, other) for other in others]


def require_few(count: int, where: str, value: object, *, exact: bool = True) -> None:
    """Refuse a rule that stands for too many moments, before they are made."""
    if count > MOST_MOMENTS:
        number = f"{count:,}" if exact else f"at least {count:,}"
        raise _fault(
            where,
            value,
            f"stands for {number} moments, more than the {MOST_MOMENTS:,} that one rule may have",
            "Name fewer attributes, or state the moments that matter most.",
        )


def _distinct(names: Iterable[str], where: str) -> list[str]:
    """The names as a list; text is no list of names, though Python lets one go through its letters."""
    listed = as_list(names)
    if listed is None:
        raise _fault(where, names, "must be a list of names", 'Write ["income", "age"].')
    if isinstance(names, set | frozenset):
        raise _fault(where, names, "has no order", "Give a list.")
    for name in listed:
        if not isinstance(name, str):
            raise _fault(where, name, "must be a name", "Give the names of attributes as text.")
    repeated = [name for name, count in Counter(listed).items() if count > 1]
    if repeated:
        raise _fault(where, listed, f"must be distinct, {repeated[0]!r} is repeated", "Name each once.")
    return listed


def _fault(where: str, value: object, limit: str, remedy: str) -> InputError:
    return ProblemError.from_faults([Fault(where, value, limit, remedy)], "the rule")
