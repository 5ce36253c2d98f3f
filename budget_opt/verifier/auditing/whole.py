"""The whole record: a product test over a worst pair of records, chosen and tested on different records.

Of each attribute the pair is that of its chosen event. What a record's reports say about the pair is scored
by the sum over attributes of log P(report | one) - log P(report | other), as far as the first records tell;
the set tested is {score >= t}, the sharpest for that score (Neyman, Pearson), with t chosen on one half
of the pair's records and the bound taken from the other half. Any score gives a valid bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from budget_opt.verifier.auditing.events import Event, counted
from budget_opt.verifier.auditing.intervals import loss_at_least
from budget_opt.verifier.auditing.rows import Rows

FloatArray = npt.NDArray[np.float64]


def record_loss_at_least(
    explored: Rows, rows: Rows, is_truth: npt.NDArray[np.bool_], events: Sequence[Event], error: float
) -> float:
    """A bound of the record's loss (nats); `is_truth` tells which rows hold the events' truths."""
    scores = _scores(explored, rows, events)
    half = len(rows) // 2
    limit = _chosen_limit(scores[:half], is_truth[:half], error)
    inside, given = scores[half:] >= limit, is_truth[half:]
    return loss_at_least(_count(inside, given), _count(inside, ~given), error)


def _scores(explored: Rows, rows: Rows, events: Sequence[Event]) -> FloatArray:
    scores = np.zeros(len(rows))
    for event in events:
        table = counted(explored, event.b)
        if table is not None:
            pair = table[[event.truth, event.other]] + 0.5
            logs = np.log(pair / pair.sum(axis=1, keepdims=True))
            scores += (logs[0] - logs[1])[rows.reports[event.b]]
    return scores


def _chosen_limit(scores: FloatArray, is_truth: npt.NDArray[np.bool_], error: float) -> float:
    """The limit with the largest bound on these records."""
    candidates = np.unique(np.quantile(scores, np.linspace(0, 1, 200), method="higher"))
    bounds = [
        loss_at_least(_count(scores >= limit, is_truth), _count(scores >= limit, ~is_truth), error)
        for limit in candidates
    ]
    return float(candidates[int(np.argmax(bounds))])


def _count(inside: npt.NDArray[np.bool_], given: npt.NDArray[np.bool_]) -> tuple[int, int]:
    return int(np.count_nonzero(inside & given)), int(np.count_nonzero(given))
