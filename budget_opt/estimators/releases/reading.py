"""A released table read once, in batches: codes, numbers and weights, counted where that takes less room."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from budget_opt.errors import DataError
from budget_opt.estimators.releases.counting import Cells, codes_of
from budget_opt.model.domain import Domain, Label
from budget_opt.tables.counting import AnyCodes, FloatArray, IntArray, index_type, joint_sums
from budget_opt.tables.findings import Findings
from budget_opt.tables.public_columns import (
    MOST_CATEGORIES,
    SMALLEST_WEIGHT,
    PublicCategories,
    finite_numbers,
    survey_weights,
)
from budget_opt.tables.reading import encoded, encoders_for, numbered, place_in
from budget_opt.tables.source import Source

LARGEST_JOINT = 10**7
"""Cells up to which rows are counted into their joint table while they are read."""
_HELD_ROWS = 2**20
"""Rows that are held at least before they are counted: in a smaller table every row stays as it is."""


@dataclass(frozen=True)
class Wanted:
    """The columns to read: attributes by their domains, public ones as categories or numbers, the weight."""

    domains: Mapping[str, Domain]
    categories: tuple[str, ...]
    numbers: tuple[str, ...]
    weight: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column once."""
        weight = () if self.weight is None else (self.weight,)
        return tuple(dict.fromkeys((*self.domains, *self.categories, *self.numbers, *weight)))


@dataclass(frozen=True)
class ReadRows:
    """What was read: cells of `names` (attributes, then public categories), numbers a row, public labels."""

    names: tuple[str, ...]
    cells: Cells
    numbers: Mapping[str, FloatArray]
    labels: Mapping[str, tuple[Label | None, ...]]


def read_rows(table: Source, wanted: Wanted) -> ReadRows:
    """The wanted columns of all rows; raises `DataError` for all that is wrong with them, at once."""
    encoders = encoders_for(table, wanted.domains, released=True)
    values = {name: PublicCategories(name) for name in wanted.categories}
    names = (*wanted.domains, *wanted.categories)
    capacity = [domain.cardinality for domain in wanted.domains.values()] + [MOST_CATEGORIES] * len(values)
    rows = _Rows(capacity, weighted=wanted.weight is not None, countable=not wanted.numbers)
    numbers: dict[str, list[FloatArray]] = {name: [] for name in wanted.numbers}
    findings = Findings()
    for first_row, batch in numbered(table.batches(list(wanted.columns))):
        codes: dict[str, AnyCodes] = dict(encoded(batch, encoders, findings, first_row))
        for name, one in values.items():
            codes[name] = np.zeros(batch.num_rows, dtype=np.uint16)
            with findings.collecting(name):
                codes[name] = one.codes(batch.column(name))
        for name, parts in numbers.items():
            with findings.collecting(name):
                column = batch.column(name)
                parts.append(finite_numbers(column, name, findings, first_row, text=table.text))
        weights = None if wanted.weight is None else np.zeros(batch.num_rows)
        if wanted.weight is not None:
            with findings.collecting(wanted.weight):
                column = batch.column(wanted.weight)
                weights = survey_weights(column, wanted.weight, findings, first_row, text=table.text)
        rows.add([codes[name] for name in names], weights)
    findings.require_none(table.title, place_in(table))
    cells, labels = _in_order(rows.cells(), names, values)
    _require_people(cells, wanted.weight, table)
    return ReadRows(names, cells, {name: _joined(parts) for name, parts in numbers.items()}, labels)


def _joined(parts: list[FloatArray]) -> FloatArray:
    return np.concatenate([np.empty(0), *parts])


def _in_order(
    cells: Cells, names: Sequence[str], values: Mapping[str, PublicCategories]
) -> tuple[Cells, dict[str, tuple[Label | None, ...]]]:
    """The cells with public values numbered in their own order, not in that of the rows; and the values."""
    codes, labels = dict(zip(names, cells.codes, strict=True)), {}
    for name, one in values.items():
        labels[name], places = one.sorted()
        codes[name] = places[codes[name]]
    return Cells(tuple(codes.values()), cells.rows, cells.weights, cells.squares), labels


def _require_people(cells: Cells, weight: str | None, table: Source) -> None:
    if cells.n == 0:
        raise DataError(f"{table.title}: has no rows, so there is nothing to estimate from.")
    if weight is not None and cells.weights is not None and not cells.weights.max() >= SMALLEST_WEIGHT:
        raise DataError(
            f"{table.title}: column {weight!r}: no weight is above {SMALLEST_WEIGHT:g}. Is it the column of "
            "weights? Pass weight=False to count every row once.",
            column=weight,
        )


class _Rows:
    """Rows of codes, held as they come, and counted where the joint table is smaller than the rows.

    `shape` are the lengths of the table's axes. Only `countable` rows, which nothing else belongs to, are
    counted.
    """

    def __init__(self, shape: Sequence[int], *, weighted: bool, countable: bool) -> None:
        self._shape, self._weighted = tuple(shape), weighted
        self._size = math.prod(shape)
        self._countable = countable and self._size <= LARGEST_JOINT
        self._parts: list[Sequence[AnyCodes]] = []
        self._weights: list[FloatArray] = []
        self._held = 0
        self._rows: IntArray | None = None
        self._sums: list[FloatArray] = []

    def add(self, codes: Sequence[AnyCodes], weights: FloatArray | None) -> None:
        """Take one batch."""
        self._parts.append(codes)
        if weights is not None:
            self._weights.append(weights)
        self._held += codes[0].size
        if self._countable and self._held >= max(_HELD_ROWS, self._size):
            self._count()

    def cells(self) -> Cells:
        """All rows that were taken."""
        if self._countable and (self._rows is not None or self._held >= self._size):
            self._count()
        if self._rows is None:
            columns, weights = self._columns()
            return Cells(columns, None, *((weights, weights**2) if self._weighted else ()))
        present = np.flatnonzero(self._rows)
        sums = (one[present] for one in self._sums)
        return Cells(codes_of(present, self._shape), self._rows[present], *sums)

    def _columns(self) -> tuple[tuple[AnyCodes, ...], FloatArray]:
        columns = tuple(
            np.concatenate([np.empty(0, dtype=index_type(r)), *(part[place] for part in self._parts)])
            for place, r in enumerate(self._shape)
        )
        return columns, _joined(self._weights)

    def _count(self) -> None:
        """Put the rows that are held into the joint table."""
        columns, weights = self._columns()
        values: tuple[Any, ...] = (weights, weights**2) if self._weighted else ()
        rows, sums = joint_sums(columns, self._shape, values)
        flat = [table.reshape(-1) for table in sums]
        if self._rows is None:
            self._rows, self._sums = rows.reshape(-1), flat
        else:
            self._rows += rows.reshape(-1)
            for total, one in zip(self._sums, flat, strict=True):
                np.add(total, one, out=total)
        self._parts, self._weights, self._held = [], [], 0
