"""lambda against epsilon (Ruiz 2026, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from budget_opt.mechanisms.randomized_response import retention
from budget_opt.plots.style import COLOURS, DASHES, axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def retention_curves(
    cardinalities: Sequence[int] = (2, 3, 5, 10), largest: float = 10.0, ax: Axes | None = None
) -> Axes:
    """Retention against epsilon (nats, 0 to `largest`), one curve a number of categories r."""
    ax = axes(ax)
    epsilon = np.linspace(0.0, largest, 401)
    for i, r in enumerate(cardinalities):
        ax.plot(
            epsilon,
            retention(epsilon, r),
            color=COLOURS[i % len(COLOURS)],
            linestyle=DASHES[i % len(DASHES)],
            label=f"r = {r}",
        )
    ax.set(
        xlabel="epsilon of the attribute (nats)", ylabel="retention lambda", ylim=(0, 1), xlim=(0, largest)
    )
    ax.legend(title="categories", frameon=False)
    quiet(ax)
    return ax
