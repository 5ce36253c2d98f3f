"""Transition counts of one attribute, or of a cluster's joint codes, against its matrix: binomial tests.

Given the originals the reports of an attribute are independent, and row i is reported wrong with the same
probability whatever its truth. So, exactly and for every table of originals:
- the number of changed cells is binomial (n, (r - 1) p), p the probability of each wrong category;
- the number of rows with report - truth = s mod r is binomial (n, p), for each s != 0;
- of the n_u rows with truth u, the changed ones are binomial (n_u, (r - 1) p), and those that became v
  binomial (n_u, p).
Tests of one kind share their part of the false-alarm rate by Bonferroni; as all cells of a row of the
matrix have one p, the largest and smallest counts decide for all of them.

Under a background that is not uniform category v is reported wrong with a probability o_v of its own, and

- the number of changed cells is a sum of binomials (n_u, c_u), c_u = sum of o_v over v != u. Its tails at and
  beyond one from the mean are at most those of the binomial (n, mean / n) (Hoeffding 1956, Theorem 5);
- of the n - n_v rows with another truth those that became v are binomial (n - n_v, o_v);
- of the n_u rows with truth u, the changed ones are binomial (n_u, c_u), and those that became v (n_u, o_v).

Of a matrix Q that a known source chose the first and the last hold with c_u = 1 - Q[u, u] and Q[u, v] in the
place of o_v; a category that is censored is never reported, which is such a test too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from budget_opt.tables.binomial import Probabilities, acceptance, two_sided
from budget_opt.tables.counting import AnyCodes, IntArray, joint_counts
from budget_opt.verifier.channels import BackgroundChannel, Channel, ColumnChannel, MatrixChannel

LARGEST_MATRIX = 2**22
"""Cells up to which every transition is counted (32 MB); above, single cells are not tested."""
_SHOWN_CELLS = 2**10
_KINDS = 4


@dataclass(frozen=True)
class Totals:
    """Rows by truth, by report, kept by truth, and by (report - truth) mod r, each (r,).

    `matrix` (r, r) has the rows by truth and report, None where that is too large.
    """

    truths: IntArray
    reports: IntArray
    kept: IntArray
    shifts: IntArray
    matrix: IntArray | None


class TransitionCounts:
    """Running counts of (truth, report) of one attribute; batches add up."""

    def __init__(self, cardinality: int) -> None:
        self._r = r = cardinality
        self._matrix = np.zeros((r, r), dtype=np.int64) if r * r <= LARGEST_MATRIX else None
        self._vectors = np.zeros((4, r), dtype=np.int64)

    def add(self, truth: AnyCodes, report: AnyCodes) -> None:
        """Count one batch of codes 0 .. r-1, row by row."""
        r = self._r
        if self._matrix is not None:
            self._matrix += joint_counts([truth, report], (r, r))
            return
        shift = (report.astype(np.int64) - truth.astype(np.int64)) % r
        counted = (truth, report, truth[shift == 0], shift)
        self._vectors += np.stack([np.bincount(codes, minlength=r) for codes in counted])

    def totals(self) -> Totals:
        """The counts of all batches."""
        if self._matrix is None:
            truths, reports, kept, shifts = self._vectors
            return Totals(truths, reports, kept, shifts, None)
        matrix = self._matrix
        return Totals(matrix.sum(axis=1), matrix.sum(axis=0), np.diagonal(matrix), _by_shift(matrix), matrix)


def _by_shift(matrix: IntArray) -> IntArray:
    r = matrix.shape[0]
    codes = np.arange(r)
    # row u moved left by u puts report u + s under column s
    moved = matrix[codes[:, None], (codes[:, None] + codes[None, :]) % r]
    shifts: IntArray = moved.sum(axis=0)
    return shifts


@dataclass(frozen=True)
class TransitionEvidence:
    """What the transition counts of one attribute say.

    Shares are of the n rows: `kept` reported as they were, `lowest` .. `highest` what is accepted.
    `least_tail` is the smallest tail probability of the other tests times their number, to be compared
    with `alarm`. `line_up` estimates lambda from the rows (None where the column is constant): near 0
    the rows do not belong together. `smallest_fault` is the error of P(report = truth) that is
    noticed in every second release of this size, `smallest_skew` about that of the probability of one wrong
    category, among the rows of the most frequent truth; each is None where no count would be noticed.
    `counts` is the matrix, rows the truth, where it is small.
    """

    name: str
    n: int
    truth_probability: float
    kept: float
    lowest: float
    highest: float
    least_tail: float
    alarm: float
    retention: float | None
    line_up: float | None
    smallest_fault: float | None
    smallest_skew: float | None
    every_cell: bool
    counts: list[list[int]] | None

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain values for JSON."""
        return asdict(self)

    @property
    def kept_holds(self) -> bool:
        """True where the share of kept cells is accepted."""
        return self.lowest <= self.kept <= self.highest

    @property
    def untouched_is_noticed(self) -> bool:
        """True where a release of the originals as they are keeps more cells than are accepted."""
        return self.highest < 1

    @property
    def fault_in_words(self) -> str:
        """The smallest wrong share of kept cells that is noticed, on the sides where one is."""
        told = f"{100 * (self.smallest_fault or 0):.2g} percentage points"
        sides = {(True, True): "more or fewer", (True, False): "more", (False, True): "fewer"}
        side = sides.get((self.highest < 1, self.lowest > 0))
        return "nothing: there are too few rows" if side is None else f"{told} {side}"

    @property
    def skew_in_words(self) -> str:
        """The smallest wrong share of one change that is noticed."""
        if self.smallest_skew is None:
            return "nothing: there are too few rows of any truth"
        return (
            f"about {100 * self.smallest_skew:.2g} percentage points more or fewer changes into a "
            "certain category, of the rows with the most frequent truth"
        )

    @property
    def counts_hold(self) -> bool:
        """True where no other count is too unlikely."""
        return self.least_tail > self.alarm

    @property
    def out_of_line(self) -> bool:
        """True where too few cells are kept, nearly as few as between rows that do not belong together."""
        due = self.retention
        if due is None or self.line_up is None:
            return False
        return self.kept < self.lowest and self.line_up < due / 2


def judge_transitions(channel: ColumnChannel, counts: Totals, false_alarm: float) -> TransitionEvidence:
    """Judge n >= 1 rows; a sound matrix fails with probability at most `false_alarm`."""
    n, r = int(counts.truths.sum()), channel.cardinality
    kept, changed = int(counts.kept.sum()), _changed(channel, counts)
    share = false_alarm / _KINDS
    low, high = acceptance(n, changed, share / 2)
    faults = ([high - n * changed] if high < n else []) + ([n * changed - low] if low > 0 else [])
    tails = _tails_of(channel, counts)
    shown = counts.matrix is not None and r * r <= _SHOWN_CELLS
    return TransitionEvidence(
        name=channel.name,
        n=n,
        truth_probability=float(1 - channel.changed) if isinstance(channel, Channel) else 1.0 - changed,
        kept=kept / n,
        lowest=(n - high) / n,
        highest=(n - low) / n,
        least_tail=min(1.0, *tails),
        alarm=share,
        retention=None if isinstance(channel, MatrixChannel) else float(channel.retention),
        line_up=_line_up(counts, n),
        smallest_fault=max(faults) / n if faults else None,
        smallest_skew=_smallest_skew(channel, counts.truths, share / (r * (r - 1))),
        every_cell=counts.matrix is not None,
        counts=counts.matrix.tolist() if shown and counts.matrix is not None else None,
    )


def _changed(channel: ColumnChannel, counts: Totals) -> float:
    """The expected share of changed cells, given the truths."""
    if isinstance(channel, Channel):
        return float(channel.changed)
    return float(counts.truths @ channel.changed_from / counts.truths.sum())


def _tails_of(channel: ColumnChannel, counts: Totals) -> list[float]:
    if isinstance(channel, MatrixChannel):
        return _tails_by_truth(channel, counts)
    return _tails(channel, counts) if isinstance(channel, Channel) else _tails_by_category(channel, counts)


def _tails_by_truth(channel: MatrixChannel, counts: Totals) -> list[float]:
    """The same as `_tails` where every truth has a law of its own; small enough for all single cells."""
    r, truths = channel.cardinality, counts.truths
    assert counts.matrix is not None
    found = two_sided(counts.matrix, truths[:, None], channel.matrix)
    np.fill_diagonal(found, 1.0)
    changed = _least(truths - counts.kept, truths, channel.changed_from)
    return [r * changed, r * (r - 1) * float(found.min())]


def _tails_by_category(channel: BackgroundChannel, counts: Totals) -> list[float]:
    """The same as `_tails` where every category has its own probability."""
    r, others, n, truths = channel.cardinality, channel.others, counts.truths.sum(), counts.truths
    tails = [
        r * _least(counts.reports - counts.kept, n - truths, others),
        r * _least(truths - counts.kept, truths, channel.changed_from),
    ]
    if counts.matrix is not None:
        found = two_sided(counts.matrix, truths[:, None], others[None, :])
        np.fill_diagonal(found, 1.0)
        tails.append(r * (r - 1) * float(found.min()))
    return tails


def _tails(channel: Channel, counts: Totals) -> list[float]:
    """The smallest two-sided tail of each kind of test, times the number of tests of that kind."""
    r, other = channel.cardinality, float(channel.other)
    n, truths = counts.truths.sum(), counts.truths
    tails = [
        (r - 1) * _least(counts.shifts[1:], n, other),
        r * _least(truths - counts.kept, truths, float(channel.changed)),
    ]
    if counts.matrix is not None:
        wrong = counts.matrix.astype(np.float64)
        np.fill_diagonal(wrong, -np.inf)
        most = wrong.max(axis=1)
        np.fill_diagonal(wrong, np.inf)
        tails.append(r * (r - 1) * _least(np.stack([most, wrong.min(axis=1)]), truths, other))
    return tails


def _least(k: Any, n: Any, p: Probabilities) -> float:
    return float(two_sided(k, n, p).min())


def _smallest_skew(channel: ColumnChannel, truths: IntArray, tail: float) -> float | None:
    """The excess of one wrong category over its probability p that the most frequent truth would show.

    None where it would show none. Where categories have their own probabilities, of that with the largest.
    """
    frequent = int(truths.argmax())
    others = channel.matrix[frequent] if isinstance(channel, MatrixChannel) else channel.others
    rows, other = int(truths[frequent]), float(np.delete(others, frequent).max())
    _, high = acceptance(rows, other, tail / 2)
    return max(high / rows - other, 0.0) if high < rows else None


def _line_up(counts: Totals, n: int) -> float | None:
    """(kept - chance) / (1 - chance), chance the agreement of the two columns in random order."""
    chance = float(counts.truths / n @ (counts.reports / n))
    return None if chance == 1 else (float(counts.kept.sum()) / n - chance) / (1 - chance)
