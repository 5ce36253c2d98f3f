"""Cramer's V of all pairs of attributes: what a correlation matrix is for categories without an order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target, finite_or_none, sentence
from budget_opt.estimators.number_texts import estimates_columns, number_text
from budget_opt.estimators.releases.released import Released
from budget_opt.estimators.statistics.estimating import pair_estimate
from budget_opt.estimators.statistics.results import StatisticEstimate
from budget_opt.estimators.unchanging import hold_arrays
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

_PRINTED = 60
"""Pairs that are printed; rows() has all of them."""
_NAMED = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class Associations(Rows):
    """Cramer's V of every pair: `values` and `standard_errors` of shape (k, k), symmetric, 1 on the diagonal.

    `pairs` holds the estimates in the order of the attributes, with their intervals and notes. A pair that
    would be noise is withheld: it is NaN, is not among the `pairs`, and `notes` name it.
    """

    attributes: tuple[str, ...]
    values: FloatArray
    standard_errors: FloatArray
    target: Target
    n: int
    pairs: tuple[StatisticEstimate, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def __post_init__(self) -> None:
        hold_arrays(self)

    def __getitem__(self, pair: tuple[str, str]) -> StatisticEstimate:
        """The estimate of one pair: associations["smoker", "income"]; `InputError` for another."""
        for estimate in self.pairs:
            if set(estimate.attributes) == set(pair):
                return estimate
        withheld = "".join(f" {sentence(note)}" for note in self.notes)
        raise InputError(
            f"associations: {pair!r} is not one of the pairs. Name two of {self.attributes}.{withheld}"
        )

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One row a pair that is not withheld, with its interval at `level`."""
        return [
            {"a": one.attributes[0], "b": one.attributes[1], **row}
            for one in self.pairs
            for row in one.rows(level)
        ]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The matrix and the pairs as plain values for JSON; null in the matrix where a pair is withheld."""
        return {
            "kind": self.kind,
            "statistic": "Cramer's V",
            "attributes": list(self.attributes),
            "values": _plain(self.values),
            "standard_errors": _plain(self.standard_errors),
            "target": self.target,
            "n": self.n,
            "level": level,
            "pairs": [pair.to_dict(level) for pair in self.pairs],
            "notes": list(self.notes),
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """The matrix and the pairs with their errors, for a rich console."""
        from rich.console import Group
        from rich.text import Text

        from budget_opt.tables.wide import Column, WideTable

        rows = self.rows(level)[:_PRINTED]
        pairs = Column("pair", [f"{row['a']} x {row['b']}" for row in rows])
        listed = WideTable(pairs, estimates_columns("Cramer's V", rows, level))
        return Group(*self._matrix(), listed, *map(Text, self._told()))

    def __str__(self) -> str:
        return plain_text(self.renderable())

    def _told(self) -> Iterator[str]:
        """What stands below the pairs."""
        yield f"n = {self.n:,}, target {self.target}; standard errors are estimated."
        yield from map(sentence, self.notes)
        if len(self.pairs) > _PRINTED:
            yield f"{len(self.pairs) - _PRINTED:,} more pairs are in rows()."
        beyond = [" x ".join(one.attributes) for one in self.pairs if one.value > one.largest]
        if beyond:
            yield f"Above 1, which no V can be, as it may be by chance: {_listed(beyond)}."
        noted = sum(not set(one.notes) <= set(self.notes) for one in self.pairs)
        if noted:
            yield (
                f"{noted} of {len(self.pairs)} pairs have notes, such as cells near 0 by which an interval "
                "covers less: rows() and write() have them."
            )

    def _matrix(self) -> Iterator[RenderableType]:
        """The lower half, where there are more than two attributes."""
        from budget_opt.tables.wide import Column, WideTable

        size = len(self.attributes)
        if size < 3:
            return
        shown = np.where(np.tri(size, k=-1, dtype=bool), self.values, math.nan)
        columns = [
            Column(name, [number_text(finite_or_none(value), 2) for value in shown[:, place]])
            for place, name in enumerate(self.attributes[:-1])
        ]
        below = [Column(one.heading, one.cells[1:]) for one in columns]
        yield WideTable(Column("Cramer's V", self.attributes[1:]), below)


def associations_of(
    released: Released, attributes: Sequence[str], target: Target, noise_limit: float
) -> Associations:
    """Cramer's V of all pairs of these attributes.

    Raises `InputError` for fewer than two attributes, `NoiseError` where every pair would be noise.
    """
    if len(attributes) < 2:
        raise InputError("associations: fewer than two attributes can be compared. Name two or more.")
    size = len(attributes)
    values, errors = np.eye(size), np.zeros((size, size))
    pairs: list[StatisticEstimate] = []
    noise: list[NoiseError] = []
    for i, j in combinations(range(size), 2):
        names = (attributes[i], attributes[j])
        counts, channels = released.counts(*names), released.channels_of(*names)
        value = error = math.nan
        try:
            one = pair_estimate("Cramer's V", counts, channels, target, noise_limit=noise_limit)
        except NoiseError as refused:
            noise.append(refused)
        else:
            pairs.append(one)
            value, error = one.value, one.standard_error
        values[i, j] = values[j, i] = value
        errors[i, j] = errors[j, i] = error
    if not pairs:
        raise min(noise, key=lambda one: one.standard_error / one.limit)
    return Associations(
        attributes=tuple(attributes),
        values=values,
        standard_errors=errors,
        target=target,
        n=released.n,
        pairs=tuple(pairs),
        notes=(*_withheld(noise, noise_limit), *released.notes_of(*attributes)),
    )


def _withheld(noise: Sequence[NoiseError], noise_limit: float) -> tuple[str, ...]:
    if not noise:
        return ()
    named = _listed([one.what.removeprefix("Cramer's V of ") for one in noise])
    why = (
        f"withheld, since the error is above {noise_limit:g} times the largest value there can be, or the "
        "rows are too few for the cells"
    )
    return (f"{why}: {named}. A larger noise limit shows them",)


def _listed(pairs: Sequence[str]) -> str:
    more = f" and {len(pairs) - _NAMED} more" if len(pairs) > _NAMED else ""
    return f"{', '.join(pairs[:_NAMED])}{more}"


def _plain(matrix: FloatArray) -> list[list[float | None]]:
    return [[finite_or_none(number) for number in line] for line in matrix.tolist()]
