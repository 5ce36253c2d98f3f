"""A ledger for people and as JSON: of every data set its caps, what is left, and every release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.ledger.account import Left, Release
from budget_opt.ledger.amounts import plain
from budget_opt.ledger.caps import Caps, loosened

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from budget_opt.ledger.events import Event
    from budget_opt.ledger.ledger import Ledger

_SHORT = 12
"""Digits of a hash in a table."""


@dataclass(frozen=True)
class ShownRelease:
    """One release: its number, when it was reserved, what it costs a record, and what became of it."""

    number: int
    time: str
    status: str
    epsilon: str
    delta: str
    rows: int | None
    allocation_sha256: str
    release: str
    why: str


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
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from (*self._heading(), self._caps_table())
        if self.releases:
            yield self._releases_table()
        else:
            yield "no release yet\n"
        yield from (f"release {one.number}, {one.status}: {one.why}" for one in self.releases if one.why)
        yield from (f"{time}  caps changed: {what} ({why})" for time, what, why in self.changes)
        if self.repeats:
            copies = ", ".join(f"{number} ({time})" for time, number in self.repeats)
            yield f"free repetitions of release {copies}"

    def _heading(self) -> Iterator[str]:
        yield self.name
        if self.caps.max_rows > 1:
            yield f"caps are for a person, who has up to {self.caps.max_rows} rows, and each of them costs"
        if self.caps.waves > 1:
            done = min(self.spent.waves, self.caps.waves)
            yield f"{self.caps.waves} releases are planned, {done} made; left is what the next one may take"

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
            Column(heading, [repr(number) for number in column])
            for heading, column in zip(("cap", "spent", "left"), numbers, strict=True)
        ]
        return WideTable(Column("epsilon (nats)", [str(label) for label in labels]), columns)

    def _releases_table(self) -> RenderableType:
        from budget_opt.tables.wide import Column, WideTable

        made = self.releases
        columns = [
            Column("reserved (UTC)", [one.time for one in made]),
            Column("status", [one.status for one in made]),
            Column("epsilon\na record", [one.epsilon for one in made]),
            Column("rows", ["" if one.rows is None else f"{one.rows:,}" for one in made]),
            Column("allocation", [one.allocation_sha256[:_SHORT] for one in made]),
        ]
        if any(one.delta != "0" for one in made):
            columns.insert(3, Column("delta", [one.delta for one in made]))
        return WideTable(Column("release", [str(one.number) for one in made]), columns, labels="right")


def shown(ledger: Ledger, names: Sequence[str] | None = None) -> list[ShownDataset]:
    """The data sets with these names, all of them by default; `InputError` for one that is not registered."""
    chosen = ledger.datasets if names is None else names
    made = {name: ledger.releases(name) for name in chosen}
    # read last, so that every event that is asked for is there
    events = dict(ledger.events())
    return [_dataset(ledger, name, releases, events) for name, releases in made.items()]


def _dataset(
    ledger: Ledger, name: str, releases: Sequence[Release], events: dict[int, Event]
) -> ShownDataset:
    by_cells: dict[str, int] = {}
    registered, changes, repeats = "", [], []
    caps = ledger.caps(name)
    closed = {release.closed: release.number for release in releases}
    for number, event in events.items():
        if event["kind"] == "confirm" and number in closed:
            by_cells.setdefault(event["cells"], closed[number])
        elif event["kind"] == "register" and event["dataset"] == name:
            registered, before = event["time"], Caps.from_dict(event["caps"])
        elif event["kind"] == "change" and event["dataset"] == name:
            after = Caps.from_dict(event["caps"])
            what = "; ".join(loosened(before, after)) or "tighter, " + "; ".join(loosened(after, before))
            changes.append((event["time"], what, event["why"]))
            before = after
        elif event["kind"] == "repeat" and event["dataset"] == name:
            repeats.append((event["time"], by_cells[event["cells"]]))
    return ShownDataset(
        name=name,
        registered=registered,
        caps=caps,
        spent=ledger.spent(name),
        left=ledger.left(name),
        releases=tuple(_release(release, events) for release in releases),
        changes=tuple(changes),
        repeats=tuple(repeats),
    )


def _release(release: Release, events: dict[int, Event]) -> ShownRelease:
    begun = events[release.event]
    closed = None if release.closed is None else events[release.closed]
    ending = begun if closed is None else closed
    return ShownRelease(
        number=release.number,
        time=begun["time"],
        status=release.status,
        epsilon=plain(release.charge.epsilon),
        delta=plain(release.charge.delta),
        rows=closed["rows"] if closed is not None and closed["kind"] == "confirm" else None,
        allocation_sha256=release.charge.allocation_sha256,
        release=release.name,
        why=ending["why"] if ending["kind"] in ("void", "outside") else "",
    )
