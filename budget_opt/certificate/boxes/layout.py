"""Where the arcs of every term stand, and which sums they enter; fixed for one problem (GLOBAL_SOLVER 4.3).

A pair has an arc for each of its two centres. A term of degree d >= 3 has a nested arc for every ordered pair
of its members, the centre and the second, with the others in the order that turns on from the second; a
triple also has a quadratic star for each centre. The last share of a term is that of its global quadratic.
Shares are (T, arcs, B).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from scipy.sparse import csr_array

from budget_opt.certificate.boxes.structure import Structure
from budget_opt.model.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Nesting:
    """The S ordered pairs (centre, second) of a term of degree d >= 3, and the order of the others.

    `first`, `second` (S,) and `rest` (S, d - 2) are positions in the term. `pair` (T, S) is the index of the
    nested pair, `triple` (T, S, d - 2) that of the ordered triple; `to_nested` sums entries (T, S)
    into nested pairs, `to_triples` entries (T, S, d - 2) into triples.
    """

    first: IntArray
    second: IntArray
    rest: IntArray
    pair: IntArray
    triple: IntArray
    to_nested: csr_array
    to_triples: csr_array


@dataclass(frozen=True)
class DegreeLayout:
    """The T terms of one degree d: members (T, d), weight (T,), and the scatters.

    `pair` (T, d, d - 1) is the index of the ordered pair (centre, other). `to_pairs` sums entries
    (T, d, d - 1) into pairs (P,), `to_attributes` entries (T, d) into attributes (M,).
    `ceiling` (T,) is 1 for terms without one, None where no term has one. `nesting` is None for pairs.
    """

    members: IntArray
    weight: FloatArray
    ceiling: FloatArray | None
    pair: IntArray
    to_pairs: csr_array
    to_attributes: csr_array
    nesting: Nesting | None

    @property
    def degree(self) -> int:
        """d."""
        return int(self.members.shape[1])

    @property
    def starred(self) -> bool:
        """Whether its terms have quadratic stars: those of larger terms only slow the steps down."""
        return self.degree == 3

    @property
    def nested(self) -> int:
        """Nested arcs of one term."""
        return 0 if self.nesting is None else int(self.nesting.first.size)

    @property
    def arcs(self) -> int:
        """Arcs of one term: 3 for a pair, 10 for a triple, 13 for four, 21 for five, 31 for six."""
        if self.nesting is None:
            return 3
        return self.nested + (self.degree if self.starred else 0) + 1


@dataclass(frozen=True)
class Triples:
    """The ordered triples (i, j, k) (Q,) of attributes that share a term of degree >= 3.

    `pair` is the nested pair (i, j), `last` the attribute k, `near` and `far` are the nested pairs (i, k) and
    (j, k); `to_pair`, `to_near`, `to_far`, `to_last` sum triples into them.
    """

    pair: IntArray
    last: IntArray
    near: IntArray
    far: IntArray
    to_pair: csr_array
    to_near: csr_array
    to_far: csr_array
    to_last: csr_array


@dataclass(frozen=True)
class Layout:
    """A weighted sum over M attributes: `degrees` >= 2, `single` (M,) weights of single attributes.

    `centre`, `other` (P,) name the ordered pairs of attributes that share a term. The first `nested` of them
    share one of degree >= 3: their budget is multiplied twice; `plain` are the others.
    """

    attributes: int
    degrees: tuple[DegreeLayout, ...]
    single: FloatArray
    centre: IntArray
    other: IntArray
    nested: int
    triples: Triples | None

    @classmethod
    def of(cls, incidence: csr_array, weight: FloatArray, ceiling: FloatArray | None = None) -> Layout:
        """The layout of moments (K, M) with weights and ceilings (K,); weights of 0 take no part."""
        structure = Structure.of(incidence, weight, ceiling)
        m = structure.attributes
        pairs, nested = _pairs(structure)
        index = np.full((m, m), -1)
        index[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        codes, triples = _triples(structure, index)
        degrees = []
        for degree in structure.degrees:
            size = degree.degree
            off = np.array([[q for q in range(size) if q != centre] for centre in range(size)])
            pair = index[degree.members[:, :, None], degree.members[:, off]]
            degrees.append(
                DegreeLayout(
                    degree.members,
                    degree.weight,
                    degree.ceiling if np.any(degree.ceiling < 1) else None,
                    pair,
                    _summing(pair.ravel(), len(pairs)),
                    _summing(degree.members.ravel(), m),
                    None if size == 2 else _nesting(degree.members, index, nested, codes),
                )
            )
        return cls(m, tuple(degrees), structure.single, pairs[:, 0], pairs[:, 1], nested, triples)

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
    def plain_to_centre(self) -> csr_array:
        """Sums the other pairs into their centres (M,)."""
        return _summing(self.centre[self.nested :], self.attributes)

    @cached_property
    def nested_to_centre(self) -> csr_array:
        """Sums nested pairs into their centres (M,)."""
        return _summing(self.centre[: self.nested], self.attributes)

    @cached_property
    def nested_to_other(self) -> csr_array:
        """Sums nested pairs into the other attribute (M,)."""
        return _summing(self.other[: self.nested], self.attributes)

    @cached_property
    def roundings(self) -> int:
        """K of GLOBAL_SOLVER_PROOFS 3: an attribute may be in every term, with every arc."""
        terms = sum(degree.weight.size for degree in self.degrees)
        arcs = max((degree.arcs for degree in self.degrees), default=0)
        return arcs * (terms + 2) + terms + 6 * self.attributes + 160

    @property
    def work(self) -> int:
        """Numbers that one box needs, for the choice of a batch's width."""
        arcs = sum(d.weight.size * d.arcs * (d.degree + 1) for d in self.degrees)
        triples = 0 if self.triples is None else self.triples.last.size
        return int(arcs + 8 * self.pairs + 40 * self.attributes + 8 * triples + 16 * self.nested)


def _pairs(structure: Structure) -> tuple[IntArray, int]:
    """All ordered pairs (P, 2) that share a term, those that share one of degree >= 3 first; and how many."""
    m = structure.attributes
    deep, plain = np.zeros((m, m), dtype=bool), np.zeros((m, m), dtype=bool)
    for degree in structure.degrees:
        for i, j in permutations(range(degree.degree), 2):
            (plain if degree.degree == 2 else deep)[degree.members[:, i], degree.members[:, j]] = True
    first = np.argwhere(deep)
    return np.concatenate([first, np.argwhere(plain & ~deep)]), len(first)


def _triples(structure: Structure, index: IntArray) -> tuple[IntArray, Triples | None]:
    """The sorted codes (i M + j) M + k of all ordered triples, and the triples."""
    m = structure.attributes
    found = [
        (degree.members[:, i] * m + degree.members[:, j]) * m + degree.members[:, k]
        for degree in structure.degrees
        for i, j, k in permutations(range(degree.degree), 3)
    ]
    if not found:
        return np.empty(0, dtype=np.int64), None
    codes = np.unique(np.concatenate(found))
    i, j, k = codes // m**2, codes // m % m, codes % m
    pair, near, far = index[i, j], index[i, k], index[j, k]
    nested = 1 + int(np.max(pair))
    to_pair, to_near, to_far = (_summing(target, nested) for target in (pair, near, far))
    return codes, Triples(pair, k, near, far, to_pair, to_near, to_far, _summing(k, m))


def _nesting(members: IntArray, index: IntArray, nested: int, codes: IntArray) -> Nesting:
    size, m = members.shape[1], len(index)
    slots = list(permutations(range(size), 2))
    first, second = np.array(slots).T
    rest = np.array([[q % size for q in range(j + 1, j + size) if q % size != i] for i, j in slots])
    pair = index[members[:, first], members[:, second]]
    code = (members[:, first] * m + members[:, second])[:, :, None] * m + members[:, rest]
    triple = np.searchsorted(codes, code)
    return Nesting(
        first,
        second,
        rest,
        pair,
        triple,
        _summing(pair.ravel(), nested),
        _summing(triple.ravel(), codes.size),
    )


def _summing(target: IntArray, count: int) -> csr_array:
    """The 0-1 array (count, entries) that sums entries into their targets."""
    entries = np.arange(target.size)
    return csr_array((np.ones(target.size), (target, entries)), shape=(count, target.size))
