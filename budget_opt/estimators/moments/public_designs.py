"""Public columns in a moment or a matrix: released as they are, with a retention of 1 and no noise.

A public column of numbers takes part with its numbers. One of categories, whose order and values nobody
declared, takes part with the `scores` that are given for its values: {"wave": {"first": 0, "second": 1}}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.errors import DataError, InputError
from budget_opt.estimators.bootstrap.asked import single_rows
from budget_opt.estimators.channels import FloatArray, uniform
from budget_opt.estimators.moments.designs import Design, designs_each, from_origin, numbers_of
from budget_opt.estimators.moments.options import MomentOptions
from budget_opt.estimators.releases.counting import Cells
from budget_opt.estimators.releases.naming import require_distinct, shown
from budget_opt.estimators.releases.released import Released, open_released
from budget_opt.model.labels import Label
from budget_opt.tables.counting import AnyCodes

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


@dataclass(frozen=True)
class AskedColumns:
    """The columns of a moment or a matrix in their order, and the designs of those that are attributes."""

    names: tuple[str, ...]
    attributes: Mapping[str, Design]
    scores: Mapping[str, Any]

    @classmethod
    def of(cls, allocation: Allocation, names: Sequence[str], scores: Mapping[str, Any]) -> AskedColumns:
        """Raises `InputError` as `designs_each` does, and for public columns alone."""
        public = [name for name in names if name in allocation.public]
        randomized = [name for name in names if name not in public]
        if public:
            require_distinct(public)
        if names and not randomized:
            raise InputError(
                f"moment: {' x '.join(names)} are public columns alone, which no noise is in. Name an "
                "attribute too, or use another package."
            )
        given = {name: scores[name] for name in names if name in scores}
        own = {name: found for name, found in given.items() if name not in public}
        designs = designs_each(allocation, randomized, own)
        return cls(tuple(names), {one.name: one for one in designs}, given)

    @property
    def categories(self) -> tuple[str, ...]:
        """The columns that are read as categories: attributes, and public ones with scores."""
        return tuple(name for name in self.names if name in self.attributes or name in self.scores)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The public columns that are read as numbers."""
        return tuple(name for name in self.names if name not in self.categories)

    def opened(self, release: Released) -> tuple[tuple[Design, ...], Cells]:
        """The designs and the cells of all columns, in their order."""
        designs, codes = zip(*(self._column(name, release) for name in self.names), strict=True)
        return designs, Cells(codes, release.rows, release.weights, release.squares)

    def _column(self, name: str, release: Released) -> tuple[Design, AnyCodes]:
        if name in self.attributes:
            return self.attributes[name], release.codes[name]
        if name in self.scores:
            f = numbers_of(name, _scores_by_value(name, release.labels[name], self.scores[name]))
            return _public(name, f), release.codes[name]
        values, codes = np.unique(release.numbers[name], return_inverse=True)
        return _public(name, values), codes


def open_columns(
    released: Any, allocation: Allocation, sets: Sequence[AskedColumns], options: MomentOptions
) -> Released:
    """The release with all columns of these sets; errors about numbers say what to do with categories."""
    categories = dict.fromkeys(name for asked in sets for name in asked.categories)
    public = dict.fromkeys(name for asked in sets for name in asked.numbers)
    rows = single_rows(released, allocation, options.weight, options.bootstrap)
    numbers = list(dict.fromkeys([*rows, *public]))
    try:
        return open_released(released, allocation, list(categories), weight=options.weight, numbers=numbers)
    except DataError as failure:
        if failure.column is None or failure.column not in public:
            raise
        way_out = f"If {failure.column!r} holds categories, give {_stated(failure.column)}."
        raise DataError(
            f"{failure}\n  {way_out}", column=failure.column, count=failure.count, rows=failure.rows
        ) from None


def _stated(name: str) -> str:
    """How scores of a public column's values are given."""
    return f'scores={{"{name}": {{"first": 0, "second": 1}}}}, a number a value'


def _public(name: str, f: FloatArray) -> Design:
    """A column without noise: its background is never drawn from."""
    scores, origin = from_origin(f)
    return Design(name, 1.0, uniform(f.size), scores, origin)


def _scores_by_value(name: str, labels: Sequence[Label | None], given: object) -> list[Any]:
    """The score of each value that occurs."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"scores: those of the public column {name!r} are {shown(given)}, must map values to numbers, "
            f"like {_stated(name)}: nothing declares in which order they come."
        )
    known = {(type(value), value): score for value, score in given.items()}
    unknown = sum((type(label), label) not in known for label in labels)
    if unknown:
        raise InputError(
            f"scores: {unknown} of the {len(labels)} values of the public column {name!r} have none. Give "
            "one for every value, of its type; None stands for a missing one."
        )
    return [known[type(label), label] for label in labels]
