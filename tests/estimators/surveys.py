"""Simulated surveys for coverage: a stratum that is sampled more often has smaller weights.

Two strata of the population with their own joint tables; a row of stratum s has the weight w_s. The truth of
the population weighs strata by share x weight, that of the data by rows x weight; without weights all are 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.estimators.estimate import Target
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.release_model import FloatArray, IntArray, release, released_shares

REPETITIONS = 10_000
WEIGHTS = (0.5, 3.0)
STRATUM = (0.7, 0.3)
"""Shares of the strata among the rows."""


@dataclass(frozen=True)
class Survey:
    """The target's own table of shares, and the released tables of each stratum, (REPETITIONS, *shape)."""

    truth: FloatArray
    strata: tuple[IntArray, ...]
    weights: tuple[float, ...]

    def releases(self, names: Sequence[str]) -> Iterator[Counts]:
        """The released counts of every repetition."""
        rows = sum(self.strata)
        if len(self.strata) == 1:
            for table in rows:
                yield Counts(tuple(names), table)
            return
        first, second = (
            sum(w**k * table for w, table in zip(self.weights, self.strata, strict=True)) for k in (1, 2)
        )
        for table, one, two in zip(rows, first, second, strict=True):
            yield Counts(tuple(names), table, one, two)


def survey(
    tables: Sequence[FloatArray],
    designs: Sequence[Design],
    n: int,
    target: Target,
    rng: np.random.Generator,
    repetitions: int = REPETITIONS,
) -> Survey:
    """Repetitions of a survey of n rows: of one table without weights, of two tables with."""
    shares = STRATUM if len(tables) == 2 else (1.0,)
    weights = WEIGHTS if len(tables) == 2 else (1.0,)
    if target == "population":
        sizes = rng.multinomial(n, shares, repetitions)
        strata = []
        for s, table in enumerate(tables):
            law = released_shares(table, designs).ravel()
            strata.append(rng.multinomial(sizes[:, s], law / law.sum()).reshape(repetitions, *table.shape))
        truth = sum(p * w * table for p, w, table in zip(shares, weights, tables, strict=True))
    else:
        held = [
            rng.multinomial(round(n * p), table.ravel()).reshape(table.shape)
            for p, table in zip(shares, tables, strict=True)
        ]
        strata = [release(rng, table, designs, repetitions) for table in held]
        truth = sum(w * table for w, table in zip(weights, held, strict=True))
    return Survey(truth / truth.sum(), tuple(strata), weights)
