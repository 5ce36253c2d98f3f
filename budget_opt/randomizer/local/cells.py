"""One value to its code: the same type and the same value as a category, and nothing is converted.

Text equals text by code points, an integer any integer (numpy's too), a boolean a boolean. Bins take any real
number, compared as the double that it is. None and NaN are missing, whatever the categories are (R10, R11).
It is what `tables.lookup` finds in a column, but that 1.0 is no integer: a column with gaps makes numbers of
integers, a single value has no such excuse.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from budget_opt.model.domain import Domain, Kind, Label

_TYPES: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int, np.integer),
    "boolean": (bool, np.bool_),
    "bins": (int, float, Decimal, np.integer, np.floating),
}
_ASKED: dict[Kind, str] = {
    "text": "text",
    "integer": "integers (12, neither 12.0 nor text)",
    "boolean": "booleans (True or False, neither 1 nor text)",
    "bins": "bins of numbers",
}
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)
"""Types that Python or numpy count among the integers."""


class UnfitCellError(ValueError):
    """A value that has no code: what it is, never which, and the way out."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what, self.remedy = what, remedy


class Cells:
    """The codes of the values of one attribute; of merged categories the values are the declared ones."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain.fine or domain
        self._merged = domain.codes if domain.fine else range(domain.cardinality)
        self._codes = {label: code for code, label in enumerate(self._domain.labels) if label is not None}

    def code(self, value: Any) -> int:
        """The code of a value; `UnfitCellError` where it has none."""
        return self._merged[self._declared(value)]

    def _declared(self, value: Any) -> int:
        domain = self._domain
        if _is_missing(value):
            if domain.missing is None:
                remedy = 'Declare "missing": "category" for the attribute, or ask for the value.'
                raise UnfitCellError("missing, which is not a declared category", remedy)
            return domain.missing
        if not _fits(value, domain.kind):
            raise UnfitCellError(
                f"of type {type(value).__name__}, and its declared categories are {_ASKED[domain.kind]}",
                "Convert it, or declare the categories in the type of the values.",
            )
        return self._bin(value, domain.edges) if domain.edges is not None else self._labelled(_plain(value))

    def _labelled(self, value: Label) -> int:
        code = self._codes.get(value, self._domain.other)
        if code is None:
            raise UnfitCellError(
                f"none of the {len(self._codes)} declared categories (type, case and blanks count)",
                'Correct it, declare the category, or declare "other", a category that takes unseen values.',
            )
        return code

    @staticmethod
    def _bin(value: Any, edges: Sequence[float]) -> int:
        number = _double(value)
        if not math.isfinite(number):
            raise UnfitCellError("not a finite number", "Correct it; None stands for a missing value.")
        if not edges[0] <= number <= edges[-1]:
            raise UnfitCellError(
                f"outside the bins from {edges[0]!r} to {edges[-1]!r}",
                "Correct it, or open the outer bins with null.",
            )
        return min(bisect_right(edges, number) - 1, len(edges) - 2)  # the last bin is closed


def _is_missing(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, np.floating) and bool(np.isnan(value)))


def _fits(value: object, kind: Kind) -> bool:
    if kind != "boolean" and isinstance(value, _NO_NUMBERS):
        return False
    return isinstance(value, _TYPES[kind])


def _plain(value: Any) -> Label:
    """The value in Python's own class: another class may have its own idea of what is equal."""
    if isinstance(value, str):
        return str.__str__(value)
    return bool(value) if isinstance(value, bool | np.bool_) else int(value)


def _double(value: Any) -> float:
    """The double of a real number, infinite where there is none."""
    try:
        return float.__float__(value) if isinstance(value, float) else float(value)
    except OverflowError:
        return math.inf
