"""The state of a ledger: what replaying its events says, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from budget_opt.ledger import events
from budget_opt.ledger.account import Account, Release, Status
from budget_opt.ledger.caps import Caps
from budget_opt.ledger.charge import Charge, ChargeStated
from budget_opt.ledger.events import FORMAT, VERSION, Event
from budget_opt.ledger.names import folded


class State:
    """Data sets and their releases after the first `count` events; changed by `apply` alone."""

    def __init__(self) -> None:
        self.ledger = ""
        self.key_sha256 = ""
        self.count = 0
        self.accounts: dict[str, Account] = {}
        self.releases: dict[str, Release] = {}
        self._alike: dict[str, str] = {}
        self._charges: dict[str, tuple[ChargeStated, Charge]] = {}
        self._take: dict[str, Callable[[Any], None]] = {
            "begin": self._begin,
            "register": self._register,
            "change": self._change,
            "reserve": self._reserve,
            "begun": self._begun,
            "confirm": self._confirm,
            "void": self._void,
            "repeat": self._repeat,
            "outside": self._outside,
            "data": self._data,
            "acknowledge": self._acknowledge,
            "older": self._older,
        }

    def apply(self, event: Event) -> None:
        """Take in the next event; `ValueError` with the reason where it cannot follow on those before.

        The state is of no use after that.
        """
        self.count += 1
        if (event["kind"] == "begin") != (self.count == 1):
            raise ValueError("a ledger begins with its first event, and once")
        self._take[event["kind"]](event)

    def look_alike(self, dataset: str) -> str | None:
        """The data set whose name people would take for this one, None where there is none."""
        return self._alike.get(folded(dataset))

    def _account(self, dataset: str) -> Account:
        if dataset not in self.accounts:
            raise ValueError(f"the data set {dataset!r} is not registered")
        return self.accounts[dataset]

    def _begin(self, event: events.Begin) -> None:
        if (event["format"], event["version"]) != (FORMAT, VERSION):
            raise ValueError(f"it begins a {event['format']!r} of version {event['version']}")
        self.ledger, self.key_sha256 = event["ledger"], event["key_sha256"]

    def _register(self, event: events.Register) -> None:
        dataset = event["dataset"]
        if folded(dataset) in self._alike:
            raise ValueError(f"the data set {dataset!r} is registered already")
        self._alike[folded(dataset)] = dataset
        self.accounts[dataset] = Account(dataset, Caps.from_dict(event["caps"]), self.count)

    def _change(self, event: events.Change) -> None:
        account = self._account(event["dataset"])
        account.caps = Caps.from_dict(event["caps"])
        account.changes.append(self.count)

    def _reserve(self, event: events.Reserve) -> None:
        self._spend(event, "reserved")

    def _outside(self, event: events.Outside) -> None:
        self._spend(event, "outside")
        if event["cells"] is not None:
            made = self.releases[event["release"]]
            self.accounts[made.dataset].cells.setdefault(event["cells"], made.number)

    def _spend(self, event: events.Reserve | events.Outside, status: Status) -> None:
        account, name = self._account(event["dataset"]), event["release"]
        if name in self.releases:
            raise ValueError(f"the release {name!r} is there already")
        charge = self._charge(event["charge"])
        made = Release(account.name, name, len(account.releases) + 1, self.count, charge, status)
        self.releases[name] = account.releases[name] = made
        account.add(charge)

    def _charge(self, stated: ChargeStated) -> Charge:
        """The charge; releases under one allocation have the same one, which is made once."""
        known = self._charges.get(stated["allocation_sha256"])
        if known is None or known[0] != stated:
            known = self._charges[stated["allocation_sha256"]] = (stated, Charge.from_dict(stated))
        return known[1]

    def _reserved(self, release: str) -> Release:
        found = self.releases.get(release)
        if found is None or found.status != "reserved":
            raise ValueError(f"the release {release!r} is not reserved")
        return found

    def _close(self, release: str, status: Status) -> Release:
        found = self._reserved(release)
        found.status, found.closed = status, self.count
        return found

    def _give_back(self, release: str) -> None:
        found = self._close(release, "void")
        self.accounts[found.dataset].take_back(found.charge)

    def _begun(self, event: events.Begun) -> None:
        self._reserved(event["release"]).begun = True

    def _confirm(self, event: events.Confirm) -> None:
        found = self._close(event["release"], "confirmed")
        self.accounts[found.dataset].cells.setdefault(event["cells"], found.number)

    def _void(self, event: events.Void) -> None:
        if self._reserved(event["release"]).begun:
            raise ValueError(f"the release {event['release']!r} was drawn")
        self._give_back(event["release"])

    def _repeat(self, event: events.Repeat) -> None:
        if event["cells"] not in self._account(event["dataset"]).cells:
            raise ValueError("it repeats a release that is not there")
        if "release" in event:
            if self._reserved(event["release"]).dataset != event["dataset"]:
                raise ValueError(f"the release {event['release']!r} is of another data set")
            self._give_back(event["release"])

    def _data(self, event: events.Data) -> None:
        self._account(event["dataset"]).fingerprints.update(event["fingerprints"])

    def _acknowledge(self, event: events.Acknowledge) -> None:
        self._account(event["dataset"]).warnings.add(event["warning"])

    def _older(self, event: events.Older) -> None:
        """It changes nothing, and stays on record."""
