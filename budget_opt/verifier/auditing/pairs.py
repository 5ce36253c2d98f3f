"""All pairs of categories and all reports of one attribute at once.

The r (r + 1) transition probabilities get a lower and an upper bound each, which hold together but for the
stated error; so the largest ratio over all of them is a bound of the loss without any choice.
"""

from __future__ import annotations

import numpy as np

from budget_opt.verifier.auditing.events import Counts
from budget_opt.verifier.auditing.intervals import lower, rounded_down, upper


def loss_at_least(table: Counts, error: float) -> tuple[float, tuple[int, int, int]]:
    """A bound (nats) from counts by truth and report, and where: (truth, other truth, report)."""
    share = error / (2 * table.size)
    totals = table.sum(axis=1)
    low, high = np.zeros(table.shape), np.ones(table.shape)
    for truth, n in enumerate(totals.tolist()):
        # most counts stand more than once, and their bounds are dear
        counts, where = np.unique(table[truth], return_inverse=True)
        low[truth] = lower(counts, n, share)[where]
        high[truth] = upper(counts, n, share)[where]
    report = int((low.max(axis=0) / high.min(axis=0)).argmax())
    truth, other = int(low[:, report].argmax()), int(high[:, report].argmin())
    with np.errstate(divide="ignore"):
        loss = np.log(low[truth, report]) - np.log(high[other, report])
    return (rounded_down(float(loss)) if np.isfinite(loss) else float("-inf")), (truth, other, report)
