"""The events of a ledger: which kinds there are, what each says, and the hash chain through them.

An event is a JSON object in canonical form, one row. It says its kind, the time (UTC, for people: the order
of events is that of their numbers, whatever the clock did) and the software that wrote it. Its hash is
SHA-256 of the hash before and its text, so that no event can be edited, taken out, put in or moved without
every later hash being wrong.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypeAlias, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from budget_opt.ledger.caps import CapsStated
from budget_opt.ledger.charge import ChargeStated
from budget_opt.version import __version__

FORMAT = "budget-opt/ledger"
VERSION = 1
SOFTWARE = f"budget-opt {__version__}"
BEFORE_THE_FIRST = bytes(32)
"""What stands for the hash before the first event."""

_Text = Annotated[str, Field(min_length=1, max_length=100_000)]
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Time = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
_Count = Annotated[int, Field(ge=0, le=10**15)]


@with_config(ConfigDict(extra="forbid", strict=True))
class _Event(TypedDict):
    time: _Time
    software: _Text


class Begin(_Event):
    """The first: what this file is. `key_sha256` is of the key for keyed hashes, which has its own table."""

    kind: Literal["begin"]
    format: _Text
    version: _Count
    ledger: _Text
    key_sha256: _Digest


class Register(_Event):
    """A data set with its caps."""

    kind: Literal["register"]
    dataset: _Text
    caps: CapsStated


class Change(_Event):
    """The caps from here on, and why; a cap that is raised stays in sight."""

    kind: Literal["change"]
    dataset: _Text
    caps: CapsStated
    why: _Text


class Reserve(_Event):
    """Spent from here on, whatever becomes of the release. `ahead`: from the share of later waves as well."""

    kind: Literal["reserve"]
    dataset: _Text
    release: _Text
    charge: ChargeStated
    ahead: bool


class Begun(_Event):
    """From here on its words are drawn, so that nobody can give it back."""

    kind: Literal["begun"]
    release: _Text


class Confirm(_Event):
    """It was released; `cells` is the keyed digest of what was."""

    kind: Literal["confirm"]
    release: _Text
    cells: _Digest
    rows: _Count


class Void(_Event):
    """Nothing of it was drawn."""

    kind: Literal["void"]
    release: _Text
    why: _Text


class Repeat(_Event):
    """The same cells once more, free; what was reserved for that, under the name `release`, is given back."""

    kind: Literal["repeat"]
    dataset: _Text
    cells: _Digest
    rows: _Count
    release: NotRequired[_Text]


class Outside(_Event):
    """A release that was made without this ledger, or that it lost: counted, whatever the caps say.

    `cells` is the keyed digest of what was released, where its table was at hand, and None where it was not.
    """

    kind: Literal["outside"]
    dataset: _Text
    release: _Text
    charge: ChargeStated
    why: _Text
    cells: _Digest | None
    rows: _Count | None


class Data(_Event):
    """Keyed fingerprints of the data, by which it is known under another name."""

    kind: Literal["data"]
    dataset: _Text
    fingerprints: list[_Text]


class Acknowledge(_Event):
    """A person has read a warning, and goes on."""

    kind: Literal["acknowledge"]
    dataset: _Text
    warning: _Text


class Older(_Event):
    """This file is older than what was seen of it: how far that went, and why it is used all the same."""

    kind: Literal["older"]
    seen: _Count
    why: _Text


Event: TypeAlias = (
    Begin
    | Register
    | Change
    | Reserve
    | Begun
    | Confirm
    | Void
    | Repeat
    | Outside
    | Data
    | Acknowledge
    | Older
)

_READER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


class Head(NamedTuple):
    """How far a ledger has come: the number of its events, and the hash of the last."""

    events: int
    hash: bytes


class UnknownKindError(ValueError):
    """An event of a kind that this version does not know."""


def now() -> str:
    """The time for people, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_event(kind: str, **said: Any) -> Event:
    """An event of this moment; it is checked when its text is read."""
    return cast(Event, {"kind": kind, "time": now(), "software": SOFTWARE, **said})


def text_of(event: Event) -> bytes:
    """The event as it stands in its row."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def next_hash(before: bytes, text: bytes) -> bytes:
    """The hash of the event with this text after the one with the hash `before`."""
    return sha256(before + text).digest()


def read_event(text: bytes) -> Event:
    """The event in a row; `ValueError` with the reason where it is none that this version writes."""
    try:
        return _READER.validate_json(text)
    except ValidationError as failure:
        fault = failure.errors(include_url=False, include_input=False)[0]
    if fault["type"] == "union_tag_invalid":
        writer = json.loads(text).get("software")
        raise UnknownKindError(
            f"it is of the kind {fault['ctx']['tag']!r}, written by {writer!r}, and unknown to {SOFTWARE}"
        )
    where = ".".join(map(str, fault["loc"][1:]))
    raise ValueError(f"{where}: {fault['msg']}" if where else fault["msg"])
