"""What all reports of a joint give away of an attribute whose matrix was chosen for a known source.

Letters as in `joint`: it is randomized alone, by Q with another row for every truth, so that

    P(y | a = v) = Q[v, y_a] G_v(y_rest),     G_v(y_rest) a table seen through all other blocks.

The odds of v against w move most where both factors do: by max_y Q[v, y] / Q[w, y] times the largest
G_v / G_w, each found by itself. Whole numbers throughout. Reports that nobody gives are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.mechanisms.exact import float_at_least

Whole = npt.NDArray[np.object_]


@dataclass(frozen=True)
class ToldByMatrix:
    """Q as whole counts (r, r), rows the truth; G by value (r, …); and the weight of every value (r,)."""

    rows: Whole
    beside: Whole
    weight: Whole

    @classmethod
    def of(cls, rows: Whole, counts: Whole, axis: int, weight: Whole) -> ToldByMatrix:
        """From a table that is seen through all other blocks, the attribute along `axis`."""
        return cls(rows, np.moveaxis(counts, axis, 0).reshape(counts.shape[axis], -1), weight)

    def largest_odds(self, possible: Sequence[int]) -> tuple[Fraction, int, int]:
        """The largest change of odds, of which value against which; two possible values at least."""
        columns = [column for column in self.rows.T if max(column)]
        most = max(Fraction(max(column), min(column)) for column in columns)
        best = Fraction(0), possible[0], possible[1]
        for v, w in permutations(possible, 2):
            beside = self._beside(v, w)
            # what the own report does is looked at for the few pairs that can pass the best one
            if beside * most > best[0] and (ratio := self._own(v, w) * beside) > best[0]:
                best = ratio, v, w
        return best

    def guess(self) -> float:
        """P(best guess is right) given all reports, rounded up."""
        right: Any = sum(
            (self.rows[:, report, np.newaxis] * self.beside).max(axis=0).sum()
            for report in range(self.rows.shape[1])
        )
        return float_at_least(Fraction(right, self.rows[0].sum() * self.beside.sum()))

    def _own(self, v: int, w: int) -> Fraction:
        return _largest_ratio(self.rows[v], self.rows[w])

    def _beside(self, v: int, w: int) -> Fraction:
        return _largest_ratio(self.beside[v], self.beside[w]) * Fraction(self.weight[w], self.weight[v])


def _largest_ratio(ones: Whole, others: Whole) -> Fraction:
    """Compared by products of whole numbers, which takes a tenth of the time of as many fractions."""
    most, by = 0, 1
    for one, other in zip(ones, others, strict=True):
        if other and one * by > most * other:
            most, by = one, other
    return Fraction(most, by)
