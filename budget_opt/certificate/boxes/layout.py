"""Where the arcs of every term stand, and which sums they enter; fixed for one problem (GLOBAL_SOLVER 4.3).

A term of degree d has d centres with n arcs each: d - 1 facets (the rotations of one order of the others)
and, from
degree 3 on, a quadratic star; and one global quadratic. Its shares are (T, d n + 1, B), centres first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from budget_opt.certificate.stars.structure import Structure
from budget_opt.model.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class DegreeLayout:
    """The T terms of one degree d: members (T, d), weight (T,), and the two scatters.

    `pair` (T, d, d - 1) is the index of the ordered pair (centre, other). `to_pairs` sums entries (T, d, d -
    1) into
    pairs (P,), `to_attributes` entries (T, d) into attributes (M,); `to_pairs` is None where that is a
    permutation.
    """

    members: IntArray
    weight: FloatArray
    pair: IntArray
    to_pairs: csr_array
    to_attributes: csr_array

    @property
    def degree(self) -> int:
        """d."""
        return int(self.members.shape[1])

    @property
    def stars(self) -> int:
        """n, the arcs of one centre."""
        return 1 if self.degree == 2 else self.degree

    @property
    def arcs(self) -> int:
        """Arcs of one term: 3 for a pair, 10 for a triple, 17 for four."""
        return self.degree * self.stars + 1


@dataclass(frozen=True)
class Layout:
    """A weighted sum over M attributes: `degrees` >= 2, `single` (M,) weights of single attributes.

    `centre`, `other` (P,) name the ordered pairs of attributes that share a term.
    """

    attributes: int
    degrees: tuple[DegreeLayout, ...]
    single: FloatArray
    centre: IntArray
    other: IntArray

    @classmethod
    def of(cls, incidence: csr_array, weight: FloatArray) -> Layout:
        """The layout of moments (K, M) with weights (K,); weights of 0 take no part."""
        structure = Structure.of(incidence, weight)
        degrees = []
        for index, degree in enumerate(structure.degrees):
            size = degree.degree
            off = np.array([[q for q in range(size) if q != centre] for centre in range(size)])
            pair = np.take_along_axis(structure.pair_of(index), off[None], axis=2)
            degrees.append(
                DegreeLayout(
                    degree.members,
                    degree.weight,
                    pair,
                    _summing(pair.ravel(), structure.pairs),
                    _summing(degree.members.ravel(), structure.attributes),
                )
            )
        return cls(structure.attributes, tuple(degrees), structure.single, structure.centre, structure.other)

    @property
    def pairs(self) -> int:
        """P."""
        return int(self.centre.size)

    @cached_property
    def pairs_to_centre(self) -> csr_array:
        """Sums pairs (P,) into their centres (M,)."""
        return _summing(self.centre, self.attributes)

    @cached_property
    def pairs_to_other(self) -> csr_array:
        """Sums pairs (P,) into the other attribute (M,)."""
        return _summing(self.other, self.attributes)

    @cached_property
    def roundings(self) -> int:
        """K of GLOBAL_SOLVER_PROOFS 3: an attribute may be in every term, with every arc."""
        terms = sum(degree.weight.size for degree in self.degrees)
        arcs = max((degree.arcs for degree in self.degrees), default=0)
        return arcs * (terms + 2) + terms + 2 * self.attributes + 60

    @property
    def work(self) -> int:
        """Numbers that one box needs, for the choice of a batch's width."""
        arcs = sum(d.weight.size * d.arcs * (d.degree + 1) for d in self.degrees)
        return int(arcs + 8 * self.pairs + 40 * self.attributes)


def _summing(target: IntArray, count: int) -> csr_array:
    """The 0-1 array (count, entries) that sums entries into their targets."""
    entries = np.arange(target.size)
    return csr_array((np.ones(target.size), (target, entries)), shape=(count, target.size))
