"""The words and the table under the sliders, as HTML; every name is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from budget_opt.allocation.merging import retention_heading
from budget_opt.allocation.show import outcome_sentence
from budget_opt.api.planning import plan
from budget_opt.errors import InfeasibleError
from budget_opt.plots.choosing import chosen_moments, others_in_words
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation
    from budget_opt.allocation.allocation import AllocatedMoment
    from budget_opt.errors import BudgetOptError
    from budget_opt.estimators.planning.plan import PlannedMoment

MOST_ROWS = 200
"""Moments in the table; those with limits and the largest weights."""
_CELL = "padding: 1px 10px; text-align: right; border-bottom: 1px solid #ddd"
_NAME = "padding: 1px 10px; text-align: left; border-bottom: 1px solid #ddd; font-weight: normal"
_GROUND = "var(--jp-layout-color0, Canvas)"
_HEAD = f"padding: 1px 10px; text-align: right; position: sticky; top: 0; background: {_GROUND}"


def moments_table(allocation: Allocation, start: Allocation, n: int) -> str:
    """The moments: weight, floor, retention now and at the start, expected relative standard error at n."""
    kept = retention_heading(allocation.moments)
    heads = ["moment", "weight", "floor", kept, "at the start", f"standard error at n = {n:,}"]
    planned = plan(allocation, n).moments
    chosen = chosen_moments(allocation.moments, MOST_ROWS)
    rows = "".join(_row(allocation.moments[k], start.moments[k], planned[k]) for k in chosen.shown)
    rest = f"<p>and {others_in_words(len(chosen.others), 'moment')}</p>" if chosen.others else ""
    styles = [_HEAD.replace("right", "left", 1), *[_HEAD] * (len(heads) - 1)]
    head = "".join(
        f'<th scope="col" style="{style}">{text}</th>' for style, text in zip(styles, heads, strict=True)
    )
    return (
        '<div style="max-height: 22em; overflow: auto" tabindex="0" role="region" aria-label="moments">'
        '<table style="border-collapse: collapse; font-variant-numeric: tabular-nums; line-height: 1.5">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}</div>"
        '<p style="font-size: 85%">Standard errors are expected ones, in standard deviations of the scores '
        "(of a pair: of a correlation), for sampling and randomization together, where the attributes are "
        "hardly linked.</p>"
    )


def _row(moment: AllocatedMoment, before: AllocatedMoment, expected: PlannedMoment) -> str:
    error = expected.relative_error
    cells = (
        f"{moment.weight:g}",
        "" if moment.floor is None else percent(moment.floor),
        percent(moment.retention),
        percent(before.retention),
        "-" if error is None else f"{error:.3g}",
    )
    name = f'<th scope="row" style="{_NAME}">{escape(moment.label)}</th>'
    numbers = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells)
    return f"<tr>{name}{numbers}</tr>"


def status_of(allocation: Allocation) -> str:
    """The objective's value, and whether it is proved."""
    outcome = allocation.objective
    words = _lines(outcome_sentence(outcome))
    if outcome.status == "optimal":
        return _paragraph("proved", words)
    return _paragraph(
        "not proved yet", f"{words}<br>A good split, found quickly. Press prove for the best one."
    )


def impossible(why: BudgetOptError, nearest: tuple[str, float] | None, had_one: bool) -> str:
    """Why the wishes have no split, with ways out; `nearest` is the floor that was moved, and its limit.

    `had_one` where wishes before had one, which is still shown.
    """
    words = _lines(str(why))
    if nearest is not None:
        label, floor = nearest
        words += f"<br>All else as it is, the floor of {escape(label)} can be {100 * floor:.1f} % at most."
    shown = "the last split that was possible" if had_one else "the even split, which does not keep them"
    verdict = "not possible" if isinstance(why, InfeasibleError) else "no split"
    return _paragraph(verdict, f"{words}<br>Shown is {shown}.")


def failed(why: BudgetOptError) -> str:
    """Why a split is still not proved."""
    return _paragraph("not proved", _lines(str(why)))


def working(text: str) -> str:
    """What goes on."""
    return _paragraph("proving", escape(text))


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _paragraph(verdict: str, words: str) -> str:
    return f'<p role="status" style="line-height: 1.45"><b>{verdict}</b>: {words}</p>'


def python_text(document: object) -> str:
    """Python that makes the problem of this document and solves it."""
    from pprint import pformat

    shown = pformat(document, width=100, sort_dicts=False, compact=True)
    return (
        "import budget_opt as bo\n\n"
        f"problem = bo.Problem.from_dict(\n    {shown.replace(chr(10), chr(10) + '    ')}\n)\n"
        "allocation = bo.solve(problem)\nprint(allocation)\n"
    )
