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
        return max(
            ((self._own(v, w) * self._beside(v, w), v, w) for v, w in permutations(possible, 2)),
            key=lambda found: found[0],
        )

    def guess(self) -> float:
        """P(best guess is right) given all reports, rounded up."""
        right: Any = sum(
            (self.rows[:, report, np.newaxis] * self.beside).max(axis=0).sum()
            for report in range(self.rows.shape[1])
        )
        return float_at_least(Fraction(right, self.rows[0].sum() * self.beside.sum()))

    def _own(self, v: int, w: int) -> Fraction:
        return max(Fraction(a, b) for a, b in zip(self.rows[v], self.rows[w], strict=True) if b)

    def _beside(self, v: int, w: int) -> Fraction:
        among = zip(self.beside[v], self.beside[w], strict=True)
        return max(Fraction(a, b) for a, b in among if b) * Fraction(self.weight[w], self.weight[v])
