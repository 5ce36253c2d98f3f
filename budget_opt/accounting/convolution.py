"""(epsilon, delta) of independent three-point losses by convolution on a grid, bracketed by proof.

delta(epsilon) = E (1 - exp(epsilon - loss))+ over the sum of the losses. With x = exp(-loss), a product over
the attributes, g(x) = (1 - exp(epsilon) x)+ is convex and falling in x, and so in every factor of x.

**From above** (`Above`; connect the dots, Doroshenko et al. 2022): a value between the grid points a and b is
divided between them so that its probability and the mean of x are kept. That spreads x around its mean, and
by Jensen's inequality E g(x) only grows.

**From below** (`Below`): every value of an attribute's loss gets the number of the grid point at or below it,
and outcomes of the record with the same sum of numbers are told apart no longer. The sum is a function of the
output, so the divergence only falls (data processing). Number j holds its probability A_j and the deficit

    D_j = A_j - exp(j h) B_j,    B_j its probability under the other neighbour.

An attribute's value with probability p, number k and loss k h + c moves j to j + k and adds p exp(-c) D_j +
p (1 - exp(-c)) A_j to D there. Because losses are rounded down, c >= 0: every term is positive, and nothing
cancels, at a total of 1e-9 as at 1e4. Both errors are of second order in the step h, but for a probability
that sits at epsilon itself.

**Rounding.** h is a power of two, so grid points are exact. Relative errors of sums of positive terms do not
grow: an attribute costs `STEP_ERROR`, a final sum of N terms at most N + 16 units, and the bounds are widened
by the product. What underflows is at most six halves of the least double a cell and an attribute. No fast
Fourier transform: its error is about 1e-16 whatever delta is, and delta may be far less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.accounting.grids import (
    LEAST,
    STEP_ERROR,
    UNIT,
    Atom,
    FloatArray,
    Window,
    depth,
    largest,
    placed,
    spread,
    values,
)
from budget_opt.accounting.loss import ThreePoint
from budget_opt.mechanisms.privacy_loss import excess

_WORK = 2**26
"""Attributes x grid points of one bracket."""
_CELLS = (2**16, 2**17)
"""The least and the most grid points."""
_CLOSE = 1e-9
"""Relative: how closely the lower end of a bracket is searched for."""
_FURTHEST = 40.0
"""Nats below epsilon past which the rest of a number's losses is not counted in the lower bound."""


def grid_step(points: Sequence[ThreePoint]) -> float:
    """The step h in nats, a power of two: the sum of losses in as many steps as the work allows."""
    total = math.fsum(point.loss for point in points)
    cells = min(max(_WORK // len(points), _CELLS[0]), _CELLS[1])
    return float(2.0 ** math.ceil(math.log2(total) - math.log2(cells)))


@dataclass(frozen=True)
class _Errors:
    """How far computed cells and sums may be from exact ones: relative, and added."""

    relative: float
    added: float

    @classmethod
    def of(cls, attributes: int, cells: int) -> _Errors:
        relative = (attributes * STEP_ERROR + (cells + 16) * UNIT) * 1.01
        return cls(relative, 3 * LEAST * max(1, attributes))


@dataclass(frozen=True)
class Above:
    """A distribution on the grid that is worse than the losses: `mass[i]` at the loss i `step`, i >= 0.

    Probabilities of losses below 0 are left out: they add nothing to delta at any epsilon >= 0.
    """

    step: float
    mass: FloatArray
    errors: _Errors

    def delta(self, epsilon: float) -> float:
        """An upper bound of delta at `epsilon` >= 0 (nats)."""
        return min(1.0, self._delta(epsilon) * (1.0 + self.errors.relative) + self._added)

    @property
    def _added(self) -> float:
        return self.errors.added * self.mass.size

    def _delta(self, epsilon: float) -> float:
        first = math.floor(min(epsilon / self.step, self.mass.size)) + 1
        beyond = np.arange(first, self.mass.size) * self.step - epsilon
        return float(np.sum(self.mass[first:] * excess(beyond)))

    def epsilon(self, delta: float) -> float:
        """The least epsilon >= 0 (nats) at which this distribution has at most `delta`, rounded up.

        inf where `delta` > 0 is below what underflows.
        """
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = 0, self.mass.size - 1
        if self._added > delta:
            return math.inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.delta(middle * self.step) > delta else (low, middle)
        return self._within(low, delta)

    def _within(self, cell: int, delta: float) -> float:
        """epsilon in this cell, where delta = delta(left) - expm1(epsilon - left) E exp(left - loss)."""
        left, right = cell * self.step, (cell + 1) * self.step
        beyond = np.arange(1, self.mass.size - cell) * self.step
        slope = float(np.sum(self.mass[cell + 1 :] * np.exp(-beyond)))
        target = (delta - self._added) / (1.0 + self.errors.relative)
        found = left + math.log1p(max(0.0, self._delta(left) - target) / slope) if slope > 0 else right
        nudge = 4 * UNIT * max(found, self.step)
        while found < right and self.delta(found) > delta:
            found, nudge = found + nudge, 2 * nudge
        return min(found, right)


def above(points: Sequence[ThreePoint], step: float) -> Above:
    """The worse distribution of the sum of these losses, at least one, on the grid of this step."""
    spreads = sorted((spread(point, step) for point in points), key=depth)
    window = Window(sum(map(largest, spreads)) + 1)
    for atoms in spreads:
        window.add(atoms)
    return Above(step, window.cells, _Errors.of(len(points), window.cells.size))


@dataclass(frozen=True)
class Below:
    """What the sum of grid numbers alone says: `mass[i]` = A, `deficit[i]` = D of number i - `offset`."""

    step: float
    mass: FloatArray
    deficit: FloatArray
    offset: int
    errors: _Errors

    def delta(self, epsilon: float) -> float:
        """A lower bound, >= 0, of delta at `epsilon` >= 0 (nats)."""
        start = math.floor(min(max(0.0, epsilon - _FURTHEST) / self.step, self.mass.size))
        start = 0 if epsilon <= _FURTHEST else min(start + self.offset, self.mass.size)
        over = (np.arange(start, self.mass.size) - self.offset) * self.step - epsilon
        wide, added = 1.0 + self.errors.relative, self.errors.added
        gain = np.maximum(self.deficit[start:] - added, 0.0) / wide
        least, most = np.maximum(self.mass[start:] - added, 0.0) / wide, (self.mass[start:] + added) * wide
        share = excess(np.abs(over))
        later = least * share + np.exp(-np.maximum(over, 0.0)) * gain
        # a smaller factor of what is not negative is a lower bound still, and does not overflow
        earlier = np.exp(np.clip(-over, 0.0, _FURTHEST)) * np.maximum(gain - most * share * wide, 0.0)
        return float(np.sum(np.where(over >= 0, later, earlier)) / wide)

    def epsilon(self, delta: float, upper: float) -> float:
        """A lower bound of epsilon (nats) at `delta`, 0 where there is none; `upper` is an upper bound."""
        gap, high = _CLOSE * upper, upper
        while gap < upper and self.delta(upper - gap) <= delta:
            high, gap = upper - gap, 8.0 * gap
        low = max(0.0, upper - gap)
        while high - low > _CLOSE * upper:
            middle = low + (high - low) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return low


def below(points: Sequence[ThreePoint], step: float) -> Below:
    """The sum of grid numbers of these losses, at least one, for the step."""
    numbers = sorted((_numbers(point, step) for point in points), key=lambda found: depth(found[0]))
    tops = sum(largest(atoms) for atoms, _, _ in numbers)
    size = tops + len(points) + 1  # a number may lie one below each attribute's loss
    mass, deficit = Window(size), Window(size)
    deficit.cells[-1] = 0.0
    for atoms, kept, gained in numbers:
        deficit.add(kept, mass, gained)
        mass.add(atoms)
    return Below(step, mass.cells, deficit.cells, len(points), _Errors.of(len(points), size))


def _numbers(point: ThreePoint, step: float) -> tuple[list[Atom], list[Atom], list[Atom]]:
    """Atoms of A; what D keeps of itself; what it gains from A."""
    found = [(*placed(loss, step), probability) for loss, probability in values(point, up=False)]
    return (
        [Atom(number, probability) for number, _, probability in found],
        [Atom(number, probability * math.exp(-over)) for number, over, probability in found],
        [Atom(number, probability * float(excess(over))) for number, over, probability in found],
    )
