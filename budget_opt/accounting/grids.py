"""Sums of independent losses on a grid: the values of one attribute as grid numbers, and their convolution.

A loss between the grid points a = k h and b = a + h is `remainder` above a. h is a power of two, so that k
and the remainder of a positive loss are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.accounting.loss import ThreePoint
from budget_opt.mechanisms.privacy_loss import excess

FloatArray = npt.NDArray[np.float64]
UNIT = 2.0**-53
LEAST = 5e-324
STEP_ERROR = 64 * UNIT
"""Relative, of one attribute: at most 11 roundings of a sum of six products, and less than 50 units in a
weight (expm1 and exp of the C library are within 4 units in the last place)."""


@dataclass(frozen=True)
class Atom:
    """`weight` at the grid number `number`."""

    number: int
    weight: float


def placed(loss: float, step: float) -> tuple[int, float]:
    """(k, remainder): the number of the grid point at or below a loss, and how far below it lies."""
    number = math.floor(loss / step)
    return number, loss - number * step


def values(point: ThreePoint, *, up: bool) -> Iterator[tuple[float, float]]:
    """(loss, probability) of the three values, losses rounded up or down, probabilities to nearest."""
    least, largest = point.between
    yield (largest if up else least), float(point.truth)
    if point.unchanged > 0:
        yield 0.0, float(point.unchanged)
    yield -(least if up else largest), float(point.other)


def spread(point: ThreePoint, step: float) -> list[Atom]:
    """The values of one attribute divided between grid points: the mean of exp(-loss) is kept."""
    atoms: list[Atom] = []
    for loss, probability in values(point, up=True):
        number, over = placed(loss, step)
        below, above, whole = (float(excess(part)) for part in (over, step - over, step))
        atoms += (
            Atom(number, probability * math.exp(-over) * (above / whole)),
            Atom(number + 1, probability * (below / whole)),
        )
    return [atom for atom in atoms if atom.weight > 0]


def largest(atoms: Sequence[Atom]) -> int:
    """The largest grid number."""
    return max(atom.number for atom in atoms)


def depth(atoms: Sequence[Atom]) -> int:
    """How far the least grid number lies below the largest."""
    return largest(atoms) - min(atom.number for atom in atoms)


class Window:
    """A row of cells that ends at the largest sum that is still possible.

    Every attribute moves its own values down from there by (its largest number - the number), so numbers that
    can never come back to the kept ones fall off the lower end, exactly.
    """

    def __init__(self, size: int) -> None:
        self.cells = np.zeros(size)
        self.cells[-1] = 1.0
        self._next = np.zeros(size)
        self._part = np.zeros(size)
        self.first = size - 1

    @property
    def filled(self) -> slice:
        """The cells that are not known to be zero."""
        return slice(self.first, self.cells.size)

    def add(self, atoms: Sequence[Atom], other: Window | None = None, gains: Sequence[Atom] = ()) -> None:
        """Add an independent value with these atoms; `gains` add shares of the cells of the `other` row.

        The other row is as it was before the same attribute was added to it.
        """
        first = max(0, self.first - depth([*atoms, *gains]))
        self._next[first:] = 0.0
        top = largest([*atoms, *gains])
        for atom in atoms:
            self._put(self.cells, top - atom.number, atom.weight)
        if other is not None:
            for atom in gains:
                self._put(other.cells, top - atom.number, atom.weight)
        self.cells, self._next, self.first = self._next, self.cells, first

    def _put(self, source: FloatArray, down: int, weight: float) -> None:
        start = max(self.first, down)
        size = source.size - start
        if size > 0:
            part = np.multiply(source[start:], weight, out=self._part[:size])
            self._next[start - down : start - down + size] += part
