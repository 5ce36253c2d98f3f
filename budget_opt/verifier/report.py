"""What a verification says: one check a claim, with what was measured, the limit, and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from budget_opt.errors import VerificationError

MANY = 3
"""Checks of one name up to which each has a line in a summary."""
EXPECTED = "expected"
"""The `word` of a check that asks for equality."""
PROVED, ASSUMED = "proved", "assumed"
"""The `kind` of a check by exact arithmetic or a bound, and of one that rests on an assumption as well."""


@dataclass(frozen=True)
class Check:
    """One claim: `measured` against `limit`, whether it `holds`, and the `source` of the limit.

    `kind` is `proved` (exact arithmetic or a bound), `assumed` (exact arithmetic under an assumption that
    `source` states and the release does not show) or `tested` (a statistical test whose false-alarm
    rate the report states). `notices` is then the smallest fault that the test would notice, in words.

    For programs, `name` says which check it is, the same for every attribute or moment, and `about` names the
    attributes that it is about. `word` is what people are told that `limit` is: `EXPECTED` where the check
    asks for just that; it is left out of JSON.
    """

    claim: str
    measured: float | int | str | None
    limit: float | int | str | None
    holds: bool
    source: str
    kind: str = PROVED
    notices: str | None = None
    name: str = ""
    about: tuple[str, ...] = ()
    word: str = "limit"

    @property
    def verdict(self) -> str:
        """In a word or two: that a check holds is not said alone where it rests on an assumption."""
        if not self.holds:
            return "FAILS"
        return "holds" if self.kind != ASSUMED else "holds, as assumed"

    def __str__(self) -> str:
        noticed = f"; would notice {self.notices}" if self.notices else ""
        measured = f"{_shown(self.measured)}, {self.word} {_shown(self.limit)}"
        return f"{self.verdict}  {self.claim}: {measured} ({self.source}{noticed})"


@dataclass(frozen=True)
class Open:
    """A claim of a file that neither holds nor fails by what was given; `why` says what would decide it."""

    claim: str
    why: str

    def __str__(self) -> str:
        return f"open   {self.claim}: {self.why}"


@dataclass(frozen=True)
class VerificationReport:
    """All checks of one verification; `notes` say what was not checked, and on what it rests.

    `open` are the claims that could not be decided: they fail nothing, and nobody may say that they hold.

    A report with a `notice` was computed from the originals and must not leave the house (DESIGN 3.3).
    `provenance` is for programs what the notes say of how the problem was made (`provenance_findings`).
    """

    subject: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    false_alarm: float | None = None
    notice: str | None = None
    releasable: bool = True
    provenance: dict[str, Any] | None = None
    open: tuple[Open, ...] = ()

    @property
    def holds(self) -> bool:
        """True where every check holds; claims may be open then."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.holds)

    def require(self) -> VerificationReport:
        """The report itself; raises `VerificationError` with the failed checks."""
        if self.failed:
            lines = "".join(f"\n  {check}" for check in self.failed)
            raise VerificationError(
                f"{self.subject}: {len(self.failed)} of {len(self.checks)} checks fail:{lines}",
                failed=tuple(check.claim for check in self.failed),
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON; the notice comes first."""
        notice = {} if self.notice is None else {"notice": self.notice}
        return {
            **notice,
            "releasable": self.releasable,
            "subject": self.subject,
            "holds": self.holds,
            "false_alarm": self.false_alarm,
            "checks": [
                {name: _strict(value) for name, value in vars(check).items() if name != "word"}
                for check in self.checks
            ],
            "open": [vars(claim) for claim in self.open],
            "notes": list(self.notes),
            **({} if self.provenance is None else {"provenance": self.provenance}),
        }

    def __str__(self) -> str:
        """As text, a line a check."""
        return self.in_full

    @property
    def in_full(self) -> str:
        """As text, a line for each check."""
        return self._text([str(check) for check in self.checks])

    @property
    def summary(self) -> str:
        """As text, where many checks of one name that hold share a line; what fails has its own, first."""
        return self._text([*(str(check) for check in self.failed), *_merged(self.checks)])

    def _verdict(self) -> str:
        """In one line; that all is well is not said where a claim is open."""
        total = len(self.checks)
        if self.failed:
            verdict = f"{len(self.failed)} of {total} checks FAIL"
        else:
            assumed = sum(check.kind == ASSUMED for check in self.checks)
            verdict = f"all {total} checks hold" if self.open else "all checks hold"
            verdict += f", {assumed} as assumed" if assumed else ""
        return f"{verdict}, {_are_open(self.open)}" if self.open else verdict

    def _text(self, shown: Iterable[str]) -> str:
        rate = "" if self.false_alarm is None else f" (false-alarm rate {self.false_alarm:g})"
        lines = [] if self.notice is None else [self.notice]
        lines += [f"{self.subject}: {self._verdict()}{rate}", *(f"  {line}" for line in (*shown, *self.open))]
        return "\n".join([*lines, *(f"  note   {note}" for note in self.notes)])


def _are_open(claims: Sequence[Open]) -> str:
    count = "1 claim is open" if len(claims) == 1 else f"{len(claims)} claims are open"
    return f"{count}: {'; '.join(one.claim for one in claims)}"


def _merged(checks: Iterable[Check]) -> Iterator[str]:
    """A line for each check that holds, or one for all of a name where there are many."""
    by_name: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        if check.holds:
            by_name.setdefault((check.name or check.claim, check.kind), []).append(check)
    for alike in by_name.values():
        if len(alike) <= MANY:
            yield from map(str, alike)
        else:
            source = common_source(alike)
            yield f"{alike[0].verdict}  {alike[0].claim}, and {len(alike) - 1:,} more like it ({source})"


def listed_figures(figures: Mapping[str, object]) -> str:
    """Figures by name, each as the shortest text that is read back as it is."""
    return ", ".join(f"{name} {value!r}" for name, value in figures.items())


def common_source(alike: Sequence[Check]) -> str:
    """The source of several checks of one kind: that of the first, if need be as an example."""
    first = alike[0]
    return first.source if first.kind != ASSUMED else f"for instance {first.source}"


def _strict(value: object) -> object:
    """JSON has no infinity: an undefined number is null; and lists for tuples."""
    if isinstance(value, tuple):
        return list(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _shown(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else "-" if value is None else str(value)
