"""Unbiased moments of products of functions of single attributes, from the reports alone.

Letters: z = (z_0, ..., z_p) functions of a record, each a product of functions of distinct attributes (the
outcome and the columns of a regression); F_ab = z_a z_b their products of two, a <= b. A product of such
functions is again one, with one function an attribute, f_m; the attributes are randomized independently
given the record, so

    E[prod_m h_m(y_m) | x] = prod_m f_m(x_m),   h_m = Channel.unbiased(f_m)   (DESIGN 2.1)

and the mean over the rows of prod h_m is unbiased for that of prod f_m, of any record and any joint law.
`Features` holds what least squares and its errors are made of, with weights W1, W2 of DESIGN 2.3:

    first    mean of the unbiased F_ab                    sum W1 F^ / sum W1
    gram     sum W2 F^ F^' / (sum W1)^2                   the variance of `first`, but for its mean
    original sum W2 (F F')^ / (sum W1)^2, unbiased for sum w^2 F F' of the records themselves
    noise    gram - original, unbiased for the variance of `first` given the records
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations_with_replacement

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.counting import Cells
from budget_opt.tables.counting import AnyCodes

Functions = Mapping[str, FloatArray]
"""A product: one function of the categories for each attribute that it depends on."""
_ROOM = 2**22
"""Doubles of features held at a time (32 MB)."""


@dataclass(frozen=True)
class Features:
    """The moments of the module's docstring, of the pairs (a, b), a <= b, in lexicographic order."""

    size: int
    first: FloatArray
    gram: FloatArray
    original: FloatArray

    @property
    def noise(self) -> FloatArray:
        """The variance of `first` given the records, estimated without bias."""
        noise: FloatArray = self.gram - self.original
        return noise

    def matrix(self) -> FloatArray:
        """`first` as the symmetric matrix E z z'."""
        matrix: FloatArray = self.first[pair_places(self.size)]
        return matrix


@cache
def pair_places(size: int) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
    """Where the pair (a, b) stands among all pairs, shape (size, size), symmetric."""
    places = np.zeros((size, size), dtype=np.intp)
    places[np.triu_indices(size)] = np.arange(size * (size + 1) // 2)
    places += np.triu(places, 1).T
    places.setflags(write=False)
    return places


def features_of(functions: Sequence[Functions], cells: Cells, channels: Sequence[Channel]) -> Features:
    """The moments of these functions from released cells; `channels` are in the order of the cells' codes."""
    size = len(functions)
    pairs = [_product(chosen) for chosen in combinations_with_replacement(functions, 2)]
    first, gram = np.zeros(len(pairs)), np.zeros((len(pairs), len(pairs)))
    originals = _Originals(functions, channels)
    reports = [_reported(pair, channels) for pair in pairs]
    for codes, once, twice in _blocks(cells, _ROOM // len(pairs)):
        values = np.empty((len(pairs), once.size))
        for place, report in enumerate(reports):
            values[place] = _values(report, codes)
        first += values @ once
        gram += (values * twice) @ values.T
        originals.add(codes, twice)
    total = cells.total
    return Features(size, first / total, gram / total**2, originals.matrix(size) / total**2)


def first_of(functions: Sequence[Functions], cells: Cells, channels: Sequence[Channel]) -> FloatArray:
    """E z z' alone, shape (k, k)."""
    reports = [
        _reported(_product(chosen), channels) for chosen in combinations_with_replacement(functions, 2)
    ]
    sums = np.zeros(len(reports))
    for codes, once, _ in _blocks(cells, _ROOM):
        sums += [float(np.sum(_values(report, codes) * once)) for report in reports]
    matrix: FloatArray = sums[pair_places(len(functions))] / cells.total
    return matrix


class _Originals:
    """The sums of W2 times the unbiased products of four of the functions: those of a <= b <= c <= d."""

    def __init__(self, functions: Sequence[Functions], channels: Sequence[Channel]) -> None:
        chosen = list(combinations_with_replacement(range(len(functions)), 4))
        self._places: dict[tuple[int, ...], int] = {four: place for place, four in enumerate(chosen)}
        products = (_product([functions[i] for i in four]) for four in chosen)
        self._reports = [None if _is_zero(one) else _reported(one, channels) for one in products]
        self._sums = np.zeros(len(chosen))

    def add(self, codes: Sequence[AnyCodes], weights: FloatArray) -> None:
        for place, report in enumerate(self._reports):
            if report is not None:
                self._sums[place] += float(np.sum(_values(report, codes) * weights))

    def _place(self, *four: int) -> int:
        return self._places[tuple(sorted(four))]

    def matrix(self, size: int) -> FloatArray:
        pairs = list(combinations_with_replacement(range(size), 2))
        fours = [[self._place(*one, *other) for other in pairs] for one in pairs]
        matrix: FloatArray = self._sums[np.array(fours)]
        return matrix


def _product(functions: Sequence[Functions]) -> Functions:
    return reduce(_times, functions)


def _times(one: Functions, other: Functions) -> Functions:
    both = {name: one[name] * other[name] for name in one if name in other}
    return {**one, **other, **both}


def _is_zero(functions: Functions) -> bool:
    """Indicators of two categories of one attribute never hold together."""
    return any(not values.any() for values in functions.values())


def _reported(functions: Functions, channels: Sequence[Channel]) -> list[tuple[int, FloatArray]]:
    """The unbiased functions of the reports, with the place of their codes."""
    return [
        (place, channel.unbiased(functions[channel.name]))
        for place, channel in enumerate(channels)
        if channel.name in functions
    ]


def _values(report: Sequence[tuple[int, FloatArray]], codes: Sequence[AnyCodes]) -> FloatArray | float:
    values: FloatArray | float = 1.0
    for place, function in report:
        values = values * function[codes[place]]
    return values


def _blocks(cells: Cells, rows: int) -> Iterator[tuple[tuple[AnyCodes, ...], FloatArray, FloatArray]]:
    """The cells' own blocks in pieces of at most so many rows."""
    for codes, once, twice in cells.blocks():
        for start in range(0, once.size, max(1, rows)):
            part = slice(start, start + max(1, rows))
            yield tuple(column[part] for column in codes), once[part], twice[part]
