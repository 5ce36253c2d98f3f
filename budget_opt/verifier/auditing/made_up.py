"""Made-up records as a table, from codes: values from the declared domains, no data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from budget_opt.allocation import Allocation
from budget_opt.model.domain import Domain
from budget_opt.verifier.auditing.rows import Codes

MISSING_VALUE = "a missing value"
_TYPES = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "bins": pa.float64()}


class MadeUp:
    """Makes tables for one allocation: every attribute a column, and public columns with the row's number."""

    def __init__(self, allocation: Allocation) -> None:
        self._cells = {attribute.name: cells(attribute.domain) for attribute in allocation.attributes}
        self._public = allocation.public

    def table(self, truths: Codes) -> pa.Table:
        """The records of these codes, which are in the order of the allocation's attributes."""
        columns = {
            name: values.take(pa.array(codes))
            for (name, values), codes in zip(self._cells.items(), truths, strict=True)
        }
        return pa.table(columns | {name: np.arange(truths.shape[1]) for name in self._public})


def cells(domain: Domain) -> pa.Array:
    """A cell of an original for each code: its label, or a number in the bin; null where it is missing.

    Of merged categories the first declared one.
    """
    if domain.fine is not None:
        return cells(domain.fine).take(
            pa.array([domain.codes.index(code) for code in range(domain.cardinality)])
        )
    values: Sequence[Any] = domain.labels
    if domain.edges is not None:
        bins = [_inside(low, high) for low, high in zip(domain.edges, domain.edges[1:], strict=False)]
        values = [*bins, None] if domain.missing is not None else bins
    return pa.array(values, type=_TYPES[domain.kind])


def undeclared(domain: Domain) -> dict[str, Any]:
    """Values of the domain's type that are in no category, by what they are; `missing` is None."""
    domain = domain.fine or domain
    values: dict[str, Any] = {}
    declared = [label for label in domain.labels if label is not None]
    if domain.kind == "text":
        unseen = "undeclared"
        while unseen in declared:
            unseen += "_"
        values["an undeclared label"] = unseen
        if f"{declared[0]} " not in declared:
            values["a label with a blank behind it"] = f"{declared[0]} "
    elif domain.kind == "integer":
        values["an undeclared integer"] = max(label for label in declared if isinstance(label, int)) + 1
    elif domain.edges is not None and np.isfinite(domain.edges[-1]):
        values["a number above the bins"] = domain.edges[-1] + 1.0
    if domain.missing is None:
        values[MISSING_VALUE] = None
    return values


def _inside(low: float, high: float) -> float:
    if np.isinf(low):
        return high - 1.0 if np.isfinite(high) else 0.0
    return low if np.isinf(high) else (low + high) / 2
