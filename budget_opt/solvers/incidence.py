"""Which attributes a row has, and the three sums that a Newton step needs of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from budget_opt.model.arrays import FloatArray, IntArray

_DENSE = 2**16
"""Entries up to which a dense matrix is faster than a sparse one."""


@dataclass(frozen=True)
class Incidence:
    """Rows (R, n) whose entries are all 1 or all -1 within a row."""

    rows: csr_array

    @cached_property
    def _forward(self) -> FloatArray | csr_array:
        return self.rows.toarray() if self.rows.shape[0] * self.rows.shape[1] <= _DENSE else self.rows

    @cached_property
    def _backward(self) -> FloatArray | csr_array:
        forward = self._forward
        return np.ascontiguousarray(forward.T) if isinstance(forward, np.ndarray) else csr_array(forward.T)

    def sums(self, values: FloatArray) -> FloatArray:
        """rows values, for (n,): shape (R,)."""
        summed: FloatArray = self._forward @ values
        return summed

    def pulls(self, weight: FloatArray) -> FloatArray:
        """rows^T weight, for (R,): shape (n,)."""
        pulled: FloatArray = self._backward @ weight
        return pulled

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        """The row, and the place in a flat lower triangle by columns, of each pair of a row's attributes."""
        n = self.rows.shape[1]
        starts, sizes = self.rows.indptr[:-1], np.diff(self.rows.indptr)
        owners, places = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            members = self.rows.indices[starts[alike][:, None] + np.arange(size)].astype(np.intp)
            first, second = np.tril_indices(size)
            pair = members[:, first], members[:, second]
            owners.append(np.repeat(alike, first.size))
            places.append((np.minimum(*pair) * n + np.maximum(*pair)).ravel())
        return np.concatenate(owners), np.concatenate(places)

    def gram(self, weight: FloatArray) -> FloatArray:
        """The lower triangle of rows^T diag(weight) rows, (n, n) for weights (R,), in LAPACK's order."""
        n = self.rows.shape[1]
        owner, place = self._pairs
        gram = np.bincount(place, weights=weight[owner], minlength=n * n).astype(np.float64, copy=False)
        return gram.reshape((n, n), order="F")
