"""What has been spent on one data set, and what a release may still cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from budget_opt.errors import Exceeded
from budget_opt.ledger.amounts import ZERO, decimal_of, down, plus, times, up
from budget_opt.ledger.caps import Caps
from budget_opt.ledger.charge import Charge
from budget_opt.ledger.names import folded

Status = Literal["reserved", "confirmed", "void", "outside"]
"""Spent and perhaps released; spent and released; given back: nothing was drawn, or its cells were recorded
before; released without this ledger."""


@dataclass(slots=True)
class Release:
    """One release of a data set: the number it has there, and where in the ledger it begins and is closed.

    `begun` says that its words may have been drawn.
    """

    dataset: str
    name: str
    number: int
    event: int
    charge: Charge
    status: Status
    closed: int | None = None
    begun: bool = False


@dataclass(frozen=True)
class Left:
    """What the next release may spend on one person, in nats, rounded down: of each cap of the data set.

    Where waves are planned it is what the next one may take. Below 0 where more was spent than a cap
    allows, which releases from outside and caps that were lowered can do. `waves` is how many of the planned
    ones are still to come. For one record, divide by the data set's `max_rows`.
    """

    total: float
    attributes: dict[str, float]
    groups: dict[str, float]
    waves: int
    delta: float


class _Limit(NamedTuple):
    """One cap: of the record as a whole (`members` None), of some attributes, or on delta."""

    what: str
    kind: Literal["total", "delta", "attribute", "group"]
    name: str
    members: frozenset[str]
    cap: Decimal


@dataclass
class Account:
    """A data set: its caps, its releases, and the exact sums of what they cost one record."""

    name: str
    caps: Caps
    event: int
    changes: list[int] = field(default_factory=list)
    releases: dict[str, Release] = field(default_factory=dict)
    paid: int = 0
    cells: dict[str, int] = field(default_factory=dict)
    fingerprints: set[str] = field(default_factory=set)
    warnings: set[str] = field(default_factory=set)
    _waiting: dict[Charge, int] = field(default_factory=dict)
    _epsilon: Decimal = ZERO
    _delta: Decimal = ZERO
    _parts: dict[frozenset[str], Decimal] = field(default_factory=dict)

    def add(self, charge: Charge) -> None:
        """Count a charge."""
        self._count(charge, 1)

    def take_back(self, charge: Charge) -> None:
        """Count it no more."""
        self._count(charge, -1)

    def _count(self, charge: Charge, sign: int) -> None:
        self.paid += sign
        self._waiting[charge] = self._waiting.get(charge, 0) + sign

    def _add_up(self) -> None:
        """Bring the sums up to date: releases that cost the same are added at once."""
        for charge, count in self._waiting.items():
            self._epsilon = plus(self._epsilon, times(charge.epsilon, count))
            self._delta = plus(self._delta, times(charge.delta, count))
            for key, epsilon in charge.by_members:
                self._parts[key] = plus(self._parts.get(key, ZERO), times(epsilon, count))
        self._waiting.clear()

    def spent(self) -> Left:
        """What has been spent on one person, rounded up; `waves` says in how many releases."""
        return self._by_kind({limit: up(self._spent(limit)) for limit in self._limits()}, self.paid)

    def left(self, *, ahead: bool = False) -> Left:
        """What the next release may spend, rounded down."""
        numbers = {limit: down(self._left(limit, ahead=ahead)) for limit in self._limits()}
        return self._by_kind(numbers, max(0, self.caps.waves - self.paid))

    def exceeded(self, charge: Charge, *, ahead: bool = False) -> list[Exceeded]:
        """The caps that this charge would pass."""
        found = []
        for limit in self._limits():
            asked, left = self._asked(limit, charge), self._left(limit, ahead=ahead)
            # a charge of nothing passes no cap, even where that was passed before
            if asked > 0 and asked > left:
                found.append(Exceeded(limit.what, up(asked), down(left), float(limit.cap)))
        return found

    def _limits(self) -> list[_Limit]:
        caps, nothing = self.caps, frozenset[str]()
        return [
            _Limit("the total", "total", "", nothing, decimal_of(caps.total)),
            _Limit("delta", "delta", "", nothing, decimal_of(caps.delta)),
            *(
                _Limit(f"attribute {name}", "attribute", name, frozenset({folded(name)}), decimal_of(cap))
                for name, cap in caps.attributes.items()
            ),
            *(
                _Limit(f"group {name}", "group", name, frozenset(map(folded, members)), decimal_of(cap))
                for name, (members, cap) in caps.groups.items()
            ),
        ]

    def _asked(self, limit: _Limit, charge: Charge) -> Decimal:
        if limit.kind == "total":
            return times(charge.epsilon, self.caps.max_rows)
        if limit.kind == "delta":
            return times(charge.delta, self.caps.max_rows)
        return times(_touching(limit.members, dict(charge.by_members)), self.caps.max_rows)

    def _spent(self, limit: _Limit) -> Decimal:
        self._add_up()
        if limit.kind == "total":
            return times(self._epsilon, self.caps.max_rows)
        if limit.kind == "delta":
            return times(self._delta, self.caps.max_rows)
        return times(_touching(limit.members, self._parts), self.caps.max_rows)

    def _left(self, limit: _Limit, *, ahead: bool) -> Fraction:
        """The share of the cap that is open to the next release, less what was spent."""
        waves = self.caps.waves
        wave = waves if ahead else min(self.paid + 1, waves)
        return Fraction(limit.cap) * wave / waves - Fraction(self._spent(limit))

    def _by_kind(self, numbers: dict[_Limit, float], waves: int) -> Left:
        def of(kind: str) -> dict[str, float]:
            return {limit.name: number for limit, number in numbers.items() if limit.kind == kind}

        return Left(of("total")[""], of("attribute"), of("group"), waves, of("delta")[""])


def _touching(members: frozenset[str], parts: dict[frozenset[str], Decimal]) -> Decimal:
    """The sum of the parts that have one of the members."""
    total = ZERO
    for key, epsilon in parts.items():
        if not key.isdisjoint(members):
            total = plus(total, epsilon)
    return total
