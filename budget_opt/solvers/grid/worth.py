"""What points of a grid are worth: the objective's logarithm, and by how much floors and ceilings fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.solvers.grid.lattice import Lattice
from budget_opt.solvers.reduction import alive

_SOFT = 50.0
"""Sharpness of the soft minimum that tells points of the same minimum apart."""
_HINT = 1e-6
"""Weight of what is only a hint of the better point."""


@dataclass(frozen=True, eq=False)
class Worth:
    """The objective of `arrays` on a lattice, to be maximized, in the units of `certificate.convex`.

    That is its logarithm, the negative where it is minimized, and minus epsilon for `min_epsilon`.
    `kept` are objectives of earlier levels, each with the least worth that it must have.
    """

    lattice: Lattice
    arrays: Arrays
    kept: Sequence[tuple[Worth, float]] = ()

    @cached_property
    def terms(self) -> IntArray:
        """The moments that the objective counts."""
        return np.flatnonzero(alive(self.arrays) > 0)

    @cached_property
    def weight(self) -> FloatArray:
        """Their weights."""
        weights: FloatArray = alive(self.arrays)[self.terms]
        return weights

    @cached_property
    def logs(self) -> FloatArray:
        """What is added to the logarithm of every term: of weights, variances, targets, and pins."""
        terms, offset = self.terms, self.lattice.offset[self.terms]
        if self.arrays.objective == "min_variance":
            return np.log(self.weight * self.arrays.variance[terms]) + self.lattice.spread_offset[terms]
        if self.arrays.objective == "weighted_sum":
            return np.log(self.weight) + offset
        if self.arrays.objective == "max_min":
            return offset - np.log(self.arrays.target[terms])
        return offset + np.log(self.arrays.detail[terms])

    @cached_property
    def rows(self) -> FloatArray:
        """Which of the terms has which free attribute, (T, n)."""
        return self.lattice.rows[self.terms]

    @cached_property
    def spread_rows(self) -> FloatArray:
        """Which of the terms has which spread column, (T, J)."""
        return self.lattice.spread_rows[self.terms]

    @cached_property
    def pull(self) -> FloatArray:
        """The part of all weight that needs each free attribute, (n,)."""
        shared: FloatArray = self.weight @ self.rows / np.sum(self.weight)
        return shared

    @cached_property
    def base(self) -> float:
        """Nats that are spent whatever the point."""
        lattice = self.lattice
        return float(np.sum(lattice.fixed) + np.sum(lattice.epsilon[:, 0]))

    def of(self, index: IntArray) -> FloatArray:
        """The worth of points (n, S), shape (S,)."""
        if self.arrays.objective == "geometric_mean" and self.terms.size:
            # a sum over the attributes, far cheaper than one over all terms
            kept = self.lattice.at(self.lattice.log_kept, index)
            mean: FloatArray = self.pull @ kept + float(self.weight @ self.logs / np.sum(self.weight))
            return mean
        if self.arrays.objective == "min_epsilon":
            spent: FloatArray = -self.base - float(self.lattice.step) * np.sum(index, axis=0)
            return spent
        if not self.terms.size:
            return np.zeros(index.shape[1])
        return self._of_terms(self.term_values(index))

    def term_values(self, index: IntArray) -> FloatArray:
        """The logarithm of every term at points (n, S), shape (T, S)."""
        lattice = self.lattice
        if self.arrays.objective == "min_variance":
            lost = self.spread_rows @ lattice.at(lattice.spread, index[lattice.columns.block])
            return np.asarray(lost + self.logs[:, None])
        values: FloatArray = self.rows @ lattice.at(lattice.log_kept, index) + self.logs[:, None]
        return values

    def _of_terms(self, values: FloatArray) -> FloatArray:
        """The same from the values of the terms (T, S)."""
        if self.arrays.objective == "max_min":
            least: FloatArray = np.min(values, axis=0)
            return least
        total: FloatArray = np.logaddexp.reduce(values, axis=0)
        return total if self.arrays.objective == "weighted_sum" else -total

    def missing(self, index: IntArray) -> FloatArray:
        """By how much floors, ceilings and earlier levels fail together at points (n, S); 0 where nothing."""
        lattice = self.lattice
        kept = lattice.at(lattice.log_kept, index)
        floors, ceilings = lattice.arrays.floors, lattice.arrays.ceilings
        missing: FloatArray = np.sum(
            np.maximum(lattice.least[:, None] - lattice.rows[floors] @ kept, 0.0), axis=0
        )
        missing += np.sum(np.maximum(lattice.rows[ceilings] @ kept - lattice.most[:, None], 0.0), axis=0)
        for worth, least in self.kept:
            missing += np.maximum(least - worth.of(index), 0.0)
        return missing

    def hints(self, index: IntArray) -> FloatArray:
        """A small number (S,) that is larger where a further move will find more."""
        if self.arrays.objective == "max_min" and self.terms.size:
            soft = np.logaddexp.reduce(-_SOFT * self.term_values(index), axis=0)
            hint: FloatArray = -_HINT * soft / _SOFT
            return hint
        if self.arrays.objective == "min_epsilon" and self.lattice.arrays.floors.size:
            lattice = self.lattice
            kept = lattice.rows[lattice.arrays.floors] @ lattice.at(lattice.log_kept, index)
            slack = np.minimum(kept - lattice.least[:, None], 1.0)
            return np.asarray(_HINT * np.mean(slack, axis=0))
        return np.zeros(index.shape[1])
