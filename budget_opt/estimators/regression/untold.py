"""What of a regression the noise hides: categories whose estimated share is not above 0, else the terms.

Names of attributes and categories are public, and no count is told.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.regression.opening import Opened
from budget_opt.estimators.regression.symmetric import least_direction
from budget_opt.estimators.regression.terms import is_categorical
from budget_opt.estimators.releases.counting import Cells, counts_of

_NAMED = 5
_TAKES_PART = 0.3
"""The share of the largest entry of a direction from which a column counts as one that makes it."""


def untold(opened: Opened, matrix: FloatArray) -> str:
    """Which categories or columns leave the `matrix` of the columns without a positive definite estimate."""
    empty = list(_empty_categories(opened))
    if empty:
        return (
            f"the estimated share of {_listed(empty)} is not above 0, by noise or because there are none. "
            "Merge such categories with others, or leave their attribute out"
        )
    labels, diagonal = opened.columns.labels, np.diag(matrix)
    flat = [label for label, square in zip(labels, diagonal, strict=True) if square <= 0]
    if flat:
        return f"the estimated mean square of {_listed(flat)} is not above 0"
    direction = np.abs(least_direction(matrix))
    part = direction >= _TAKES_PART * direction.max()
    alike = [label for label, takes in zip(labels, part, strict=True) if takes]
    return f"{_listed(alike)} are not told apart"


def _empty_categories(opened: Opened) -> Iterator[str]:
    """Categories of the covariates whose corrected share is not positive, as category of attribute."""
    cells, model = opened.cells, opened.model
    factors = [factor for term in model.terms for factor in term.factors]
    used = {factor.attributes[0] for factor in factors if is_categorical(factor, opened.axes)}
    for place, name in enumerate(model.attributes):
        if name in used:
            channel, axis = opened.channels[place], opened.axes[name]
            own = Cells((cells.codes[place],), cells.rows, cells.weights, cells.squares)
            shares = channel.corrected(counts_of(own, [name], [channel.cardinality]).shares)
            yield from (
                f"{text} of {name}" for text, share in zip(axis.texts, shares, strict=True) if share <= 0
            )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
