"""The figure of the explorer: who gets what, and what the moments in view keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.plots.choosing import chosen_blocks
from budget_opt.plots.live import LiveBars, Row, Side
from budget_opt.plots.names import distinct, label, moment_label
from budget_opt.tables.printing import percent

MOST_BLOCKS = 24
LABEL_WIDTH = 26


class Picture:
    """Draws splits of one problem beside its split at the start; `moments` are the positions in view."""

    def __init__(self, start: Allocation, moments: Sequence[int]) -> None:
        self._blocks = chosen_blocks(start, MOST_BLOCKS).shown
        self._moments = tuple(moments)
        self._others = [k for k in range(len(start.moments)) if k not in set(moments)]
        names = distinct(label(start.blocks[m].name, LABEL_WIDTH) for m in self._blocks)
        kept = distinct(moment_label(start.moments[k].attributes, LABEL_WIDTH) for k in self._moments)
        if self._others:
            kept.append(f"median of {len(self._others):,} others")
        budget = self._budget(start)
        self._bars = LiveBars(
            [
                Side(names, "epsilon of the attribute (nats)", [row.value for row in budget]),
                Side(kept, "retention of the moment (%)", [row.value for row in self._kept(start)]),
            ]
        )

    def png(self, allocation: Allocation, faded: bool = False) -> bytes:
        """The image of this split; `faded` where it is not that of the wishes."""
        return self._bars.png([self._budget(allocation), self._kept(allocation)], faded)

    def _budget(self, allocation: Allocation) -> list[Row]:
        shown = [allocation.blocks[m] for m in self._blocks]
        return [Row(attribute.epsilon, None, f"{attribute.epsilon:.3g}") for attribute in shown]

    def _kept(self, allocation: Allocation) -> list[Row]:
        shown = [allocation.moments[k] for k in self._moments]
        rows = [
            Row(
                100 * moment.retention,
                None if moment.floor is None else 100 * moment.floor,
                percent(moment.retention),
            )
            for moment in shown
        ]
        if self._others:
            middle = float(np.median([allocation.moments[k].retention for k in self._others]))
            rows.append(Row(100 * middle, None, percent(middle)))
        return rows
