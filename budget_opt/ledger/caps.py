"""The caps of a data set: what may be spent on the people in it, in total and in part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from budget_opt.errors import InputError
from budget_opt.ledger.amounts import amount_of, decimal_of
from budget_opt.ledger.names import folded
from budget_opt.model import values

T = TypeVar("T")


@with_config(ConfigDict(extra="forbid", strict=True))
class GroupStated(TypedDict):
    """A group as it stands in an event."""

    members: list[str]
    epsilon: str


@with_config(ConfigDict(extra="forbid", strict=True))
class CapsStated(TypedDict):
    """Caps as they stand in an event: amounts as decimal text."""

    total: str
    delta: str
    attributes: dict[str, str]
    groups: dict[str, GroupStated]
    max_rows: int
    waves: int


class GroupCap(NamedTuple):
    """Attributes whose charges together stay within `epsilon` nats."""

    members: tuple[str, ...]
    epsilon: float


@dataclass(frozen=True)
class Caps:
    """What may be spent on one person of a data set, over all releases (nats; decimals of shortest text).

    `total` > 0 bounds the sum of the releases' totals, an entry of `attributes` what releases spend on that
    attribute, one of `groups`, name: ((attributes), nats), what they spend on its members together: a cluster
    of attributes that are randomized together counts whole for each member, and once for each group that it
    touches. `delta` (0 to 1) bounds the sum of the releases' deltas; 0 refuses allocations that need one.

    `max_rows` is the most rows that one person has: every release is charged that many times. Rows are
    randomized independently, so that epsilon and delta both add over them.

    `waves` is the number of planned releases. All caps are for all of them: the k-th release is allowed while
    what is spent, itself included, stays within k / waves of each cap, so that a share that
    an earlier one left goes to later ones, and none takes from what is to come unless it is
    allowed to (`ahead`). Releases are counted, however small: it paces honest plans, and whoever makes tiny
    releases gets to the last share at once. Only the whole caps bound what is spent.

    Raises `InputError` for a number that is none of these, and for names of which two look alike.
    """

    total: float
    attributes: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, tuple[tuple[str, ...], float]] = field(default_factory=dict)
    max_rows: int = 1
    waves: int = 1
    delta: float = 0.0

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "total": _checked("total", self.total, _positive),
            "attributes": {
                _name("attributes", name): _checked(f"attributes[{name!r}]", cap, values.budget)
                for name, cap in dict(self.attributes).items()
            },
            "groups": {_name("groups", name): _group(name, stated) for name, stated in self.groups.items()},
            "max_rows": _checked("max_rows", self.max_rows, values.rows_of_one),
            "waves": _checked("waves", self.waves, values.waves),
            "delta": _checked("delta", self.delta, _share),
        }
        for where in ("attributes", "groups"):
            _require_distinct(where, list(checked[where]))
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> CapsStated:
        """The caps as they stand in an event."""
        return {
            "total": str(decimal_of(self.total)),
            "delta": str(decimal_of(self.delta)),
            "attributes": {name: str(decimal_of(cap)) for name, cap in self.attributes.items()},
            "groups": {
                name: {"members": list(members), "epsilon": str(decimal_of(cap))}
                for name, (members, cap) in self.groups.items()
            },
            "max_rows": self.max_rows,
            "waves": self.waves,
        }

    @classmethod
    def from_dict(cls, document: CapsStated) -> Caps:
        """The caps that an event states; `ValueError` where it states none."""
        try:
            return cls(
                total=float(amount_of(document["total"])),
                delta=float(amount_of(document["delta"])),
                attributes={name: float(amount_of(cap)) for name, cap in document["attributes"].items()},
                groups={
                    name: (tuple(group["members"]), float(amount_of(group["epsilon"])))
                    for name, group in document["groups"].items()
                },
                max_rows=document["max_rows"],
                waves=document["waves"],
            )
        except InputError as failure:
            raise ValueError(f"the caps are none ({failure})") from None


def _checked(where: str, value: object, check: Callable[[object], T]) -> T:
    try:
        return check(value)
    except values.UnfitError as failure:
        raise InputError(f"{where}: is {value!r}, {failure.limit}. {failure.remedy}.") from None


def _positive(value: object) -> float:
    number = values.budget(value)
    if number == 0:
        raise values.UnfitError(
            "must be above 0", "Give the epsilon that may be spent on one person, in nats"
        )
    return number


def _share(value: object) -> float:
    remedy = "Give the sum of deltas that may be spent, such as 1e-6, or leave it out"
    number = values.real(value, "0 or a delta from 1e-300 to below 1", remedy)
    if number != 0 and not values.SMALLEST_EPSILON <= number < 1:
        raise values.UnfitError("must be 0 or a delta from 1e-300 to below 1", remedy)
    return number


def _name(where: str, name: object) -> str:
    return _checked(where, name, values.name)


def _group(name: str, stated: object) -> GroupCap:
    where = f"groups[{name!r}]"
    if not isinstance(stated, tuple | list) or len(stated) != 2 or not isinstance(stated[0], tuple | list):
        raise InputError(
            f'{where}: is {stated!r}, must be the attributes and their cap. Write (("a", "b"), 1.5).'
        )
    members = tuple(_name(where, member) for member in stated[0])
    if not members:
        raise InputError(f"{where}: has no attributes. Name those that it caps together.")
    _require_distinct(where, list(members))
    return GroupCap(members, _checked(where, stated[1], values.budget))


def _require_distinct(where: str, names: list[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if (twin := seen.get(folded(name))) is not None:
            raise InputError(
                f"{where}: {name!r} and {twin!r} look alike, and what is spent on the one counts "
                "towards the other. Name it once."
            )
        seen[folded(name)] = name
