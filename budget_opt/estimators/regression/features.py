"""Unbiased moments of products of functions of single attributes, from the reports alone.

Letters: z = (z_0, ..., z_p) functions of a record, each a product of functions of distinct attributes (the
outcome and the columns of a regression); F_ab = z_a z_b their products of two, a <= b. A product of such
functions is again one, with one function an attribute, f_m; the attributes are randomized independently
given the record, so

    E[prod_m h_m(y_m) | x] = prod_m f_m(x_m),   h_m = Channel.unbiased(f_m)   (DESIGN 2.1)

and the mean over the rows of prod h_m is unbiased for that of prod f_m, of any record and any joint law.
Members of one cluster have one h, a function of all their reports, for the product of their f_m (DESIGN 2.9).
`Features` holds what least squares and its errors are made of, with weights W1, W2 of DESIGN 2.3:

    first    mean of the unbiased F_ab                    sum W1 F^ / sum W1
    gram     sum W2 F^ F^' / (sum W1)^2                   the variance of `first`, but for its mean
    original sum W2 (F F')^ / (sum W1)^2, unbiased for sum w^2 F F' of the records themselves
    noise    gram - original, unbiased for the variance of `first` given the records

A product that is 0 for every record, as of the indicators of two categories of one attribute, is left out:
of k indicators k + 1 products of two remain of (k + 1)(k + 2) / 2, and as few of four.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all, axes_of_blocks
from budget_opt.estimators.releases.counting import Cells
from budget_opt.tables.counting import AnyCodes

Functions = Mapping[str, FloatArray]
"""A product: one function of the categories for each attribute that it depends on."""
Places = np.ndarray[tuple[int, ...], np.dtype[np.intp]]
_ROOM = 2**22
"""Doubles of features held at a time (32 MB)."""
LARGEST_TABLE = 2**18
"""Cells of the joint table of the members of a cluster: one function of them is kept a product (2 MB)."""


@dataclass(frozen=True)
class Features:
    """The moments of the module's docstring, of the pairs (a, b), a <= b, in lexicographic order.

    Entry (a, b) of `places` is where that pair stands. All pairs whose product is 0 for every record share
    the last place, where every moment is 0.
    """

    places: Places
    first: FloatArray
    gram: FloatArray
    original: FloatArray

    @cached_property
    def noise(self) -> FloatArray:
        """The variance of `first` given the records, estimated without bias."""
        noise: FloatArray = self.gram - self.original
        return noise

    def matrix(self) -> FloatArray:
        """`first` as the symmetric matrix E z z'."""
        matrix: FloatArray = self.first[self.places]
        return matrix


def features_of(functions: Sequence[Functions], cells: Cells, channels: Sequence[Channel]) -> Features:
    """The moments of these functions from released cells; `channels` are in the order of the cells' codes."""
    pairs = _products(functions, 2)
    size = len(pairs) + 1
    first, gram = np.zeros(size), np.zeros((size, size))
    originals = _Originals(functions, channels)
    reports = [_reported(pair, channels) for pair in pairs.values()]
    for codes, once, twice in _blocks(cells, _ROOM // size):
        values = np.zeros((size, once.size))
        for place, report in enumerate(reports):
            values[place] = _values(report, codes)
        first += values @ once
        gram += (values * twice) @ values.T
        originals.add(codes, twice)
    total = cells.total
    original = originals.matrix(list(pairs)) / total**2
    return Features(_places(pairs, len(functions)), first / total, gram / total**2, original)


def first_of(functions: Sequence[Functions], cells: Cells, channels: Sequence[Channel]) -> FloatArray:
    """E z z' alone, shape (k, k)."""
    pairs = _products(functions, 2)
    reports = [_reported(pair, channels) for pair in pairs.values()]
    sums = np.zeros(len(pairs) + 1)
    for codes, once, _ in _blocks(cells, _ROOM):
        sums[:-1] += [float(np.sum(_values(report, codes) * once)) for report in reports]
    matrix: FloatArray = sums[_places(pairs, len(functions))] / cells.total
    return matrix


class _Originals:
    """The sums of W2 times the unbiased products of four of the functions: those of a <= b <= c <= d."""

    def __init__(self, functions: Sequence[Functions], channels: Sequence[Channel]) -> None:
        products = _products(functions, 4)
        self._places = {four: place for place, four in enumerate(products)}
        self._reports = [_reported(one, channels) for one in products.values()]
        self._sums = np.zeros(len(products) + 1)

    def add(self, codes: Sequence[AnyCodes], weights: FloatArray) -> None:
        for place, report in enumerate(self._reports):
            self._sums[place] += float(np.sum(_values(report, codes) * weights))

    def matrix(self, pairs: Sequence[tuple[int, ...]]) -> FloatArray:
        """A row and a column for each of these pairs, and one of zeros more."""
        nothing = len(self._places)
        places = np.full((len(pairs) + 1, len(pairs) + 1), nothing)
        for i, one in enumerate(pairs):
            for j, other in enumerate(pairs[: i + 1]):
                four = tuple(sorted((*one, *other)))
                places[i, j] = places[j, i] = self._places.get(four, nothing)
        matrix: FloatArray = self._sums[places]
        return matrix


def _products(functions: Sequence[Functions], size: int) -> dict[tuple[int, ...], Functions]:
    """The products of so many of the functions, with repetition, in lexicographic order, but for zeros.

    What begins with a product that is 0 is 0 as well.
    """
    found: dict[tuple[int, ...], Functions] = {(): {}}
    for _ in range(size):
        longer = {
            (*chosen, place): product_of(product, functions[place])
            for chosen, product in found.items()
            for place in range(chosen[-1] if chosen else 0, len(functions))
        }
        found = {chosen: product for chosen, product in longer.items() if not _is_zero(product)}
    return found


def _places(pairs: Mapping[tuple[int, ...], Functions], size: int) -> Places:
    """Where the pair (a, b) stands among these, shape (size, size), symmetric; behind the last where not."""
    places = np.full((size, size), len(pairs), dtype=np.intp)
    for place, (one, other) in enumerate(pairs):
        places[one, other] = places[other, one] = place
    return places


def product_of(one: Functions, other: Functions) -> Functions:
    """The product of two products."""
    both = {name: one[name] * other[name] for name in one if name in other}
    return {**one, **other, **both}


def _is_zero(functions: Functions) -> bool:
    """Indicators of two categories of one attribute never hold together."""
    return any(not values.any() for values in functions.values())


Reported = list[tuple[tuple[int, ...], FloatArray]]
"""Functions of the reports, each with the places of the codes that it is of."""


def _reported(functions: Functions, channels: Sequence[Channel]) -> Reported:
    """The unbiased functions of the reports: one for each attribute, or for the members of a cluster."""
    named = [place for place, channel in enumerate(channels) if channel.name in functions]
    members = [channels[place] for place in named]
    found: Reported = []
    for axes in axes_of_blocks(members):
        block = [members[axis] for axis in axes]
        _require_room(block)
        product: FloatArray = reduce(np.multiply.outer, [functions[one.name] for one in block])
        found.append((tuple(named[axis] for axis in axes), along_all(Channel.unbiased, block, product)))
    return found


def _require_room(members: Sequence[Channel]) -> None:
    """`InputError` where the joint function of members of one cluster would be too large."""
    cells = math.prod(one.cardinality for one in members)
    if len(members) > 1 and cells > LARGEST_TABLE:
        raise InputError(
            f"formula: {' and '.join(one.name for one in members)} are members of one cluster, so that "
            f"products of theirs are corrected through their joint table, which has {cells:,} cells; at most "
            f"{LARGEST_TABLE:,} can be. Use at most one of them, or fewer."
        )


def _values(report: Reported, codes: Sequence[AnyCodes]) -> FloatArray | float:
    values: FloatArray | float = 1.0
    for places, function in report:
        values = values * function[tuple(codes[place] for place in places)]
    return values


def _blocks(cells: Cells, rows: int) -> Iterator[tuple[tuple[AnyCodes, ...], FloatArray, FloatArray]]:
    """The cells' own blocks in pieces of at most so many rows."""
    for codes, once, twice in cells.blocks():
        for start in range(0, once.size, max(1, rows)):
            part = slice(start, start + max(1, rows))
            yield tuple(column[part] for column in codes), once[part], twice[part]
