"""How often reports equal the truth, over all records and where they stand in their batch.

Letters: r categories, truths uniform over them, k the probability that the report is the truth. A matrix with
P(y | y) <= exp(e) P(y | x) for all x != y has, summed over them, (r - 1) r k <= exp(e) r (1 - k). Hence

    e >= log((r - 1) k / (1 - k)),

with equality for k-ary randomized response, at which a count of kept cells is the sharpest test. It holds
for the whole record as well, r the number of possible records and e its total.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.verifier.auditing.intervals import lower, rounded_down

Flags = npt.NDArray[np.bool_]
ALL = "all records"


@dataclass(frozen=True)
class KeptGroup:
    """Records that stand at one `place`: their number, and how many kept the truth, by column."""

    place: str
    records: int
    kept: npt.NDArray[np.int64]


class KeptCounts:
    """Kept cells by place, batch by batch. A batch is (columns, records); a column for the record is last."""

    def __init__(self, columns: int) -> None:
        self._counts: dict[str, tuple[int, npt.NDArray[np.int64]]] = {}
        self._none = np.zeros(columns, dtype=np.int64)

    def add(self, kept: Flags, *, batched: bool) -> None:
        """Count one batch; its places mean nothing unless it is `batched`, handed over in one call."""
        self._count(ALL, kept)
        if batched:
            for place, part in _places(kept.shape[1]):
                self._count(place, kept[:, part])

    def groups(self) -> list[KeptGroup]:
        """The counts of all batches."""
        return [KeptGroup(place, n, kept) for place, (n, kept) in self._counts.items()]

    def _count(self, place: str, kept: Flags) -> None:
        n, counts = self._counts.get(place, (0, self._none))
        self._counts[place] = n + kept.shape[1], counts + kept.sum(axis=1)


def _places(n: int) -> Iterator[tuple[str, slice]]:
    """Parts of a batch of n records; each is counted over all batches that have it."""
    size = 2 ** int(math.log2(n))
    yield f"batches of {size} to {2 * size - 1} records" if size > 1 else "batches of one record", slice(n)
    length = 1
    while 2 * length <= n:
        words = "record of a batch" if length == 1 else f"{length} records of a batch"
        yield f"the first {words}", slice(length)
        yield f"the last {words}", slice(n - length, n)
        length *= 2
    if n >= 3:
        yield "the middle record of a batch", slice(n // 2, n // 2 + 1)


def log_others(cardinalities: list[int]) -> float:
    """log(r - 1), r the product of the cardinalities, rounded down."""
    whole = math.fsum(math.log(r) for r in cardinalities)
    return rounded_down(whole + math.log1p(-math.exp(-whole)))


def loss_of_truth(probability: float, others: float) -> float:
    """The least epsilon (nats) at which the truth is reported so often; `others` is log(r - 1)."""
    if probability >= 1:
        return math.inf
    return others + math.log(probability) - math.log1p(-probability) if probability > 0 else -math.inf


def loss_at_least(kept: int, records: int, others: float, error: float) -> float:
    """A bound of epsilon (nats) from a count of kept cells; too large with probability <= `error`."""
    return rounded_down(loss_of_truth(float(lower(kept, records, error)), others))
