"""The one exception tree: what is wrong, which value, which limit, and the way out.

Values of a problem file or of an argument are public and are printed; a cell of a table never is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
    if value is MISSING:
        return "missing"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


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

    @classmethod
    def from_faults(cls, faults: Iterable[Fault], subject: str | None = None) -> InputError:
        """One error for all faults of a document, a line each."""
        listed = tuple(faults)
        count = "1 fault" if len(listed) == 1 else f"{len(listed)} faults"
        lines = "".join(f"\n  {fault}" for fault in listed)
        return cls(f"{subject or cls.subject} has {count}:{lines}", listed)


class ProblemError(InputError):
    """A problem that is not well formed (DESIGN 3.1)."""

    subject = "the problem"


class AllocationError(InputError):
    """An allocation file that is not well formed, or does not agree with itself (DESIGN 3.2)."""

    subject = "the allocation"


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


class RandomSourceError(BudgetOptError):
    """The source of random words failed or gave too little; nothing was written."""


class InfeasibleError(BudgetOptError):
    """No split meets all floors, bounds and budgets.

    `least_total` is the least total epsilon (nats) that would do, `total` what the problem allows,
    `conflicts` names the constraints that are in each other's way.
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        least_total: float | None = None,
        total: float | None = None,
        conflicts: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.least_total, self.total, self.conflicts = least_total, total, conflicts


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
