"""What a moment keeps beside how precisely it will be known at n records (DESIGN 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.errors import InputError
from budget_opt.plots.choosing import order_in_words, others_in_words
from budget_opt.plots.names import distinct, moment_label
from budget_opt.plots.side_labels import Labelled, room, side_labels
from budget_opt.plots.style import (
    COLOURS,
    DARK,
    MARKERS,
    axes,
    axis_words,
    finished,
    legend_above,
    plain_logarithms,
    quiet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.estimators.planning.plan import Plan, PlannedMoment

LABEL_WIDTH = 26


def precision_plot(plan: Plan, ax: Axes | None = None) -> Axes:
    """Expected relative standard error (population, log scale) of every moment against its retention.

    The error is divided by the product of the standard deviations of the scores: of a pair it is that of a
    correlation. Moments of one retention differ in precision where marginals are stated. Where there are too
    many for names, the most and the least precise have one; those with no error are counted. Raises
    `InputError` where no moment has one.
    """
    known = [moment for moment in plan.moments if moment.relative_error]
    if not known:
        raise _no_error(plan)
    ax = axes(ax, width=7.6, height=4.4)
    orders = sorted({len(moment.attributes) for moment in known})
    for i, order in enumerate(orders):
        of_order = [moment for moment in known if len(moment.attributes) == order]
        ax.scatter(
            [100 * moment.retention for moment in of_order],
            [_error(moment) for moment in of_order],
            marker=MARKERS[i % len(MARKERS)],
            s=34 if len(known) < 100 else 14,
            facecolor=COLOURS[i % len(COLOURS)],
            edgecolor=DARK if len(known) < 100 else "none",
            linewidth=0.6,
            alpha=0.9,
            label=order_in_words(order),
            zorder=3,
        )
    ax.set_yscale("log")
    ax.set_xlim(0, min(1.1 * max(100 * moment.retention for moment in known), 100.0))
    _set_height(ax, [_error(moment) for moment in known])
    named = _named(known, room(ax))
    labels = distinct(moment_label(moment.attributes, LABEL_WIDTH) for moment in named)
    side_labels(
        ax,
        [Labelled(100 * m.retention, _error(m), text) for m, text in zip(named, labels, strict=True)],
    )
    words = [f"retention of the moment (%); {plan.n:,} records"]
    if unnamed := len(known) - len(named):
        words.append(f"{others_in_words(unnamed, 'moment')} between them")
    if silent := len(plan.moments) - len(known):
        words.append(f"{others_in_words(silent, 'moment')} without an expected error")
    axis_words(ax, "\n".join(words), "expected standard error\n(in standard deviations of the scores)")
    quiet(ax)
    legend_above(ax)
    return finished(ax)


def _no_error(plan: Plan) -> InputError:
    """Why there is nothing to draw."""
    from budget_opt.estimators.planning.precision import least_rows_of

    kept = [least_rows_of(len(moment.attributes)) for moment in plan.moments if moment.retention > 0]
    few = [rows for rows in kept if rows > plan.n]
    if few:
        return InputError(
            f"n: is {plan.n:,}, too few rows for an expected error of any moment. Give at least {min(few)}."
        )
    return InputError("plan: no moment has an expected error. Plan a split that releases the attributes.")


def _error(moment: PlannedMoment) -> float:
    return moment.relative_error or 0.0


def _set_height(ax: Axes, errors: list[float]) -> None:
    """Half a decade at least, with numbers that people read."""
    low, high = min(errors) / 1.2, max(errors) * 1.2
    ax.set_ylim(min(low, high / 3), high)
    # over many decades matplotlib has room for powers of ten alone, and else writes no number at all
    steps = (1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)
    plain_logarithms(ax.yaxis, "{x:.2g}", steps=steps)


def _named(moments: list[PlannedMoment], most: int) -> list[PlannedMoment]:
    """All, or the least and the most precise half each."""
    ordered = sorted(moments, key=_error)
    if len(ordered) <= most:
        return ordered
    return ordered[: most // 2] + ordered[-(most // 2) :]
