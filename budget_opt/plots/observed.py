"""The observed beside the predicted retention of a release: internal, computed from the originals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.errors import InputError
from budget_opt.plots.choosing import LARGEST, others_in_words
from budget_opt.plots.internal import watermark
from budget_opt.plots.names import distinct, moment_label
from budget_opt.plots.style import (
    COLOURS,
    DARK,
    LIGHT,
    axes,
    axis_words,
    finished,
    legend_above,
    quiet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.verifier.release_report import ReleaseReport
    from budget_opt.verifier.retentions import RetentionEvidence


def observed_retentions(report: ReleaseReport, ax: Axes | None = None, largest: int = LARGEST) -> Axes:
    """Observed retention with two standard errors, the predicted one, and where a sound release is.

    `report` is that of `bo.verify_release`. INTERNAL: the figure carries the notice across it, and
    `save_figure` puts it into the file. Moments that are too small in the data to have an observed retention
    are counted below; of more than `largest` those farthest from the prediction are shown. Raises
    `InputError` where there is nothing to show.
    """
    from budget_opt.verifier.release_report import INTERNAL_NOTICE

    if not getattr(report, "retentions", ()):
        raise InputError(
            "report: holds no observed retention. Give what bo.verify_release returns, of a moment at least."
        )
    measured = [evidence for evidence in report.retentions if evidence.is_measurable]
    shown = sorted(measured, key=_distance, reverse=True)[:largest]
    shown = [evidence for evidence in measured if evidence in shown]
    ax = axes(ax, width=7.4, height=1.7 + 0.34 * max(len(shown), 3))
    for row, evidence in enumerate(shown):
        _draw_row(ax, row, evidence)
    labels = distinct(moment_label(evidence.attributes) for evidence in shown)
    ax.set_yticks(range(len(shown)), labels)
    ax.set_ylim(max(len(shown), 3) - 0.5, -0.5)
    _set_view(ax, shown)
    axis_words(ax, "\n".join(["retention (%)", *_left_out(report, measured, shown)]))
    quiet(ax, "x")
    ax.tick_params(axis="y", length=0)
    _legend(ax, report)
    watermark(ax, report.notice or INTERNAL_NOTICE)
    return finished(ax)


def _draw_row(ax: Axes, row: int, evidence: RetentionEvidence) -> None:
    predicted = 100 * (evidence.predicted_retention or 0.0)
    observed, error = 100 * (evidence.retention or 0.0), 100 * (evidence.retention_error or 0.0)
    reach = 100 * (evidence.smallest_fault or 0.0)
    ax.barh(row, 2 * reach, 0.62, left=predicted - reach, color=LIGHT, alpha=0.55)
    ax.plot([predicted] * 2, [row - 0.33, row + 0.33], color=DARK, linewidth=1.6, solid_capstyle="butt")
    ax.errorbar(
        observed,
        row,
        xerr=2 * error,
        fmt="o" if evidence.holds else "X",
        color=COLOURS[0] if evidence.holds else COLOURS[5],
        markersize=5 if evidence.holds else 8,
        capsize=3,
        linewidth=1.2,
    )


def _distance(evidence: RetentionEvidence) -> float:
    """Of the released moment from its expectation, in tolerances."""
    return abs(evidence.projection.observed - evidence.projection.predicted) / evidence.tolerance


def _set_view(ax: Axes, shown: list[RetentionEvidence]) -> None:
    """What was observed and predicted is in view; a band may reach beyond."""
    if not shown:
        return
    centres = np.array([100 * (evidence.retention or 0.0) for evidence in shown])
    errors = np.array([200 * (evidence.retention_error or 0.0) for evidence in shown])
    predicted = np.array([100 * (evidence.predicted_retention or 0.0) for evidence in shown])
    low, high = min(0.0, (centres - errors).min()), max((centres + errors).max(), predicted.max())
    ax.set_xlim(max(low, -100.0) - (2 if low < 0 else 0), min(1.08 * high, 200.0))


def _left_out(
    report: ReleaseReport, measured: list[RetentionEvidence], shown: list[RetentionEvidence]
) -> list[str]:
    lines = []
    if small := len(report.retentions) - len(measured):
        lines.append(
            f"{others_in_words(small, 'moment')} too small in the data to have an observed retention"
        )
    if rest := len(measured) - len(shown):
        lines.append(f"{others_in_words(rest, 'moment')} nearer to the prediction not shown")
    return lines


def _legend(ax: Axes, report: ReleaseReport) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    rate = f"{report.false_alarm:g}" if report.false_alarm is not None else "the false-alarm rate"
    band = f"where a sound release is (all but {rate})"
    handles: dict[str, Any] = {
        "observed, two standard errors": Line2D([], [], color=COLOURS[0], marker="o", markersize=5),
        "predicted": Line2D([], [], color=DARK, marker="|", markersize=9, linestyle="none"),
        band: Patch(color=LIGHT, alpha=0.55),
    }
    if any(not evidence.holds for evidence in report.retentions):
        handles["fails"] = Line2D([], [], color=COLOURS[5], marker="X", markersize=8, linestyle="none")
    legend_above(ax, handles=handles, lift=2.0)
