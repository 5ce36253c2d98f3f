"""The functions of a regression in units in which nothing overflows and little cancels.

With an intercept every function of one attribute is centred at the middle of its range, which changes the
intercept alone, but for indicators, whose products are 0 as they are (`features`); every function is divided
by its largest size, so that all lie in [-1, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.regression.features import Functions
from budget_opt.estimators.regression.terms import Column

LARGEST_OUTCOME, LARGEST_COLUMN = 1e101, 1e50
"""Sizes, whose inverses are the smallest: fourth powers of columns, squares of ratios are doubles then."""


@dataclass(frozen=True)
class Basis:
    """The outcome and the columns as `functions` in their units.

    From the coefficients b in these, those as written are unit x functionals @ b, and `shift` more in the
    first.
    """

    functions: tuple[Functions, ...]
    functionals: FloatArray
    unit: float
    shift: float

    def coefficients(self, b: FloatArray) -> FloatArray:
        """The coefficients of the columns as they are written."""
        return self.written(self.functionals @ b)

    def written(self, values: FloatArray) -> FloatArray:
        """The same from what the functionals give."""
        coefficients: FloatArray = self.unit * values
        coefficients[0] += self.shift
        return coefficients


def basis_of(name: str, outcome: FloatArray, columns: Sequence[Column], *, intercept: bool) -> Basis:
    """The basis of an outcome, a function of the attribute `name`, and of columns, an intercept first.

    Raises `InputError` where values are larger than `LARGEST_OUTCOME` or `LARGEST_COLUMN`, or all of them
    smaller than the inverse.
    """
    shift, unit = _range(outcome, intercept)
    _require_size(f"the outcome {name}", unit, LARGEST_OUTCOME)
    functions: list[Functions] = [{name: (outcome - shift) / unit}]
    functionals = np.zeros((len(columns), len(columns)))
    for place, column in enumerate(columns):
        centre, scale = 0.0, 1.0
        if len(column.functions) == 1:
            ((attribute, values),) = column.functions.items()
            centre, scale = _range(values, intercept and int(np.count_nonzero(values)) > 1)
            _require_size(f"column {column.label}", scale, LARGEST_COLUMN)
            functions.append({attribute: (values - centre) / scale})
        else:
            ranges = {attribute: _range(values, False)[1] for attribute, values in column.functions.items()}
            scale = math.prod(ranges.values())
            _require_size(f"column {column.label}", scale, LARGEST_COLUMN)
            functions.append(
                {attribute: column.functions[attribute] / one for attribute, one in ranges.items()}
            )
        functionals[place, place] = 1 / scale
        functionals[0, place] -= centre / scale
    return Basis(tuple(functions), functionals, unit, shift)


def _require_size(what: str, size: float, largest: float) -> None:
    if not 1 / largest <= size <= largest:
        raise InputError(
            f"the regression: {what} has values up to {size:.3g} in size (with an intercept, from the middle "
            f"of their range), which must be from {1 / largest:.3g} to {largest:.3g}. Multiply it by a "
            "constant: coefficients are multiplied or divided by the same."
        )


def _range(values: FloatArray, centred: bool) -> tuple[float, float]:
    """The middle of the values, or 0, and the largest distance from it; 1 where that is 0."""
    low, high = float(values.min()), float(values.max())
    centre = low / 2 + high / 2 if centred else 0.0
    return centre, max(high - centre, centre - low) or 1.0
