"""What one release costs one record: exact decimals, an attribute or cluster at a time, and in total."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Annotated, NamedTuple

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from budget_opt.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.ledger.amounts import ZERO, amount_of, decimal_of, plus
from budget_opt.ledger.names import folded
from budget_opt.model.documents import json_text

_DIGEST = re.compile("[0-9a-f]{64}")


@with_config(ConfigDict(extra="forbid", strict=True))
class ChargeStated(TypedDict):
    """A charge as it stands in an event: a part is its epsilon, as decimal text, and its members."""

    epsilon: str
    delta: str
    parts: list[Annotated[list[str], Field(min_length=2)]]
    allocation_sha256: str
    max_rows: int


class Part(NamedTuple):
    """What is randomized as one: an attribute, or the members of a cluster, with its epsilon (nats)."""

    members: tuple[str, ...]
    epsilon: Decimal


@dataclass(frozen=True)
class Charge:
    """The price of a release for one record; a person with several rows pays it for each.

    `epsilon` is the record's total: the sum of the parts, or, with a `delta`, the total epsilon that the
    allocation states with it. Both add over releases (basic composition). Parts are always charged their own
    epsilon, whatever the composition. `max_rows` is the most rows of one person that the release lets
    through, and `allocation_sha256` is of the allocation file as it lies beside a release.
    """

    parts: tuple[Part, ...]
    epsilon: Decimal
    delta: Decimal = ZERO
    allocation_sha256: str = "0" * 64
    max_rows: int = 1

    def __post_init__(self) -> None:
        if fault := self._fault():
            raise InputError(f"charge: {fault}. Make it with Charge.of(allocation).")

    def __hash__(self) -> int:
        return hash((self.allocation_sha256, self.epsilon))

    @classmethod
    def of(cls, allocation: Allocation) -> Charge:
        """The price of a release under this allocation: the epsilons that it states, not the losses below.

        A cluster is one part: its epsilon counts once in the total, and whole for each of its members.
        Where the allocation keeps its total by composition only, that is its (`total_epsilon`,
        `total_delta`); where the sum of the epsilons keeps it as well, the sum, and no delta.
        """
        if not isinstance(allocation, Allocation):
            raise InputError(
                f"allocation: is a {type(allocation).__name__}. Read one with Allocation.read(path)."
            )
        parts = tuple(
            Part(block.names, decimal_of(block.epsilon)) for block in allocation.blocks if block.epsilon > 0
        )
        digest = sha256(json_text(allocation.to_dict()).encode()).hexdigest()
        epsilon, delta = _sum(parts), ZERO
        stated = allocation.total_epsilon
        if allocation.total_delta > 0 and stated is not None and decimal_of(stated) < epsilon:
            epsilon, delta = decimal_of(stated), decimal_of(allocation.total_delta)
        return cls(parts, epsilon, delta, digest, allocation.unit.max_rows)

    @cached_property
    def by_members(self) -> tuple[tuple[frozenset[str], Decimal], ...]:
        """Each set of attributes that are randomized as one (folded names), with what it costs."""
        costs: dict[frozenset[str], Decimal] = {}
        for part in self.parts:
            key = frozenset(map(folded, part.members))
            costs[key] = plus(costs.get(key, ZERO), part.epsilon)
        return tuple(costs.items())

    def to_dict(self) -> ChargeStated:
        """The charge as it stands in an event."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "parts": [[str(part.epsilon), *part.members] for part in self.parts],
            "allocation_sha256": self.allocation_sha256,
            "max_rows": self.max_rows,
        }

    @classmethod
    def from_dict(cls, document: ChargeStated) -> Charge:
        """The charge that an event states; `ValueError` where it states none."""
        try:
            parts = tuple(Part(tuple(members), amount_of(epsilon)) for epsilon, *members in document["parts"])
            return cls(
                parts,
                amount_of(document["epsilon"]),
                amount_of(document["delta"]),
                document["allocation_sha256"],
                document["max_rows"],
            )
        except ValueError as failure:
            raise ValueError(f"the charge is none ({failure})") from None

    def _fault(self) -> str | None:
        """What is wrong with it, None where nothing is."""
        total = _sum(self.parts)
        laws = {
            "a part has no attribute": all(
                part.members and all(map(_is_name, part.members)) for part in self.parts
            ),
            "a part must cost something": all(part.epsilon > 0 for part in self.parts),
            "delta must be from 0 to below 1": 0 <= self.delta < 1,
            f"epsilon is {self.epsilon}, and its parts make {total}": (
                self.epsilon == total if self.delta == 0 else 0 < self.epsilon <= total
            ),
            "allocation_sha256 must be 64 hexadecimal digits": _is_digest(self.allocation_sha256),
            "max_rows must be a number of rows": type(self.max_rows) is int and self.max_rows >= 1,
        }
        return next((law for law, holds in laws.items() if not holds), None)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name != ""


def _is_digest(text: object) -> bool:
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def _sum(parts: Iterable[Part]) -> Decimal:
    total = ZERO
    for part in parts:
        total = plus(total, part.epsilon)
    return total
