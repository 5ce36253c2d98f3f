"""Which records are looked at beside which others: pairs of rows with none in common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.intp]
LAGS = (1, 2, 3, 4, 8, 16)
MOST_COUPLES = 256
"""Couples of attributes whose reports and values are looked at; drawn at random where there are more."""
MOST_TRIPLES = 64
"""The same of two reports together beside a value."""


@dataclass(frozen=True)
class Pairing:
    """Rows whose `reports`, beside rows whose `truths` are looked at; no row is among both."""

    words: str
    reports: Places
    truths: Places


def pairings(sizes: Sequence[int], *, batched: bool) -> Iterator[Pairing]:
    """Pairings of the rows of consecutive batches, numbered through; those that have no pair are left out.

    One record at a time is one batch, of calls in their order.
    """
    starts = np.cumsum([0, *sizes])
    for lag in LAGS:
        what = f"{lag} rows" if lag > 1 else "one row"
        pairs = [_apart(n, lag, turn) for turn, n in enumerate(sizes)]
        yield from _both_ways(f"the record {what}", pairs, starts)
    if not batched:
        return
    yield from _both_ways("the record half a batch", [_apart(n, max(1, n // 2), 0) for n in sizes], starts)
    mirrored = [(np.arange(n // 2), n - 1 - np.arange(n // 2)) for n in sizes]
    yield from _both_ways("the mirrored record", mirrored, starts)
    calls = [np.arange(min(pair)) for pair in zip(sizes[:-1:2], sizes[1::2], strict=False)]
    before, later = (
        _joined([start + rows for start, rows in zip(starts[first::2], calls, strict=False)])
        for first in (0, 1)
    )
    if before.size:
        yield Pairing("the same row in the call before", later, before)


def couples(rng: np.random.Generator, attributes: int) -> list[tuple[int, int]]:
    """(a, b) of all attributes; a beside itself and others at random where there are too many."""
    same = [(a, a) for a in range(attributes)]
    different = [(a, b) for a in range(attributes) for b in range(attributes) if a != b]
    room = max(0, MOST_COUPLES - len(same))
    if len(different) > room:
        different = [different[i] for i in rng.choice(len(different), room, replace=False).tolist()]
    return same + different


def triples(rng: np.random.Generator, attributes: int) -> list[tuple[int, int, int]]:
    """(a, c, b) with a < c; some at random where there are too many."""
    first, second = np.triu_indices(attributes, 1)
    count = first.size * attributes
    chosen = np.arange(count) if count <= MOST_TRIPLES else rng.choice(count, MOST_TRIPLES, replace=False)
    return [
        (int(first[i // attributes]), int(second[i // attributes]), i % attributes) for i in chosen.tolist()
    ]


def left_out(attributes: int) -> Iterator[str]:
    """What of `couples` and `triples` is not looked at, in words."""
    pairs = attributes * math.comb(attributes, 2)
    if pairs > MOST_TRIPLES:
        singly = min(attributes**2, max(attributes, MOST_COUPLES))
        yield (
            f"beside values of other records {singly} of {attributes**2} couples of report and value were "
            f"looked at, and {MOST_TRIPLES} of {pairs} of two reports and a value."
        )


def _apart(n: int, lag: int, turn: int) -> tuple[Places, Places]:
    """Blocks of `lag` rows by turns: the rows of one, and those as many rows later; odd turns begin later."""
    first = np.arange(lag * (turn % 2) if n > 2 * lag else 0, max(0, n - lag))
    start = first[0] if first.size else 0
    first = first[(first - start) // lag % 2 == 0]
    return first, first + lag


def _both_ways(
    words: str, pairs: Sequence[tuple[Places, Places]], starts: npt.NDArray[np.intp]
) -> Iterator[Pairing]:
    early, late = (
        _joined([start + pair[side] for start, pair in zip(starts, pairs, strict=False)]) for side in (0, 1)
    )
    if early.size:
        yield Pairing(f"{words} before", late, early)
        yield Pairing(f"{words} behind", early, late)


def _joined(parts: Sequence[Places]) -> Places:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
