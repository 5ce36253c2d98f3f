"""The worst pair of categories and the worst set of reports, chosen on some records and tested on others.

For attribute b and the values x, x' of its pair, all other values V random, an event E may look at everything
that an attacker who knows V sees: at the report of b together with the report of another attribute a, with
the noise of a (report - truth mod r_a), or with the number of other values that were kept. For a sound
sampler

    P(E | x_b = x, V) <= exp(e_b) P(E | x_b = x', V),

and so it is on average over V, which is drawn alike for both. Words that two attributes share, a report that
carries another value, and records that are now and then left as they are all break it. Where it holds for
all V and every b, the loss of any pair of records is at most the sum of the e_b.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import joint_counts
from budget_opt.verifier.auditing.intervals import loss_at_least
from budget_opt.verifier.auditing.rows import Codes, Rows

Kind = Literal["alone", "report", "noise", "others"]
Counts = npt.NDArray[np.int64]

LARGEST_TABLE = 2**22
"""Cells of a table of counts (32 MB); what needs more is not looked at."""
_OUTPUTS_TRIED = 4


@dataclass(frozen=True)
class Companion:
    """What is seen beside the report of an attribute; `of` is another attribute's number, or -1."""

    kind: Kind
    of: int = -1

    def values(self, rows: Rows, b: int) -> tuple[Codes | int, int]:
        """The value of each record, and how many different ones there can be."""
        if self.kind == "alone":
            return 0, 1
        if self.kind == "others":
            equal = rows.truths == rows.reports
            kept: Codes = equal.sum(axis=0, dtype=np.int32) - equal[b]
            return kept, len(rows.cardinalities)
        r, reports = rows.cardinalities[self.of], rows.reports[self.of]
        if self.kind == "report":
            return reports, r + 1
        return np.where(reports == r, r, (reports - rows.truths[self.of]) % r).astype(np.int32), r + 1


@dataclass(frozen=True)
class Event:
    """Reports of attribute `b`, with a companion, that are likelier under `truth` than under `other`."""

    b: int
    truth: int
    other: int
    companion: Companion
    reports: npt.NDArray[np.bool_]
    score: float

    def loss_at_least(self, rows: Rows, error: float) -> float:
        """A bound of the loss (nats) from records that were not looked at before."""
        inside = self.reports[_seen(rows, self.b, self.companion)[0]]
        more, fewer = (
            (int(np.count_nonzero(inside & given)), int(np.count_nonzero(given)))
            for given in (rows.truths[self.b] == code for code in (self.truth, self.other))
        )
        return loss_at_least(more, fewer, error)


def companions(others: Sequence[int]) -> Iterator[Companion]:
    """An attribute alone, with all others together, and with each of the `others` one by one."""
    yield Companion("alone")
    if others:
        yield Companion("others")
    for a in others:
        yield Companion("report", a)
        yield Companion("noise", a)


def chosen_event(rows: Rows, b: int, looked_at: Sequence[Companion], z: float) -> Event:
    """The event with the largest expected bound, `z` the quantile of its error; alone where none shows."""
    best: Event | None = None
    for companion in looked_at:
        table = counted(rows, b, companion)
        found = None if table is None else best_in(table, b, z, companion)
        if found is not None and (best is None or found.score > best.score):
            best = found
    return best or _plain(rows.cardinalities[b], b)


def counted(rows: Rows, b: int, companion: Companion = Companion("alone")) -> Counts | None:
    """Records by the truth of b and by what is seen, None where the table would be too large."""
    r = rows.cardinalities[b]
    size = (r + 1) * _width(rows, companion)
    if r * size > LARGEST_TABLE:
        return None
    return joint_counts((rows.truths[b], _seen(rows, b, companion)[0]), (r, size))


def _width(rows: Rows, companion: Companion) -> int:
    if companion.kind == "alone":
        return 1
    return len(rows.cardinalities) if companion.kind == "others" else rows.cardinalities[companion.of] + 1


def _seen(rows: Rows, b: int, companion: Companion) -> tuple[npt.NDArray[np.int64], int]:
    """Report and companion of every record as one number, and how many there are."""
    values, width = companion.values(rows, b)
    return rows.reports[b] * np.int64(width) + values, (rows.cardinalities[b] + 1) * width


def quantile(error: float) -> float:
    """The quantile of the normal law at half of an error, for choosing."""
    return -NormalDist().inv_cdf(error / 2)


def best_in(table: Counts, b: int, z: float, companion: Companion = Companion("alone")) -> Event | None:
    """The event of a table, by the truth of b and by what is seen, with the largest expected bound."""
    totals = table.sum(axis=1, keepdims=True)
    above, below = _log_low(table, totals, z), _log_high(table, totals, z)
    gains = above.max(axis=0) - below.min(axis=0)
    best: Event | None = None
    for output in np.argsort(gains)[::-1][:_OUTPUTS_TRIED].tolist():
        if not np.isfinite(gains[output]):
            break
        truth, other = int(above[:, output].argmax()), int(below[:, output].argmin())
        reports, score = _extended(table[truth], table[other], totals[truth, 0], totals[other, 0], z)
        if truth != other and (best is None or score > best.score):
            best = Event(b, truth, other, companion, reports, score)
    return best


def _extended(
    more: Counts, fewer: Counts, n: Any, others: Any, z: float
) -> tuple[npt.NDArray[np.bool_], float]:
    """The set of reports with the largest expected bound, by falling likelihood ratio."""
    order = np.argsort(-more / (fewer + 1.0), kind="stable")
    scores = _log_low(np.cumsum(more[order]), n, z) - _log_high(np.cumsum(fewer[order]), others, z)
    count = int(np.argmax(scores)) + 1
    inside = np.zeros(more.size, dtype=np.bool_)
    inside[order[:count]] = True
    return inside, float(scores[count - 1])


def _log_low(k: Any, n: Any, z: float) -> Any:
    """About log of the lower bound of k / n: a choice needs no more."""
    root = np.sqrt(k) - z / 2
    with np.errstate(divide="ignore"):
        return 2 * np.log(np.maximum(root, 0)) - np.log(np.maximum(n, 1))


def _log_high(k: Any, n: Any, z: float) -> Any:
    """About log of the upper bound of k / n, at most 0."""
    return np.minimum(2 * np.log(np.sqrt(k + 1) + z / 2) - np.log(np.maximum(n, 1)), 0.0)


def _plain(cardinality: int, b: int) -> Event:
    """The report 0, for the truth 0 against 1."""
    return Event(b, 0, 1, Companion("alone"), np.arange(cardinality + 1) == 0, float("-inf"))
