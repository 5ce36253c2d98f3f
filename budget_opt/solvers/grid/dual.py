"""Bounds of all points of a box of the grid: the Lagrangian, which separates over the attributes.

With multipliers y >= 0 of floors, kappa >= 0 of ceilings, mu >= 0 of caps and shares q of the terms (they sum
to one; `max_min` and `min_variance`), no point of the box is worth more than

    constant + sum_m max_j [ c_m log lambda_m(j) - q_m . spread_m(j) - nu_m j step ]
             + mu . room - y . least + kappa . most        (weak duality)

For `max_min` a minimum is at most any mean; for `min_variance` log sum exp(t) >= sum q t - sum q log q. The
maxima are over the grid itself: at a single cap without floors the bound of `geometric_mean` is exact. A
cluster m has as many spreads, and entries of q_m, as moments use sets of its members.
All boxes of a batch stand in the last axis, B.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.grid.worth import Worth

_ROUNDING = 1e-13
"""Of the sum of all that is added; a thousand times what rounding may hide."""
_LARGEST_STEP = 50.0
"""Of a subgradient: what lies further off says nothing about the size of a step."""
_FURTHEST = 1.0
"""Of a bound, in logarithms, that a step aims at."""
_STEPPED = 0.5
"""Of the share that a term takes from the point found, at each step."""


@dataclass(frozen=True)
class Prices:
    """Multipliers of a batch: y (floors, B), kappa (ceilings, B), mu (C, B), shares q (T, B)."""

    floors: FloatArray
    ceilings: FloatArray
    caps: FloatArray
    shares: FloatArray

    def only(self, index: IntArray) -> Prices:
        """Those of some boxes, which may be named twice."""
        return Prices(
            self.floors[:, index], self.ceilings[:, index], self.caps[:, index], self.shares[:, index]
        )


class Bounded(NamedTuple):
    """Bounds (B,), maximizing points (n, B), and what each index loses against them, (n, N + 1, B)."""

    bound: FloatArray
    point: IntArray
    lost: FloatArray


@dataclass(frozen=True, eq=False)
class Dual:
    """The bound of one objective on one lattice."""

    worth: Worth

    @property
    def has_shares(self) -> bool:
        """True for the objectives whose terms are weighed by shares."""
        return self.worth.arrays.objective in ("max_min", "min_variance")

    def start(self, floors: FloatArray, ceilings: FloatArray, caps: FloatArray, shares: FloatArray) -> Prices:
        """Prices of one box; the shares are made to sum to one."""
        count = self.worth.terms.size if self.has_shares else 0
        even = np.full(count, 1.0 / max(count, 1))
        total = float(np.sum(shares))
        held = shares / total if count and shares.size == count and total > 0 else even
        return Prices(floors[:, None], ceilings[:, None], caps[:, None], held[:, None])

    def bound(self, prices: Prices, lower: IntArray, upper: IntArray) -> Bounded:
        """Of boxes lower <= j <= upper (n, B)."""
        lattice, worth = self.worth.lattice, self.worth
        arrays = lattice.arrays
        prices = self._without_infinite(prices, lower)
        c, spread, nu, parts = self._coefficients(prices)
        value = c[:, None, :] * lattice.log_kept[:, :, None]
        if worth.arrays.objective == "min_variance":
            for columns in self._layers:
                lost = spread[columns, None, :] * lattice.spread[columns, :, None]
                value[lattice.columns.block[columns]] -= lost
        value -= nu[:, None, :] * lattice.above[None, :, None]
        j = np.arange(lattice.above.size)[None, :, None]
        value[(j < lower[:, None, :]) | (j > upper[:, None, :])] = -np.inf
        point = np.argmax(value, axis=1)
        best = np.take_along_axis(value, point[:, None, :], axis=1)
        parts += [
            prices.caps * (lattice.room * float(lattice.step))[:, None],
            -prices.floors * lattice.least[:, None],
            prices.ceilings * lattice.most[:, None],
            best[:, 0, :],
        ]
        total = sum(np.sum(part, axis=0) for part in parts)
        size = sum(np.sum(np.abs(part), axis=0) for part in parts) + arrays.moments
        return Bounded(np.asarray(total + _ROUNDING * size), point, best - value)

    @cached_property
    def _layers(self) -> list[IntArray]:
        """The spread columns in parts, none of which has two of one attribute."""
        owner = self.worth.lattice.columns.block
        before = np.array([np.sum(owner[:j] == one) for j, one in enumerate(owner)], dtype=np.int64)
        return [np.flatnonzero(before == turn) for turn in range(int(before.max(initial=-1)) + 1)]

    def _without_infinite(self, prices: Prices, lower: IntArray) -> Prices:
        """No price of a ceiling where it would pull an attribute that may have nothing to nothing."""
        if not prices.ceilings.size:
            return prices
        c = self._coefficients(prices)[0]
        nothing = self.worth.lattice.epsilon[:, [0]] * np.ones(lower.shape[1]) == 0
        bad = np.any((c < 0) & nothing & (lower == 0), axis=0)
        return replace(prices, ceilings=np.where(bad, 0.0, prices.ceilings))

    def _coefficients(self, prices: Prices) -> tuple[FloatArray, FloatArray, FloatArray, list[FloatArray]]:
        """c (n, B), q (J, B), nu (n, B), and the constants, (rows, B) each."""
        worth, lattice = self.worth, self.worth.lattice
        arrays, kind = lattice.arrays, self.worth.arrays.objective
        boxes = prices.caps.shape[1]
        c = lattice.rows[arrays.floors].T @ prices.floors - lattice.rows[arrays.ceilings].T @ prices.ceilings
        nu = lattice.cap.T @ prices.caps
        of_terms = lattice.rows[worth.terms].T
        spread, constant = np.zeros_like(c), np.zeros((1, boxes))
        if kind == "min_epsilon":
            nu, constant = nu + 1.0, constant - worth.base
        elif kind == "geometric_mean" and worth.terms.size:
            share = worth.weight / np.sum(worth.weight)
            c, constant = c + (of_terms @ share)[:, None], constant + share @ worth.logs
        elif kind == "max_min" and worth.terms.size:
            c, constant = c + of_terms @ prices.shares, prices.shares * worth.logs[:, None]
        elif kind == "min_variance" and worth.terms.size:
            spread = worth.spread_rows.T @ prices.shares
            entropy = prices.shares * np.log(np.maximum(prices.shares, 1e-300))
            constant = entropy - prices.shares * worth.logs[:, None]
        return c, spread, nu, [constant]

    def stepped(self, prices: Prices, found: Bounded, target: float) -> Prices:
        """Prices moved against the subgradient by Polyak's step towards `target`."""
        worth, lattice = self.worth, self.worth.lattice
        kept = lattice.at(lattice.log_kept, found.point)
        gradients = [
            lattice.rows[lattice.arrays.floors] @ kept - lattice.least[:, None],
            lattice.most[:, None] - lattice.rows[lattice.arrays.ceilings] @ kept,
            (lattice.room[:, None] - lattice.cap @ found.point) * float(lattice.step),
        ]
        shares = prices.shares
        if worth.arrays.objective == "max_min":
            pull = worth.term_values(found.point)
            pull = pull - np.sum(pull * shares, axis=0)
            gradients.append(np.where((shares > 0) | (pull < 0), pull, 0.0))
        gradients = [np.clip(gradient, -_LARGEST_STEP, _LARGEST_STEP) for gradient in gradients]
        square = sum(np.sum(gradient**2, axis=0) for gradient in gradients)
        length = np.clip(found.bound - target, 0.0, _FURTHEST) / np.maximum(square, 1e-300)
        length = np.where(square > 0, length, 0.0)
        moved = [
            np.maximum(old - length * gradient, 0.0)
            for old, gradient in zip(
                (prices.floors, prices.ceilings, prices.caps), gradients[:3], strict=True
            )
        ]
        if worth.arrays.objective == "max_min":
            shares = _on_simplex(shares - length * gradients[3])
        elif worth.arrays.objective == "min_variance":
            shares = self._mixed(shares, found.point)
        return Prices(moved[0], moved[1], moved[2], shares)

    def _mixed(self, shares: FloatArray, point: IntArray) -> FloatArray:
        """The shares half way, in logarithms, to those of the terms at the point found."""
        values = self.worth.term_values(point)
        wanted = values - np.logaddexp.reduce(values, axis=0)
        logs = (1 - _STEPPED) * np.log(np.maximum(shares, 1e-300)) + _STEPPED * wanted
        mixed: FloatArray = np.exp(logs - np.logaddexp.reduce(logs, axis=0))
        return mixed


def _on_simplex(shares: FloatArray) -> FloatArray:
    """Clipped at 0 and made to sum to one, column by column."""
    clipped = np.maximum(shares, 0.0)
    total = np.sum(clipped, axis=0)
    even = 1.0 / max(len(shares), 1)
    scaled: FloatArray = np.where(total > 0, clipped / np.where(total > 0, total, 1.0), even)
    return scaled
