"""Prices: the derivative of the optimal value in every number of the problem that limits it.

The envelope theorem makes each a partial derivative of the Lagrangian at the optimum: mu of a budget, -y / f
of a floor f, kappa / c of a ceiling c, and for a bound that holds an attribute its own slope. They are
derivatives of `value` itself: positive where raising the number raises the value, whatever that means.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.prices.multipliers import Stationary, extent, stationary
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.model.objectives import value as objective_value

_PROGRAMS = 100
"""Active constraints up to which the two sides of all are told apart, at two linear programs each."""
_COLUMNS = 1000
"""The same for the budgets alone; beyond, a price lies between both sides."""


@dataclass(frozen=True)
class Price:
    """d value / d number: on `raising` the number a little, and on `lowering` it; mostly the same.

    Infinite where the number cannot be moved that way without making the problem impossible.
    """

    raising: float
    lowering: float


@dataclass(frozen=True)
class Prices:
    """Of all constraints, 0 where one does not bind.

    `budgets` by name, per nat; `floors` and `ceilings` by moment, per unit of retention; `bounds` one an
    attribute, per nat: of its pin, or of the epsilon_min or epsilon_max that it is held by, where an
    attribute without epsilon is held by an epsilon_min of 0. Unless `told_apart`, prices that differ
    between raising and lowering may stand as one number between both.
    """

    budgets: Mapping[str, Price]
    floors: Mapping[int, Price]
    ceilings: Mapping[int, Price]
    bounds: tuple[Price, ...]
    told_apart: bool


NOTHING = Price(0.0, 0.0)


def prices(arrays: Arrays, epsilon: FloatArray, known: Multipliers | None = None) -> Prices | None:
    """The prices at an optimal split (M,), None where it does not satisfy the optimality conditions.

    `known` multipliers of a bound save the search for them where there are thousands.

    For the convex objectives these are the derivatives of the optimum. For `weighted_sum`, and under
    ceilings for `min_variance` with stated marginals, those of the local optimum that the split is: as long
    as no other split overtakes it.
    """
    value = objective_value(arrays, epsilon)
    if not math.isfinite(value) or value == 0:
        return None
    found = stationary(arrays, epsilon, known)
    if found is None or not found.trusted:
        return None
    return _Reader(arrays, found, slope_of_value(arrays, value)).read()


def slope_of_value(arrays: Arrays, value: float) -> float:
    """d value / d Phi, where Phi is the objective in the units of `linearize`."""
    if arrays.objective == "min_epsilon":
        return -1.0
    return -value if arrays.objective == "min_variance" else value


@dataclass(frozen=True)
class _Reader:
    """Turns multipliers into prices; `scale` is d value / d Phi."""

    arrays: Arrays
    found: Stationary
    scale: float

    def read(self) -> Prices:
        arrays, on = self.arrays, self.found.conditions
        active, (_, after_shares, after_budgets) = on.active, on.active.cuts
        unique, columns = self.found.unique, on.matrix.shape[1]
        all_apart = not unique and columns <= _PROGRAMS
        one = np.ones(len(arrays.budgets))
        apart = not unique and columns <= _COLUMNS
        budgets = self._rows(active.budgets, after_shares, one, apart=apart)
        floors = self._rows(active.floors, 0, -np.exp(-arrays.log_floor) / arrays.detail, apart=all_apart)
        ceilings = self._rows(
            active.ceilings, after_budgets, np.exp(-arrays.log_ceiling) / arrays.detail, apart=all_apart
        )
        return Prices(
            {budget.name: budgets.get(j, NOTHING) for j, budget in enumerate(arrays.budgets)},
            {int(k): floors.get(int(k), NOTHING) for k in arrays.floors},
            {int(k): ceilings.get(int(k), NOTHING) for k in arrays.ceilings},
            self._bounds(apart=all_apart),
            told_apart=unique or all_apart,
        )

    def _rows(self, rows: IntArray, start: int, rate: FloatArray, *, apart: bool) -> dict[int, Price]:
        """Of active rows, whose multipliers stand from `start` on, each times its `rate`."""
        return {
            int(row): self._multiplier(start + position, float(rate[row]), apart=apart)
            for position, row in enumerate(rows)
        }

    def _multiplier(self, column: int, rate: float, *, apart: bool) -> Price:
        here = rate * float(self.found.theta[column])
        if not apart:
            return self._price(here, here)
        coefficient = np.zeros(self.found.theta.size)
        coefficient[column] = rate
        return self._price(*extent(self.found, coefficient))

    def _bounds(self, *, apart: bool) -> tuple[Price, ...]:
        on, slopes = self.found.conditions, self.found.slopes
        bounds = [NOTHING] * self.arrays.blocks
        for i in np.flatnonzero(on.at_lower | on.at_upper):
            least = largest = float(slopes[i])
            if apart:
                ends = extent(self.found, on.matrix[[i]].toarray()[0] / on.unit[i])
                least, largest = (float(end + on.gradient[i] / on.unit[i]) for end in ends)
            bounds[i] = self._price(least, largest)
        return tuple(bounds)

    def _price(self, least: float, largest: float) -> Price:
        """Phi is concave in each number: its derivative is the least on raising, the largest on lowering."""
        return Price(self.scale * least + 0.0, self.scale * largest + 0.0)  # no price is -0.0
