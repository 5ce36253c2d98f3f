"""A ledger for people and as JSON: of every data set its caps, what is left, and every release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.ledger.account import Account, Left, Release
from budget_opt.ledger.amounts import plain
from budget_opt.ledger.cap_changes import changes as cap_changes
from budget_opt.ledger.cap_changes import nats
from budget_opt.ledger.caps import Caps
from budget_opt.ledger.wording import rows_of_one

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from budget_opt.ledger.charge import Part
    from budget_opt.ledger.events import Event

_SHORT = 12
"""Digits of a hash in a table."""
_MOST = 200
"""Releases in a table: the last ones."""
_MEANING = {
    "reserved": "started, and never finished or not yet; it counts as spent",
    "void": "given back: nothing was drawn, or its cells were recorded before; it counts nothing",
    "outside": "made without this ledger and counted by hand",
}
"""What becomes of a release, other than that it is there."""
_NAMED = 12
"""Releases, and attributes, that are named in a line."""
_PILOT = "pilot-"
"""How the names of pilots begin (`api.pilot_charges`)."""


@dataclass(frozen=True)
class ShownRelease:
    """One release, or pilot: its number, when it was begun, what it costs a record, what became of it.

    `together` names the attributes that are charged as one: the members of every cluster.
    """

    number: int
    time: str
    status: str
    epsilon: str
    delta: str
    rows: int | None
    allocation_sha256: str
    release: str
    why: str
    is_pilot: bool
    together: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class ShownDataset:
    """One data set as it is now: numbers in nats for one person, spent rounded up, left rounded down."""

    name: str
    registered: str
    caps: Caps
    spent: Left
    left: Left
    releases: tuple[ShownRelease, ...]
    changes: tuple[tuple[str, str, str], ...]
    repeats: tuple[tuple[str, int], ...]
    accepted: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "name": self.name,
            "registered": self.registered,
            "caps": {
                "total": self.caps.total,
                "attributes": dict(self.caps.attributes),
                "groups": {
                    name: {"attributes": list(members), "epsilon": cap}
                    for name, (members, cap) in self.caps.groups.items()
                },
                "delta": self.caps.delta,
                "max_rows": self.caps.max_rows,
                "waves": self.caps.waves,
            },
            "spent": vars(self.spent),
            "left": vars(self.left),
            "releases": [vars(release) for release in self.releases],
            "changes": [{"time": time, "what": what, "why": why} for time, what, why in self.changes],
            "repeats": [{"time": time, "release": number} for time, number in self.repeats],
            "accepted": [{"time": time, "why": why} for time, why in self.accepted],
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        # names and reasons are shown as they are: as Text, in which nothing is markup or an emoji
        yield from (Text(line) for line in self._heading())
        yield self._caps_table()
        if self.releases:
            yield self._releases_table()
        yield from (Text(line) for line in self._footing())

    def _heading(self) -> Iterator[str]:
        yield self.name
        yield rows_of_one(self.caps)
        if self.caps.waves > 1:
            done = min(self.spent.waves, self.caps.waves)
            yield f"{self.caps.waves} releases are planned, {done} made; left is what the next one may take"

    def _footing(self) -> Iterator[str]:
        if not self.releases:
            yield "no release yet\n"
        if len(self.releases) > _MOST:
            yield f"the last {_MOST} of {len(self.releases):,} releases; --json lists all"
        there = {one.status for one in self.releases}
        yield from (f"{status}: {meaning}" for status, meaning in _MEANING.items() if status in there)
        yield from (f"release {one.number}, {one.status}: {one.why}" for one in self.releases if one.why)
        yield from self._charged_as_one()
        yield from (f"{time}  caps changed: {what} ({why})" for time, what, why in self.changes)
        yield from (
            f"{time}  an older copy of this ledger was accepted: what it did not know is lost unless it was "
            f"recorded by hand ({why})"
            for time, why in self.accepted
        )
        if self.repeats:
            copies = ", ".join(f"{number} ({time})" for time, number in self.repeats)
            yield f"free repetitions of release {copies}"

    def _charged_as_one(self) -> Iterator[str]:
        """A line for each cluster that was released."""
        releases: dict[tuple[str, ...], list[str]] = {}
        for one in self.releases:
            for members in one.together:
                releases.setdefault(members, []).append(str(one.number))
        for members, numbers in releases.items():
            yield (
                f"charged as one in release {_some(numbers)}: {_some(members)}; in full to the cap of each, "
                "and once to each group and to the total"
            )

    def _caps_table(self) -> RenderableType:
        from budget_opt.tables.wide import Column, WideTable

        caps, spent, left = self.caps, self.spent, self.left
        groups = {name: cap for name, (_, cap) in caps.groups.items()}
        lines = [("total", caps.total, spent.total, left.total)]
        lines += [
            (f"attribute {name}", cap, spent.attributes[name], left.attributes[name])
            for name, cap in caps.attributes.items()
        ]
        lines += [
            (f"group {name}", cap, spent.groups[name], left.groups[name]) for name, cap in groups.items()
        ]
        if caps.delta or spent.delta:
            lines.append(("delta", caps.delta, spent.delta, left.delta))
        labels, *numbers = zip(*lines, strict=True)
        columns = [
            Column(heading, [show(number) for number in column])
            for (heading, show), column in zip(
                (("cap", nats), ("spent", nats), ("left", left_in_words)), numbers, strict=True
            )
        ]
        return WideTable(Column("epsilon (nats)", [str(label) for label in labels]), columns)

    def _releases_table(self) -> RenderableType:
        from budget_opt.tables.wide import Column, WideTable

        made = self.releases[-_MOST:]
        columns = [
            Column("begun (UTC)", [one.time for one in made]),
            Column("status", [one.status for one in made]),
            Column("epsilon\na record", [one.epsilon for one in made]),
            Column("rows", ["" if one.rows is None else f"{one.rows:,}" for one in made]),
            Column(
                "allocation", ["pilot" if one.is_pilot else one.allocation_sha256[:_SHORT] for one in made]
            ),
        ]
        if any(one.delta != "0" for one in made):
            columns.insert(3, Column("delta", [one.delta for one in made]))
        return WideTable(Column("release", [str(one.number) for one in made]), columns, labels="right")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (" and others" if len(names) > _NAMED else "")


def left_in_words(number: float) -> str:
    """What is left, which is never below nothing, and by how much a cap is overspent."""
    return nats(number) if number >= 0 else f"0, overspent by {nats(-number)}"


def shown(account: Account, events: Mapping[int, Event]) -> ShownDataset:
    """A data set by its account and all events of the ledger, both of one moment."""
    name, releases = account.name, tuple(account.releases.values())
    registered, changes, repeats, accepted = "", [], [], []
    for event in events.values():
        if event["kind"] == "register" and event["dataset"] == name:
            registered, before = event["time"], Caps.from_dict(event["caps"])
        elif event["kind"] == "change" and event["dataset"] == name:
            after = Caps.from_dict(event["caps"])
            what = "; ".join(map(str, cap_changes(before, after))) or "names are written otherwise"
            changes.append((event["time"], what, event["why"]))
            before = after
        elif event["kind"] == "repeat" and event["dataset"] == name:
            repeats.append((event["time"], account.cells[event["cells"]]))
        elif event["kind"] == "older":
            accepted.append((event["time"], event["why"]))
    return ShownDataset(
        name=name,
        registered=registered,
        caps=account.caps,
        spent=account.spent(),
        left=account.left(),
        releases=tuple(_release(release, events, account.cells) for release in releases),
        changes=tuple(changes),
        repeats=tuple(repeats),
        accepted=tuple(accepted),
    )


def _release(release: Release, events: Mapping[int, Event], cells: Mapping[str, int]) -> ShownRelease:
    begun = events[release.event]
    closed = None if release.closed is None else events[release.closed]
    ending, why = begun if closed is None else closed, ""
    if ending["kind"] in ("void", "outside"):
        why = ending["why"]
    elif ending["kind"] == "repeat":
        why = f"its cells are those of release {cells[ending['cells']]}"
    is_pilot = release.name.startswith(_PILOT)
    return ShownRelease(
        number=release.number,
        time=begun["time"],
        status=release.status,
        epsilon=plain(release.charge.epsilon),
        delta=plain(release.charge.delta),
        rows=ending["rows"] if ending["kind"] in ("confirm", "outside") else None,
        allocation_sha256=release.charge.allocation_sha256,
        release=release.name,
        why=why,
        is_pilot=is_pilot,
        together=() if is_pilot else _together(release.charge.parts),
    )


def _together(parts: Sequence[Part]) -> tuple[tuple[str, ...], ...]:
    """The members of the parts that have several; the last may be what the making of a problem has cost.

    That is charged to all attributes, and no cluster has members of another part.
    """
    others = {name for part in parts[:-1] for name in part.members}
    if others and others <= {*parts[-1].members}:
        parts = parts[:-1]
    return tuple(part.members for part in parts if len(part.members) > 1)
