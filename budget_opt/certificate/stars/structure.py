"""The terms of a weighted sum by degree, their arcs, and who shares a term with whom.

An arc over-estimates the product of a term by a function that is separable once a centre is fixed
(GLOBAL_SOLVER 2): facet stars (a centre and an order of the rest; all rotations of one order are taken),
quadratic stars (a centre), and the global quadratic, which has none. Arcs of one degree stand in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from budget_opt.model.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Degree:
    """The T terms of one degree d >= 2: members (T, d), weight (T,)."""

    members: IntArray
    weight: FloatArray

    @property
    def degree(self) -> int:
        """d."""
        return int(self.members.shape[1])

    @cached_property
    def facets(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """(centre, order of the other positions) of every facet star."""
        found = []
        for centre in range(self.degree):
            rest = [position for position in range(self.degree) if position != centre]
            found += [(centre, tuple(rest[turn:] + rest[:turn])) for turn in range(len(rest))]
        return tuple(found)

    @cached_property
    def centres(self) -> IntArray:
        """The centre's position of every arc; -1 for the global quadratic, which is the last."""
        quadratic = list(range(self.degree)) if self.degree > 2 else []
        return np.array([*(centre for centre, _ in self.facets), *quadratic, -1], dtype=np.int64)

    @property
    def arcs(self) -> int:
        """Number of arcs of a term: 3 for a pair, 10 for a triple, 17 for four."""
        return int(self.centres.size)


@dataclass(frozen=True)
class Structure:
    """A weighted sum over M attributes: terms by degree, and the weights of single attributes (M,)."""

    attributes: int
    degrees: tuple[Degree, ...]
    single: FloatArray

    @classmethod
    def of(cls, incidence: csr_array, weight: FloatArray) -> Structure:
        """The structure of moments (K, M) with weights (K,); weights of 0 take no part."""
        sizes = np.diff(incidence.indptr)
        single = np.zeros(incidence.shape[1])
        degrees = []
        for size in np.unique(sizes[weight > 0]):
            rows = np.flatnonzero((sizes == size) & (weight > 0))
            members = incidence.indices[incidence.indptr[rows][:, None] + np.arange(size)].astype(np.int64)
            if size == 1:
                np.add.at(single, members[:, 0], weight[rows])
            elif size > 1:
                degrees.append(Degree(members, weight[rows]))
        return cls(int(incidence.shape[1]), tuple(degrees), single)

    @cached_property
    def _pair_codes(self) -> tuple[IntArray, list[IntArray]]:
        """Codes centre * M + other of all pairs; per degree the pair index (T, d, d), -1 on the diagonal."""
        codes = [
            degree.members[:, :, None] * self.attributes + degree.members[:, None, :]
            for degree in self.degrees
        ]
        off = [~np.eye(degree.degree, dtype=bool) for degree in self.degrees]
        listed = [code[:, mask].ravel() for code, mask in zip(codes, off, strict=True)]
        unique = np.unique(np.concatenate([*listed, np.zeros(0, dtype=np.int64)]))
        indices = [
            np.where(mask, np.searchsorted(unique, code), -1) for code, mask in zip(codes, off, strict=True)
        ]
        return unique, indices

    @property
    def pairs(self) -> int:
        """P."""
        return int(self._pair_codes[0].size)

    @cached_property
    def centre(self) -> IntArray:
        """The centre of every ordered pair, (P,)."""
        centre: IntArray = self._pair_codes[0] // max(self.attributes, 1)
        return centre

    @cached_property
    def other(self) -> IntArray:
        """The other attribute of every ordered pair, (P,)."""
        other: IntArray = self._pair_codes[0] % max(self.attributes, 1)
        return other

    def pair_of(self, degree: int) -> IntArray:
        """The pair index of (term, centre position, other position) of one degree, -1 on the diagonal."""
        return self._pair_codes[1][degree]

    @cached_property
    def to_pairs(self) -> tuple[csr_array, ...]:
        """Per degree: sums entries (T, d, d), raveled, into pairs (P,)."""
        return tuple(_summing(self.pair_of(i).ravel(), self.pairs) for i in range(len(self.degrees)))

    @cached_property
    def to_attributes(self) -> tuple[csr_array, ...]:
        """Per degree: sums entries (T, d), raveled, into attributes (M,)."""
        return tuple(_summing(degree.members.ravel(), self.attributes) for degree in self.degrees)

    @cached_property
    def pairs_to_centre(self) -> csr_array:
        """Sums pairs (P,) into their centres (M,)."""
        return _summing(self.centre, self.attributes)


def _summing(target: IntArray, count: int) -> csr_array:
    """The 0-1 array (count, entries) that sums entries into their targets; target -1 is left out."""
    used = np.flatnonzero(target >= 0)
    return csr_array((np.ones(used.size), (target[used], used)), shape=(count, target.size))
