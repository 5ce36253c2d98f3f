"""The one exception tree: what is wrong, which value, which limit, and the way out.

Values of a problem file or of an argument are public and are printed; a cell of a table never is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

_LONGEST = 80
"""Characters of a value in a message."""
_LEVELS = 20
"""Lists within each other, of a value in a message."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a document: where, which value, which limit, what to do."""

    where: str
    value: object
    limit: str
    remedy: str

    def __str__(self) -> str:
        # a name in a path may be anything that somebody wrote into a file
        where = self.where if self.where.isprintable() else repr(self.where)
        # "income is not an attribute" reads better than "is income, is not an attribute"
        joined = self.limit.startswith("is ") and self.value is not MISSING
        verb, link = ("", " ") if joined else ("is ", ", ")
        return f"{where}: {verb}{_shown(self.value)}{link}{self.limit}. {self.remedy}"


def _shown(value: object) -> str:
    """A value as it would stand in a file, cut where it is long."""
    text = _text(value, _LEVELS)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _text(value: object, levels: int) -> str:
    """A value with tuples as lists, to so many levels; little more of it is read than is shown."""
    if isinstance(value, dict):
        pairs = (f"{key!r}: {_text(item, levels - 1)}" for key, item in value.items())
        return f"{{{_joined(pairs)}}}" if levels else "{...}"
    if isinstance(value, list | tuple):
        return f"[{_joined(_text(item, levels - 1) for item in value)}]" if levels else "[...]"
    try:
        return repr(value)
    except RecursionError:  # of what lies within itself, or nearly so
        return f"a {type(value).__name__}"


def _joined(texts: Iterable[str]) -> str:
    """The first of these with commas, up to one that is not shown."""
    found, length = [], 0
    for text in texts:
        found.append(text)
        length += len(text) + 2
        if length > _LONGEST:
            break
    return ", ".join(found)


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()
"""Stands for the value of a field that is not there."""


class BudgetOptError(Exception):
    """The root of all errors of budget_opt; `exit_code` is what the command line returns."""

    exit_code = 2


class InputError(BudgetOptError, ValueError):
    """A file or an argument that cannot be used; `faults` lists everything that is wrong with it."""

    subject = "the input"

    def __init__(self, message: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    def reworded(self, message: str) -> Self:
        """The same error with another message."""
        # not by copy: it would call the class with the message alone, which some need more than
        said = type(self).__new__(type(self), message)
        vars(said).update(vars(self))
        return said

    @classmethod
    def from_faults(cls, faults: Iterable[Fault], subject: str | None = None) -> InputError:
        """One error for all faults of a document, a line each."""
        listed = tuple(faults)
        count = "1 fault" if len(listed) == 1 else f"{len(listed)} faults"
        lines = "".join(f"\n  {fault}" for fault in listed)
        return cls(f"{subject or cls.subject} has {count}:{lines}", listed)


class ProblemError(InputError):
    """A problem that is not well formed."""

    subject = "the problem"


class AllocationError(InputError):
    """An allocation file that is not well formed, or does not agree with itself."""

    subject = "the allocation"


class CertificateError(InputError):
    """A certificate file that cannot be read as one; one that is read and proves too little is none."""

    subject = "the certificate"


class DataError(InputError):
    """A table that does not fit the declared domains: column, count and rows, never a value."""

    subject = "the table"

    def __init__(
        self,
        message: str,
        faults: Iterable[Fault] = (),
        *,
        column: str | None = None,
        count: int = 0,
        rows: tuple[int, ...] = (),
    ) -> None:
        super().__init__(message, faults)
        self.column, self.count, self.rows = column, count, rows


class NoiseError(InputError):
    """An estimate that would be noise: its error is above the stated limit, so it is not returned.

    `standard_error` and `limit` are in the unit of what was to be estimated, `what` names it.
    """

    subject = "the estimate"

    def __init__(self, message: str, *, what: str, standard_error: float, limit: float) -> None:
        super().__init__(message)
        self.what = what
        self.standard_error = standard_error
        self.limit = limit


class RandomSourceError(BudgetOptError):
    """The source of random words failed or gave too little; nothing was written."""


ConstraintKind = Literal[
    "floor", "ceiling", "total_epsilon", "group", "epsilon_max", "epsilon_min", "epsilon"
]
"""What a constraint is, by the field of the problem that states it; `epsilon` is a pin."""


@dataclass(frozen=True)
class ConflictMember:
    """One constraint of a conflict: `str` gives it in words, such as "smoker x income >= 0.2".

    `name` is of the moment, the group or the attribute; `limit` the number in the problem (a retention, or
    nats). `multiplier` >= 0 says how much it presses: the derivative of the logarithm of the largest common
    factor on the conflict's floors by the logarithm of this limit; None where no factor would do.
    `enough` is a limit that makes the whole problem possible if this one alone is changed (rounded to
    the safe side), or this one and the total, to `enough_total`, where that is stated; None where none does,
    or where none was found in time. `also` are the other members of the attribute's cluster whose own pins or
    bounds must follow to `enough`: a cluster has one epsilon. Where the least epsilon is that of a
    `distortion_max`, `distortion` is that share, and `enough_distortion` the one that would do.
    """

    kind: ConstraintKind
    name: str
    limit: float
    multiplier: float | None = None
    enough: float | None = None
    enough_total: float | None = None
    also: tuple[str, ...] = ()
    distortion: float | None = None
    enough_distortion: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON, and the member in words; those that are rarely there only where they are."""
        plain = {"text": str(self), **vars(self)}
        rare = {name: plain.pop(name) for name in ("also", "distortion", "enough_distortion")}
        rare["also"] = list(rare["also"])
        return {**plain, **{name: value for name, value in rare.items() if value}}

    def __str__(self) -> str:
        said = _IN_WORDS[self.kind].format(self.name, f"{self.limit:.12g}")
        return said if self.distortion is None else f"{said} (of distortion_max {self.distortion:g})"


_IN_WORDS: dict[ConstraintKind, str] = {
    "floor": "{} >= {}",
    "ceiling": "{} <= {}",
    "group": "group {} <= {}",
    "total_epsilon": "{} {}",
    "epsilon_max": "upper bound of {} {}",
    "epsilon_min": "lower bound of {} {}",
    "epsilon": "pin of {} {}",
}


@dataclass(frozen=True)
class LoweredFloor:
    """A floor, and the lower one that would do once all those listed with it are lowered."""

    name: str
    floor: float
    lowered: float


@dataclass(frozen=True)
class Infeasibility:
    """Why a problem is impossible, and what would do. All numbers are proved; None means that none is.

    `conflict`: constraints that cannot hold together, the largest multipliers first; where `irreducible`,
    dropping any one of them is shown to make the others possible. `total` is what the problem
    allows (nats), `least_total` one that would do, `least_total_bound` what any that does is at least;
    `no_total` where it is proved that none does.
    `common_factor` on all floors would do at the given total, none above `common_factor_bound` does.
    `lowered` floors would do if the others stay. Giving up the floors and ceilings `given_up` would do,
    and no fewer than `fewest_given_up` would: the fewest that is, where both counts agree.
    `left_to_design` says what `design` could choose otherwise for the moments of the conflict; that was not
    tried, and may help or not.
    """

    conflict: tuple[ConflictMember, ...] = ()
    irreducible: bool = False
    total: float | None = None
    no_total: bool = False
    least_total: float | None = None
    least_total_bound: float | None = None
    common_factor: float | None = None
    common_factor_bound: float | None = None
    lowered: tuple[LoweredFloor, ...] = ()
    given_up: tuple[str, ...] = ()
    fewest_given_up: int = 0
    left_to_design: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON; the members of the conflict in words as well."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["conflict"] = [member.to_dict() for member in self.conflict]
        plain["lowered"] = [dict(vars(floor)) for floor in self.lowered]
        plain["given_up"] = list(self.given_up)
        plain["left_to_design"] = list(self.left_to_design)
        return plain


class InfeasibleError(BudgetOptError):
    """No split meets all floors, ceilings, bounds and budgets; `why` says what conflicts, and ways out."""

    exit_code = 3

    def __init__(self, message: str, why: Infeasibility = Infeasibility()) -> None:
        super().__init__(message)
        self.why = why

    @property
    def conflict(self) -> tuple[ConflictMember, ...]:
        """The constraints that cannot hold together, the largest multipliers first."""
        return self.why.conflict

    @property
    def least_total(self) -> float | None:
        """A total epsilon (nats) that would do; None where none is known."""
        return self.why.least_total

    @property
    def total(self) -> float | None:
        """The total epsilon (nats) that the problem allows."""
        return self.why.total


class NotSolvedError(BudgetOptError):
    """No answer within the limits; `relative_gap` is the best that was reached, if any."""

    exit_code = 4

    def __init__(self, message: str, *, relative_gap: float | None = None) -> None:
        super().__init__(message)
        self.relative_gap = relative_gap


class VerificationError(BudgetOptError):
    """A checked claim does not hold; `failed` names the checks."""

    exit_code = 1

    def __init__(self, message: str, *, failed: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.failed = failed


@dataclass(frozen=True)
class Exceeded:
    """One cap that a release would pass: `what` it is on, what is `asked` for and `left`, and the `cap`.

    `what` is "the total", "attribute income", "group health" or "delta"; the numbers are nats, but for delta,
    of one person where the data set has persons with several rows. `left` is rounded down, `asked` up.
    """

    what: str
    asked: float
    left: float
    cap: float

    def __str__(self) -> str:
        return f"{self.asked:.15g} of {self.what}, and {self.left:.15g} of {self.cap:.15g} is left"


class BudgetExceededError(BudgetOptError):
    """A release would spend more of a data set's budget than its ledger has left; nothing was charged.

    Exit code 2, as of every request that is refused before anything is done: 3 says that no split of a
    problem exists, and 1 that something that was made does not keep its promise.
    """

    def __init__(self, message: str, *, dataset: str = "", exceeded: Iterable[Exceeded] = ()) -> None:
        super().__init__(message)
        self.dataset = dataset
        self.exceeded = tuple(exceeded)

    @property
    def asked(self) -> float:
        """What was asked for of the first cap that is passed."""
        return self.exceeded[0].asked

    @property
    def left(self) -> float:
        """What is left of it."""
        return self.exceeded[0].left


class LedgerError(BudgetOptError):
    """A ledger that cannot be trusted: damaged, edited, older than what was seen, or of another version.

    `row` is the number of the first event that is wrong, None where it is the file as a whole. Nothing of
    it is mended or begun anew: what was spent is spent.
    """

    def __init__(self, message: str, *, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row
