"""Stretches of rows that were left as they were, or in which the generator was stuck.

With k = P(left as it is) and n rows, a run of L cells left as they are begins at the first row with
probability k^L and at any later one, after a changed cell, with (1 - k) k^L; so

    P(some run of L or more) <= k^L (1 + (n - L)(1 - k)),

and the release begins, or ends, with such a run with probability k^L. Of rows as a whole k is the product
over what is randomized as one. A run of one and the same shift s != 0 is what words that do not change make:
p in the place of k, and r - 1 of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import AnyCodes
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block
from budget_opt.verifier.noise.evidence import NoiseEvidence, combined, count_in_words

_KINDS = 2
OF_ROWS = "no stretch of rows is left as it was in every attribute"
_CLAIM = "no stretch of rows is left as it was, or changed by one and the same shift"


@dataclass
class Runs:
    """The runs of equal symbols of one sequence: of 0, and of another one."""

    first: int = 0
    longest: int = 0
    stuck: int = 0
    length: int = 0
    """Of the run that is not over yet, and its symbol."""
    symbol: int = -1
    rows: int = 0

    def add(self, symbols: AnyCodes) -> None:
        """Take the next symbols of the sequence."""
        starts = np.flatnonzero(symbols[1:] != symbols[:-1]) + 1
        starts = np.concatenate([[0], starts])
        lengths = np.diff(np.append(starts, symbols.size))
        of = symbols[starts]
        goes_on = int(of[0]) == self.symbol
        if goes_on:
            lengths[0] += self.length
        if (self.rows == 0 or (goes_on and self.length == self.rows)) and of[0] == 0:
            self.first = int(lengths[0])
        self.longest = max(self.longest, int(lengths[of == 0].max(initial=0)))
        self.stuck = max(self.stuck, int(lengths[of != 0].max(initial=0)))
        self.symbol, self.length = int(of[-1]), int(lengths[-1])
        self.rows += symbols.size

    @property
    def last(self) -> int:
        """How many 0 the sequence ends with."""
        return self.length if self.symbol == 0 else 0


class RunTally:
    """The runs of every attribute, and of whole rows."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm / _KINDS
        self._runs = [Runs() for _ in channels]
        self._of_rows = Runs()

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        for runs, shifts in zip(self._runs, block.shifts, strict=True):
            runs.add(shifts)
        self._of_rows.add((~block.whole_rows).astype(np.uint8))

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on single attributes, and where all are judged on whole rows."""
        of = sorted(judged)
        kept = np.array([_log_kept(self._channels[i]) for i in of])
        shifts = np.array([math.log(self._channels[i].other) for i in of])
        runs = [self._runs[i] for i in of]
        stuck = np.log([self._channels[i].cardinality - 1 for i in of]) + _log_longest(
            np.array([one.stuck for one in runs]), shifts, self._of_rows.rows
        )
        tails = np.stack([*_kept_tails(runs, kept), _probability(stuck)])
        yield combined(
            _CLAIM,
            tails,
            self._alarm,
            lambda test: self._channels[of[test % len(of)]].name,
            notices=self._words(of, kept, tails.size),
            source="a bound on the longest run of each attribute",
        )
        if len(of) == len(self._channels):
            yield self._row_evidence(kept[[channel.is_whole for channel in self._channels]].sum())

    def _row_evidence(self, log_kept: float) -> NoiseEvidence:
        smallest = _smallest_run(log_kept, self._of_rows.rows, self._alarm / 3)
        return combined(
            OF_ROWS,
            np.stack(_kept_tails([self._of_rows], np.array([log_kept]))),
            self._alarm,
            lambda _: "the rows as a whole",
            notices=self._beyond(smallest)
            or f"{count_in_words(smallest, 'row')} in a line left as "
            f"{'it was' if smallest == 1 else 'they were'}",
            source="a bound on the longest run of rows",
        )

    def _words(self, of: list[int], kept: npt.NDArray[np.float64], tests: int) -> str:
        smallest = [_smallest_run(float(one), self._of_rows.rows, self._alarm / tests) for one in kept]
        low, high = min(smallest), max(smallest)
        if nothing := self._beyond(low):
            return nothing
        least, most = (self._channels[of[smallest.index(end)]].name for end in (low, high))
        told = f"a block of {count_in_words(low, 'row')} left as it was in {least}"
        return f"{told}, of {high:,} in {most}" if high > low else told

    def _beyond(self, smallest: int) -> str:
        """Why nothing is noticed, if so."""
        if smallest <= self._of_rows.rows:
            return ""
        return f"nothing: it takes {count_in_words(smallest, 'row')}, and there are fewer"


def _kept_tails(runs: Sequence[Runs], log_kept: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
    """Of the longest, the first and the last run."""
    longest, first, last = (
        np.array([getattr(one, of) for one in runs]) for of in ("longest", "first", "last")
    )
    return [
        _probability(_log_longest(longest, log_kept, runs[0].rows)),
        _probability(first * log_kept),
        _probability(last * log_kept),
    ]


def _log_longest(
    run: npt.NDArray[np.int64], log_p: npt.NDArray[np.float64], rows: int
) -> npt.NDArray[np.float64]:
    """The logarithm of the bound; of no run at all it is that of 1 or more."""
    more: npt.NDArray[np.float64] = np.log1p(np.maximum(rows - run, 0) * (1 - np.exp(log_p)))
    return run * log_p + more


def _probability(log_p: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.exp(np.minimum(log_p, 0.0))


def _log_kept(channel: Channel) -> float:
    return math.log1p(-float(channel.changed))


def _smallest_run(log_kept: float, rows: int, alarm: float) -> int:
    """The run that is too long to be chance; more than any table has where nothing is changed."""
    if log_kept > -1e-15:
        return 10**15
    most = math.log1p(rows * (1 - math.exp(log_kept))) - math.log(alarm)
    return math.ceil(most / -log_kept)
