"""The variance factors of the free blocks: a cluster has one for each set of its members that moments use.

No moment has two factors of one block, so that a row of factors is a row of blocks with slopes of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.solvers.factor import Coupling
from budget_opt.solvers.incidence import Incidence


@dataclass(frozen=True)
class Columns:
    """J columns that are functions of n = `size` free blocks.

    `taken` (J,) are their indices among the spread columns of the problem, `block` (J,) says which of the
    free blocks each is a function of.
    """

    taken: IntArray
    block: IntArray
    size: int

    @classmethod
    def of(cls, arrays: Arrays, free: IntArray) -> Columns:
        """Those of these blocks (n,), in increasing order."""
        taken = np.flatnonzero(np.isin(arrays.spread_block, free))
        return cls(taken, np.searchsorted(free, arrays.spread_block[taken]), int(free.size))

    @cached_property
    def one_each(self) -> bool:
        """True where the columns are the blocks themselves, as without clusters."""
        return bool(np.array_equal(self.block, np.arange(self.size)))

    def gathered(self, columns: FloatArray) -> FloatArray:
        """Numbers of the columns (J,) summed over the columns of each block (n,)."""
        return np.bincount(self.block, weights=columns, minlength=self.size).astype(np.float64, copy=False)

    def coupling(self, rows: Incidence, weight: FloatArray, slope: FloatArray) -> Coupling:
        """The coupling of blocks by rows (R, J) with these slopes (J,)."""
        if self.one_each:
            return Coupling(rows, weight, slope)
        return Coupling(Folded(rows, slope, self), weight, np.ones(self.size))


@dataclass(frozen=True)
class Folded:
    """Rows (R, J) of columns with these slopes (J,), seen as rows of blocks."""

    rows: Incidence
    slope: FloatArray
    columns: Columns

    def gram(self, weight: FloatArray) -> FloatArray:
        """As that of `Incidence`, for the derivatives of the rows by the blocks, (n, n)."""
        n = self.columns.size
        of_columns = self.rows.gram(weight) * self.slope * self.slope[:, None]
        first, second = self.columns.block[:, None], self.columns.block
        place = np.minimum(first, second) * n + np.maximum(first, second)
        folded = np.bincount(place.ravel(), weights=of_columns.ravel(), minlength=n * n)
        return folded.astype(np.float64, copy=False).reshape((n, n), order="F")
