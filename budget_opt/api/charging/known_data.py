"""Whether a data set of the ledger has been known under another name: told before anything is drawn (R22)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from budget_opt.ledger.ledger import Ledger

if TYPE_CHECKING:
    from budget_opt.model.domain import Domain
    from budget_opt.tables.counting import AnyCodes
    from budget_opt.tables.fingerprints import Fingerprint, Likeness

_DATA = "data of a release"
"""The purpose of the keyed hash."""


class DataMarks:
    """The marks of the rows that `add` is shown, beside those of the other data sets of a ledger.

    Without rows there are none: then nothing is told, and nothing is remembered. `tell` takes the warning.
    """

    def __init__(
        self, ledger: Ledger, dataset: str, domains: Mapping[str, Domain], tell: Callable[[str], None]
    ) -> None:
        from budget_opt.tables.fingerprints import Fingerprinter

        self.names = tuple(domains)
        """The columns."""
        self._ledger, self._dataset, self._tell = ledger, dataset, tell
        self._maker, self._seen = Fingerprinter(domains, ledger.keyed(_DATA).copy), False
        self._warnings: list[str] = []

    def add(self, codes: Mapping[str, AnyCodes]) -> None:
        """Take the codes of the next rows."""
        self._maker.add(codes)
        self._seen = True

    def warn(self) -> None:
        """Say where another data set has such data."""
        if not self._seen:
            return
        found = likenesses(self._ledger, self._dataset, self._maker.fingerprint())
        self._warnings = [
            f"its data {likeness} data that {other!r} paid for" for other, likeness in found.items()
        ]
        for said in self._warnings:
            self._tell(
                f"warning: {self._dataset!r}: {said}, as far as keyed marks tell. If the people are the "
                "same, they have one budget: charge every release of them to one data set."
            )

    def remember(self) -> None:
        """Record the marks, and the warning that was given."""
        if not self._seen:
            return
        for said in self._warnings:
            self._ledger.acknowledge(self._dataset, said)
        self._ledger.remember(self._dataset, [self._maker.fingerprint().text])


def likenesses(ledger: Ledger, dataset: str, marks: Fingerprint) -> dict[str, Likeness]:
    """The other data sets of a ledger that paid for such data, and what they share."""
    from budget_opt.tables.fingerprints import Fingerprint

    found: dict[str, Likeness] = {}
    for other, texts in ledger.fingerprints(besides=dataset).items():
        for text in sorted(texts):
            likeness = marks.likeness(Fingerprint.from_text(text))
            if likeness is not None:
                found[other] = likeness
    return found
