"""The terms of a weighted sum by degree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from budget_opt.model.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Degree:
    """The T terms of one degree d >= 2: members (T, d), weight (T,), ceiling (T,), 1 where there is none."""

    members: IntArray
    weight: FloatArray
    ceiling: FloatArray

    @property
    def degree(self) -> int:
        """d."""
        return int(self.members.shape[1])


@dataclass(frozen=True)
class Structure:
    """A weighted sum over M attributes: terms by degree, and the weights of single attributes (M,)."""

    attributes: int
    degrees: tuple[Degree, ...]
    single: FloatArray

    @classmethod
    def of(cls, incidence: csr_array, weight: FloatArray, ceiling: FloatArray | None = None) -> Structure:
        """The structure of moments (K, M) with weights and ceilings (K,); weights of 0 take no part."""
        if ceiling is None:
            ceiling = np.ones_like(weight)
        sizes = np.diff(incidence.indptr)
        single = np.zeros(incidence.shape[1])
        degrees = []
        for size in np.unique(sizes[weight > 0]):
            rows = np.flatnonzero((sizes == size) & (weight > 0))
            members = incidence.indices[incidence.indptr[rows][:, None] + np.arange(size)].astype(np.int64)
            if size == 1:
                np.add.at(single, members[:, 0], weight[rows])
            elif size > 1:
                degrees.append(Degree(members, weight[rows], ceiling[rows]))
        return cls(int(incidence.shape[1]), tuple(degrees), single)
