"""Whether two tables are of the same people: coarse marks of the originals, compared without them (R22).

A budget is spent by people, not by names. The same table under another name of its data set, with its rows or
categories in another order, other names of columns, or in another kind of file, and most of it with other
rows added, has the same marks. They are a warning, no lock: whoever means to deceive changes a cell a row.

They are of all attributes of the problem, also of those without a budget; neither of dropped nor of
public columns. **Not noticed** is the same table with other rows in it where the problem has other
attributes too (a whole row then is another one), or where it also is in another order and few of its rows
stand once, as in a table of few columns; a part of the table; and other categories for the same cells, such
as bins, together with any change of the rows.

- *Columns*: one byte of a hash of each column's counts, ascending, without labels and names. Tables of
  equally many rows are the same where every column of the one has its byte in the other; by chance once
  in 256 a column, times what columns of equal counts do by themselves.
- *Records*: of the rows that stand once in a table, a sample by hash: 512 cells of two bits. It does not look
  at the order of rows. Two independent samples of one population, whatever it is, share few such rows: where
  a row is expected a and b times (Poisson counts, probability p = a/exp(a) of standing once, p <= 1/e; and
  so q), the probability that it stands once in both, as a share of that in either, is

      p q / (p + q - p q)  =  1 / (1/p + 1/q - 1)  <=  1 / (2 e - 1)  =  22.5 %

  so more than that, by a binomial test at one in 10^9, is no chance. A table whose rows all repeat has no
  such rows, and this part says nothing.
- *Runs*: the same sample of 64 rows one after the other, for tables of few columns. It survives rows that
  are added anywhere, not a new order. Runs in which fewer than 16 rows differ from the one before are left
  out: all sorted columns are alike.

**What they tell who holds them.** The marks are made under a key of the ledger and lie in the ledger beside
it. Who has the ledger, so the key and the marks, and knows all records but one can read that one out of the
marks, column by column: a wrong category passes one time in 256. Who knows less can test guesses about whole
columns and rows, and a mark can refute one with certainty. So the ledger is to be kept like the originals:
where they are, and never passed on.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from budget_opt.model.domain import Domain
from budget_opt.tables.cell_digest import NewHash
from budget_opt.tables.counting import AnyCodes

Likeness = Literal[
    "are the same table as", "share most records with", "share most rows, in the same order, with"
]
"""What the data of one table are to those of another."""

FALSE_ALARM = 1e-9
"""The probability that independent samples of one population are said to share most of their rows."""

_CELLS_BITS = 9
_MARKS = 3
_BY_CHANCE = 1 / (2 * math.e - 1)
_RUN_BITS = 6
_FEWEST_CHANGES = 16

_Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Fingerprint:
    """The marks of one table: its `rows`, a byte a column ascending, a digit a cell of both samples.

    A digit is 1 to 3, or 0 where a cell of the sample has nothing that stands once.
    """

    rows: int
    columns: tuple[int, ...]
    records: str
    runs: str

    @classmethod
    def from_text(cls, text: str) -> Fingerprint:
        """What `text` gave."""
        rows, columns, records, runs = json.loads(text)
        return cls(rows, tuple(columns), records, runs)

    @property
    def text(self) -> str:
        """One line of text, from which `from_text` has it again."""
        return json.dumps([self.rows, self.columns, self.records, self.runs], separators=(",", ":"))

    def likeness(self, other: Fingerprint) -> Likeness | None:
        """What the tables share, as far as their marks say; None for nothing. Made under one key."""
        if self.rows == other.rows and _has_all(self.columns, other.columns):
            return "are the same table as"
        if _share_most(self.records, other.records):
            return "share most records with"
        return "share most rows, in the same order, with" if _share_most(self.runs, other.runs) else None


class Fingerprinter:
    """Takes the codes of a table's columns, batch by batch, and has its fingerprint at the end."""

    def __init__(self, domains: Mapping[str, Domain], new_hash: NewHash) -> None:
        self._new_hash, self._rows = new_hash, 0
        self._counts = {name: np.zeros(one.cardinality, dtype=np.int64) for name, one in domains.items()}
        self._words = {name: self._words_of(name, domain) for name, domain in domains.items()}
        self._records, self._runs = _Sample(), _Sample()
        self._last: _Words = np.empty(0, dtype=np.uint64)

    def add(self, codes: Mapping[str, AnyCodes]) -> None:
        """Take the next rows; `codes` has those of every column."""
        rows = len(next(iter(codes.values()))) if codes else 0
        records: _Words = np.zeros(rows, dtype=np.uint64)
        for name, words in self._words.items():
            self._counts[name] += np.bincount(codes[name], minlength=words.size)
            records += words[codes[name]]
        records = _mixed(records)
        self._rows += rows
        self._records.add(records)
        known = np.concatenate([self._last, records])
        self._runs.add(_runs(known))
        self._last = known[-(2**_RUN_BITS - 1) :]

    def fingerprint(self) -> Fingerprint:
        """The fingerprint of all rows so far."""
        columns = sorted(self._byte_of(counts) for counts in self._counts.values())
        return Fingerprint(self._rows, tuple(columns), self._records.digits(), self._runs.digits())

    def _words_of(self, name: str, domain: Domain) -> _Words:
        """A word a category, by the names alone: neither order nor type of the categories matter."""
        digests = [self._digest(["cell", name, None if x is None else str(x)]) for x in domain.labels]
        return np.array([int.from_bytes(digest[:8], "big") for digest in digests], dtype=np.uint64)

    def _byte_of(self, counts: npt.NDArray[np.int64]) -> int:
        return self._digest(["counts", np.sort(counts[counts > 0]).tolist()])[0]

    def _digest(self, content: list[object]) -> bytes:
        found = self._new_hash()
        found.update(json.dumps(content).encode())
        return found.digest()


class _Sample:
    """Of the words of each cell the least, and how often it came; a word's first bits are its cell."""

    def __init__(self) -> None:
        self._least: _Words = np.full(2**_CELLS_BITS, 2**64 - 1, dtype=np.uint64)
        self._times = np.zeros(2**_CELLS_BITS, dtype=np.int64)

    def add(self, words: _Words) -> None:
        found, times = np.unique(words[words <= self._least[_cells(words)]], return_counts=True)
        cells, first = np.unique(_cells(found), return_index=True)
        found, times = found[first], times[first]
        again = self._least[cells] == found
        self._times[cells] = np.where(again, self._times[cells] + times, times)
        self._least[cells] = found

    def digits(self) -> str:
        marks = 1 + self._least % _MARKS
        return "".join(map(str, np.where(self._times == 1, marks, 0).tolist()))


def _cells(words: _Words) -> _Words:
    return words >> np.uint64(64 - _CELLS_BITS)


def _mixed(words: _Words) -> _Words:
    """The words scattered over all 64 bits (Steele, Lea and Flood 2014, finalizer of SplitMix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def _runs(records: _Words) -> _Words:
    """A word for each run of 2^6 rows in which enough differ from the one before."""
    runs = records
    for bit in range(_RUN_BITS):
        step = 2**bit
        runs = _mixed(runs[:-step]) + runs[step:] if runs.size > step else runs[:0]
    if not runs.size:
        return runs
    changes = np.concatenate([[0], np.cumsum(records[1:] != records[:-1])])
    within = changes[2**_RUN_BITS - 1 :] - changes[: runs.size]
    return _mixed(runs[within >= _FEWEST_CHANGES])


def _has_all(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether every column of the narrower table has its byte in the other."""
    fewer, more = sorted((Counter(one), Counter(other)), key=Counter.total)
    return bool(fewer) and fewer <= more


def _share_most(one: str, other: str) -> bool:
    """Whether more sampled rows are the same than in independent samples, but for one case in 10^9."""
    mine, its = (np.frombuffer(digits.encode("ascii"), dtype=np.uint8) for digits in (one, other))
    nothing = ord("0")
    looked_at = (mine != nothing) | (its != nothing)
    equal = int(np.count_nonzero(looked_at & (mine == its)))
    return equal >= _fewest(int(np.count_nonzero(looked_at)))


@cache
def _fewest(trials: int) -> int:
    """The fewest successes among so many trials that chance gives with probability 10^-9 at most.

    One more than there are trials where no number is so few: then nothing can be told.
    """
    chance, tail, least = _BY_CHANCE + (1 - _BY_CHANCE) / _MARKS, 0.0, trials + 1
    for found in range(trials, -1, -1):
        log_ways = math.lgamma(trials + 1) - math.lgamma(found + 1) - math.lgamma(trials - found + 1)
        tail += math.e ** (log_ways + found * math.log(chance) + (trials - found) * math.log1p(-chance))
        if tail > FALSE_ALARM:
            break
        least = found
    return least
