"""Failures of readers and conversions in our own words (R10, R35): theirs quote cells.

`raise ... from None` would only hide the first exception: it stays in `__context__`, with the cell. A
context manager cannot help either, since what it raises gets the exception that it handles as context.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from budget_opt.errors import BudgetOptError, InputError

T = TypeVar("T")


def translated(work: Callable[[], T], explain: Callable[[Exception], InputError]) -> T:
    """What `work` returns. Whatever it raises becomes the error that `explain` makes of it.

    That error has neither cause nor context. Errors of budget_opt pass as they are, and so does
    Python's own MemoryError, which says nothing about a table.
    """
    try:
        return work()
    except BudgetOptError:
        raise
    except Exception as failure:  # a cell may be any object, and raise anything
        if type(failure) is MemoryError:
            raise
        error = explain(failure)
    raise error
