"""Figures in one style: `bo.plots.retention_bars(allocation).figure.savefig("kept.png")`.

Every function takes `ax=` and returns it; without it a new figure of a fitting size is made with pyplot.
`save_figure(path, draw)` and `svg_text(draw, …)` need no pyplot: `draw` takes axes, as in
`lambda ax: retention_bars(allocation, ax=ax)`. Colour-blind readers and grey print are
served: colour is never the only difference. Names are shown as they are and cut where they are long; where
there are more moments than can be read, the most important ones are shown, and the range of the others.

| function | what it shows |
|---|---|
| `allocation_bars(allocation)` | epsilon of every attribute, bounds and pins as marks |
| `retention_bars(allocation)` | what is kept of every moment, floors and ceilings as marks |
| `retention_matrix(allocation)` | what is kept of every pair; moments of more attributes listed |
| `retention_curves(allocation=…)` | lambda against epsilon, the attributes of a split on it |
| `transition_plot(allocation, name)` | how the sampler reports each category of an attribute |
| `frontier_plot(frontier)` | what is kept as the total, a weight, a floor or n is varied |
| `precision_plot(plan)` | retention beside the expected standard error at n |
| `progress_plot(reports)` | value and bound of a solve against seconds; `ProgressLog` collects its reports |
| `observed_retentions(report)` | observed beside predicted retention of a release: internal, marked as such |
"""

from budget_opt.plots.allocations import allocation_bars
from budget_opt.plots.curves import retention_curves
from budget_opt.plots.files import save_figure
from budget_opt.plots.frontiers import frontier_plot
from budget_opt.plots.matrices import retention_matrix
from budget_opt.plots.observed import observed_retentions
from budget_opt.plots.precision import precision_plot
from budget_opt.plots.progress import ProgressLog, progress_plot
from budget_opt.plots.retentions import retention_bars
from budget_opt.plots.svg import svg_text
from budget_opt.plots.transitions import transition_plot

__all__ = [
    "ProgressLog",
    "allocation_bars",
    "frontier_plot",
    "observed_retentions",
    "precision_plot",
    "progress_plot",
    "retention_bars",
    "retention_curves",
    "retention_matrix",
    "save_figure",
    "svg_text",
    "transition_plot",
]
