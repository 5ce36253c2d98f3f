"""What the sampler makes of each category of one attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.plots.names import distinct, label
from budget_opt.plots.style import DARK, GREY, SHADES, SMALL, axes, axis_words, finished, ink_on, shade
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.allocation import Allocation
    from budget_opt.allocation.blocks import AllocatedAttribute

LARGEST = 12
"""Categories up to which all are shown."""
FIRST, LAST = 5, 2
"""Categories that are shown of more."""
LABEL_WIDTH = 18


def transition_plot(allocation: Allocation, name: str, ax: Axes | None = None) -> Axes:
    """P(report | truth) of the attribute in percent, as the sampler implements it: a row for each truth.

    Of more than 12 categories the first and the last are shown; the others are alike where the background is
    uniform.
    """
    attribute = allocation[name]
    codes = _codes(attribute.cardinality)
    count = len(codes)
    ax = axes(ax, width=2.6 + 0.52 * count, height=2.2 + 0.42 * count)
    shares = _shares(attribute, codes)
    style: dict[str, Any] = {
        "cmap": SHADES,
        "vmin": 0.0,
        "vmax": 1.0,
        "edgecolors": "white",
        "linewidth": 1.0,
    }
    edges = np.arange(count + 1) - 0.5
    ax.pcolormesh(edges, edges, shares, **style)
    for i, j in np.ndindex(shares.shape):
        left_out = np.isnan(shares[i, j])
        text = "…" if left_out else _number(float(shares[i, j]))
        colour = GREY if left_out else ink_on(shade(float(shares[i, j])))
        ax.text(j, i, text, ha="center", va="center", fontsize=SMALL, color=colour)
    labels = distinct(_label(attribute, code) for code in codes)
    ax.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
    ax.set_xticks(range(count), labels, rotation=40, ha="right", rotation_mode="anchor", fontsize=SMALL)
    ax.set_yticks(range(count), labels, fontsize=SMALL)
    ax.tick_params(length=0, labelcolor=DARK)
    ax.spines[:].set_visible(False)
    axis_words(ax, "reported category (%)", "true category")
    ax.text(
        0.0, 1.02, _sentence(attribute), transform=ax.transAxes, fontsize=SMALL, color=GREY, linespacing=1.4
    )
    return finished(ax)


def _codes(cardinality: int) -> list[int | None]:
    """The categories shown, None for those left out between them."""
    if cardinality <= LARGEST:
        return list(range(cardinality))
    return [*range(FIRST), None, *range(cardinality - LAST, cardinality)]


def _shares(attribute: AllocatedAttribute, codes: list[int | None]) -> np.ndarray:
    """P of the categories shown; NaN in the row and column of those left out."""
    known = [0 if code is None else code for code in codes]
    if attribute.has_retention:
        shares = np.tile(attribute.other_probabilities[known], (len(codes), 1))
        np.fill_diagonal(shares, attribute.truth_probabilities[known])
    else:
        shares = _matrix(attribute)[np.ix_(known, known)]
    gaps = [i for i, code in enumerate(codes) if code is None]
    shares[gaps, :] = shares[:, gaps] = np.nan
    return shares


def _label(attribute: AllocatedAttribute, code: int | None) -> str:
    if code is None:
        return f"{attribute.cardinality - FIRST - LAST:,} more"
    text = attribute.domain.labels[code]
    return "(missing)" if text is None else label(str(text), LABEL_WIDTH)


def _number(share: float) -> str:
    """Percent in at most five characters."""
    hundredth = 100 * share
    if hundredth >= 1 or share == 0:
        return f"{hundredth:.1f}"
    return f"{hundredth:.2f}" if hundredth >= 0.005 else f"{hundredth:.0e}"


def _matrix(attribute: AllocatedAttribute) -> np.ndarray:
    """P of a matrix that a known source chose, rows the truth."""
    return np.array([[float(share) for share in row] for row in attribute.exact_matrix])


def _laws(attribute: AllocatedAttribute) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of the truth, and of single other categories."""
    if attribute.has_retention:
        return attribute.truth_probabilities, attribute.other_probabilities
    matrix = _matrix(attribute)
    return np.diagonal(matrix), matrix[~np.eye(attribute.cardinality, dtype=bool)]


def _sentence(attribute: AllocatedAttribute) -> str:
    others = attribute.cardinality - 1
    truth, other = map(_range, _laws(attribute))
    if others == 1:
        split = f"the other category in {other}"
    else:
        split = f"each of the {others:,} other categories in {other}"
    return f"{label(attribute.name)}, epsilon {attribute.epsilon:.4g}: the truth in {truth},\n{split}"


def _range(probabilities: np.ndarray) -> str:
    """One probability, or from the least to the largest, where they depend on the category."""
    least, most = percent(float(probabilities.min())), percent(float(probabilities.max()))
    return most if least == most else f"{least} to {most}"
