"""Figures, one style: every function takes `ax=` and returns it; without it a new figure is made."""

from budget_opt.plots.curves import retention_curves
from budget_opt.plots.files import save_figure
from budget_opt.plots.retentions import retention_bars

__all__ = ["retention_bars", "retention_curves", "save_figure"]
