"""Made-up records as codes, and what came back for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
"""Shape (attributes, records)."""


@dataclass(frozen=True)
class Rows:
    """Truths and reports by code, by attribute; r, its cardinality, is a report outside the domain."""

    cardinalities: tuple[int, ...]
    truths: Codes
    reports: Codes

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Which reports are the truth, by attribute, and in a last line which whole records are."""
        equal = self.truths == self.reports
        return np.vstack([equal, equal.all(axis=0)])

    def __len__(self) -> int:
        return int(self.truths.shape[1])


def joined(parts: Sequence[Rows]) -> Rows:
    """The records of several batches."""
    return Rows(
        parts[0].cardinalities,
        np.concatenate([part.truths for part in parts], axis=1),
        np.concatenate([part.reports for part in parts], axis=1),
    )


def random_records(rng: np.random.Generator, cardinalities: Sequence[int], n: int) -> Codes:
    """n records, all values uniform and independent."""
    return np.stack([rng.integers(0, r, n, dtype=np.int32) for r in cardinalities])


def one_or_other(rng: np.random.Generator, pairs: npt.NDArray[np.int32], n: int) -> Codes:
    """n records, each value one of its attribute's pair, independently; `pairs` is (attributes, 2)."""
    coins = rng.integers(0, 2, (pairs.shape[0], n))
    return np.take_along_axis(pairs, coins, axis=1)


def batch_sizes(rng: np.random.Generator, records: int, least: int = 64) -> list[int]:
    """Sizes that add up to `records`, each about half of what is left, none of them round."""
    sizes, left = [], records
    while left >= 4 * least:
        sizes.append(left // 2 - int(rng.integers(1, left // 8)))
        left -= sizes[-1]
    return [*sizes, left] if left else sizes


def few_records(rng: np.random.Generator, calls: int) -> list[int]:
    """Sizes of small batches: every fourth has one record, then two, three, and some between 4 and 40."""
    return [(1, 2, 3, int(rng.integers(4, 41)))[i % 4] for i in range(calls)]
