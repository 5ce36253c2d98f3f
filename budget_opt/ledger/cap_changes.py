"""Which caps were changed, from what to what, and what allows more than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from budget_opt.ledger.amounts import decimal_of, plain
from budget_opt.ledger.caps import Caps, GroupCap
from budget_opt.ledger.names import folded

T = TypeVar("T")


class CapChange(NamedTuple):
    """One cap that was changed: from what to what, in words, and whether more may be spent from then on."""

    text: str
    loosens: bool

    def __str__(self) -> str:
        return self.text


def changes(before: Caps, after: Caps) -> list[CapChange]:
    """Every cap that differs, old -> new; empty where only names are written otherwise."""
    return [*_numbers(before, after), *_attributes(before, after), *_groups(before, after)]


def never_binding(caps: Caps) -> list[str]:
    """The caps on a part that are above the total, in words: the total is reached first."""
    parts = {f"attribute {name}": cap for name, cap in caps.attributes.items()}
    parts |= {f"group {name}": cap for name, (_, cap) in caps.groups.items()}
    total = nats(caps.total)
    return [
        f"the cap on {what}, {nats(cap)}, is above that on the total, {total}, which is reached first"
        for what, cap in parts.items()
        # with a delta the total may be less than the epsilon of a part
        if cap > caps.total and not caps.delta
    ]


def nats(number: float) -> str:
    """A number of the ledger for people: all its digits, and no more."""
    amount = decimal_of(abs(number))
    return f"-{plain(amount)}" if number < 0 else plain(amount)


def _numbers(before: Caps, after: Caps) -> Iterator[CapChange]:
    # more rows a person make every release dearer, more waves each share smaller
    for name, more_allows_more in (("total", True), ("delta", True), ("max_rows", False), ("waves", False)):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            text = f"{name} {nats(old)} -> {nats(new)} ({_direction(old, new)})"
            yield CapChange(text, (new > old) is more_allows_more)


def _attributes(before: Caps, after: Caps) -> Iterator[CapChange]:
    for name, old, new in _pairs(before.attributes, after.attributes):
        if old != new:
            loosens = new is None or (old is not None and new > old)
            text = f"attribute {name} {_stated(old)} -> {_stated(new)} ({_direction(old, new)})"
            yield CapChange(text, loosens)


def _groups(before: Caps, after: Caps) -> Iterator[CapChange]:
    both = ({name: GroupCap(*group) for name, group in caps.groups.items()} for caps in (before, after))
    for name, old, new in _pairs(*both):
        if old is None or new is None:
            caps = [None if group is None else group.epsilon for group in (old, new)]
            yield CapChange(f"group {name} {_group(old)} -> {_group(new)} ({_direction(*caps)})", new is None)
        elif (old.epsilon, _keys(old)) != (new.epsilon, _keys(new)):
            same = old.epsilon == new.epsilon
            direction = "other attributes" if same else _direction(old.epsilon, new.epsilon)
            loosens = new.epsilon > old.epsilon or not _keys(old) <= _keys(new)
            yield CapChange(f"group {name} {_group(old)} -> {_group(new)} ({direction})", loosens)


def _pairs(before: Mapping[str, T], after: Mapping[str, T]) -> Iterator[tuple[str, T | None, T | None]]:
    """Of every name that either has, what both have for it; names that look alike are one."""
    old = {folded(name): value for name, value in before.items()}
    new = {folded(name): value for name, value in after.items()}
    names = {folded(name): name for name in (*after, *before)}
    for key, name in names.items():
        yield name, old.get(key), new.get(key)


def _direction(old: float | None, new: float | None) -> str:
    """Where no cap is above every cap."""
    return "raised" if new is None or (old is not None and new > old) else "lowered"


def _stated(cap: float | None) -> str:
    return "no cap" if cap is None else nats(cap)


def _group(group: GroupCap | None) -> str:
    return "no cap" if group is None else f"{nats(group.epsilon)} of {', '.join(group.members)}"


def _keys(group: GroupCap) -> set[str]:
    return {folded(name) for name in group.members}
