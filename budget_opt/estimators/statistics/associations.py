"""Cramer's V of all pairs of attributes: what a correlation matrix is for categories without an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.released import Released
from budget_opt.estimators.statistics.estimating import pair_estimate
from budget_opt.estimators.statistics.results import StatisticEstimate
from budget_opt.tables.printing import NOTHING, plain_text, text_table
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, kw_only=True, eq=False)
class Associations(Rows):
    """Cramer's V of every pair: `values` and `standard_errors` of shape (k, k), symmetric, 1 on the diagonal.

    `pairs` holds the estimates in the order of the attributes, with their intervals and notes.
    """

    attributes: tuple[str, ...]
    values: FloatArray
    standard_errors: FloatArray
    target: Target
    n: int
    pairs: tuple[StatisticEstimate, ...] = field(repr=False)
    kind: Literal["estimated"] = "estimated"

    def __getitem__(self, pair: tuple[str, str]) -> StatisticEstimate:
        """The estimate of one pair: associations["smoker", "income"]; `InputError` for another."""
        for estimate in self.pairs:
            if set(estimate.attributes) == set(pair):
                return estimate
        raise InputError(f"associations: {pair!r} is not one of the pairs. Name two of {self.attributes}.")

    def rows(self) -> list[dict[str, Any]]:
        """One row a pair, with its 95 % interval."""
        return [{"a": one.attributes[0], "b": one.attributes[1], **one.rows()[0]} for one in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """The matrix and the pairs as plain values for JSON."""
        return {
            "kind": self.kind,
            "statistic": "Cramer's V",
            "attributes": list(self.attributes),
            "values": self.values.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "target": self.target,
            "n": self.n,
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def renderable(self) -> RenderableType:
        """The matrix as a table for a rich console."""
        lines = [
            (name, *(f"{value:.2f}" if j < i else NOTHING for j, value in enumerate(row)))
            for i, (name, row) in enumerate(zip(self.attributes, self.values, strict=True))
        ]
        return text_table(("Cramer's V", *self.attributes), lines)

    def __str__(self) -> str:
        return plain_text(self.renderable())


def associations_of(
    released: Released, attributes: Sequence[str], target: Target, noise_limit: float
) -> Associations:
    """Cramer's V of all pairs of these attributes. Raises `InputError`, `NoiseError`."""
    if len(attributes) < 2:
        raise InputError("associations: fewer than two attributes are named. Name two or more.")
    pairs: dict[tuple[int, int], StatisticEstimate] = {}
    for j, second in enumerate(attributes):
        for i, first in enumerate(attributes[:j]):
            pairs[i, j] = pair_estimate(
                "Cramer's V",
                released.counts(first, second),
                released.channels_of(first, second),
                target,
                noise_limit=noise_limit,
            )
    ordered = {place: pairs[place] for place in sorted(pairs)}
    return Associations(
        attributes=tuple(attributes),
        values=_matrix({place: one.value for place, one in ordered.items()}, len(attributes), 1.0),
        standard_errors=_matrix({p: one.standard_error for p, one in ordered.items()}, len(attributes), 0.0),
        target=target,
        n=released.n,
        pairs=tuple(ordered.values()),
    )


def _matrix(pairs: Mapping[tuple[int, int], float], size: int, diagonal: float) -> FloatArray:
    matrix = np.full((size, size), diagonal)
    for (i, j), value in pairs.items():
        matrix[i, j] = matrix[j, i] = value
    return matrix
