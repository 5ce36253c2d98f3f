"""What every analysis will be worth: retention, variance, and errors at n records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.allocation import AllocatedMoment, Allocation
from budget_opt.allocation.merging import OF_MERGED, retention_heading
from budget_opt.allocation.show import touching_lines
from budget_opt.estimators.planning.plan_tables import basis_in_words
from budget_opt.report import figures
from budget_opt.report.blocks import Block, Bullets, Paragraph, Section, Table, Warned
from budget_opt.report.subject import Subject
from budget_opt.report.words import column, count, listed, number, share, whole_percent
from budget_opt.tables.printing import NOTHING

if TYPE_CHECKING:
    from budget_opt.estimators.planning.plan import Plan, PlannedMoment

MOST_NAMES = 20
"""Moments that a sentence names; the tables name all."""
MINUS = "\u2212"
LEAST_POINTS = 1e-4
"""A smaller gain is none: what a solver or a rounding leaves. The sliders of the page say the same."""


def worth(subject: Subject) -> Section:
    """Retention and price in variance of every moment, the plan at n, and the figures."""
    allocation = subject.allocation
    blocks: list[Block] = [
        Paragraph(f"{_factor(allocation)} {_PRICE}"),
        *_missed(allocation),
        *figures.worth_figures(subject),
        _table(subject),
        Bullets((*_lost(allocation), *_touching(allocation), *_bases(allocation), *_not_these())),
        *figures.matrix_figures(allocation),
    ]
    if subject.n is not None:
        blocks += _planned(subject, subject.n)
    else:
        blocks.append(
            Paragraph(
                "Standard errors and power depend on the number of records, which was not given to "
                "this report; budget-opt plan and budget-opt report --n state them."
            )
        )
    return Section("worth", "What each analysis will be worth", tuple(blocks))


_PRICE = (
    "An analyst who divides by it gets the right value on average and pays with variance. So look at both "
    "columns: a retention of 30 % can still mean that the variance grows more than tenfold, above all for "
    "rare categories."
)


def _factor(allocation: Allocation) -> str:
    """What a retention is the factor of, and where it is not that of the moment itself."""
    together = any(moment.touches_twice for moment in allocation.moments)
    merged = any(moment.detail < 1 for moment in allocation.moments)
    if not together and not merged:
        return "Randomizing multiplies every moment by its retention, exactly."
    told = ["Randomizing multiplies a moment by the product of the retentions of what it touches, exactly"]
    if together:
        told.append(
            "but where two attributes of one cluster take part: then that is the factor on the function of "
            "the cluster, and estimates correct the moment through the joint table"
        )
    if not merged:
        return f"{', '.join(told)}."
    return (
        f"{', '.join(told)}. Where categories are merged, that is the factor on the moment {OF_MERGED}, "
        "which is what estimates are of; the retention shown here also counts the share that merging "
        "leaves, which is assumed, not proved."
    )


def _missed(allocation: Allocation) -> list[Block]:
    missed = [moment.label for moment in allocation.moments if not moment.keeps_floor]
    passed = [moment.label for moment in allocation.moments if not moment.keeps_ceiling]
    blocks: list[Block] = [Warned(f"{_plural('Floor', missed)} missed: {listed(missed)}.")] if missed else []
    return (
        [*blocks, Warned(f"{_plural('Ceiling', passed)} exceeded: {listed(passed)}.")] if passed else blocks
    )


def _plural(noun: str, names: list[str]) -> str:
    return noun if len(names) == 1 else f"{noun}s"


def _table(subject: Subject) -> Table:
    moments = subject.allocation.moments
    headings, words = ["Moment", "Weight", retention_heading(moments).capitalize()], [0]
    limited = any(moment.floor is not None or moment.ceiling is not None for moment in moments)
    if limited:
        words.append(len(headings))
        headings.append("Asked for")
    headings.append("Variance x")
    if not subject.is_even:
        headings += ["Even split", "Gain (points)"]
    rows = tuple(_row(subject, moment, limited=limited) for moment in moments)
    return Table("What the split is worth for every moment", tuple(headings), rows, words=tuple(words))


def _row(subject: Subject, moment: AllocatedMoment, *, limited: bool) -> tuple[str, ...]:
    cells = [moment.label, number(moment.weight), share(moment.retention)]
    if limited:
        cells.append(limits_text(moment))
    cells.append(column(moment.variance_inflation))
    if not subject.is_even:
        even = subject.even.retention(*moment.attributes)
        cells += [share(even), points(moment.retention, even)]
    return tuple(cells)


def limits_text(moment: AllocatedMoment) -> str:
    """Floor and ceiling with the verdict in words."""
    words = []
    if moment.floor is not None:
        words.append(f"at least {share(moment.floor)}, {'kept' if moment.keeps_floor else 'missed'}")
    if moment.ceiling is not None:
        words.append(f"at most {share(moment.ceiling)}, {'kept' if moment.keeps_ceiling else 'exceeded'}")
    return "; ".join(words) or NOTHING


def points(after: float, before: float) -> str:
    """The difference of two shares in percentage points, with its sign; 0 where no digit shows any."""
    shown = 100 * (after - before)
    if abs(shown) < LEAST_POINTS or share(after) == share(before):
        return "0"
    text = f"{shown:+.1f}" if abs(shown) >= 0.05 else f"{shown:+.1g}"
    return text.replace("-", MINUS, 1) if shown < 0 else text


def _lost(allocation: Allocation) -> tuple[str, ...]:
    """Moments with a weight of which nothing survives, and what would keep them."""
    lost = [moment.label for moment in allocation.moments if moment.weight > 0 and moment.retention == 0]
    if not lost:
        return ()
    one = len(lost) == 1
    which, them = (
        (lost[0], "it") if one else (f"{len(lost):,} moments ({listed(lost, most=MOST_NAMES)})", "them")
    )
    kind = allocation.objective.kind
    if kind == "min_epsilon":
        return (f"Nothing survives of {which}: no floor asks for {them}.",)
    way_out = f"A floor or an epsilon_min would keep {them}, where budgets and pins leave room."
    if kind == "weighted_sum":
        way_out = f"A floor, an epsilon_min, or the objective geometric_mean would keep {them}."
    return (f"Given up, nothing survives of {which}. {way_out}",)


def _touching(allocation: Allocation) -> list[str]:
    """Which moments have two members of one cluster, and what their retention then is."""
    return [f"{line[:1].upper()}{line[1:]}." for line in touching_lines(allocation)]


def _bases(allocation: Allocation) -> tuple[str, ...]:
    bases = {moment.variance_basis for moment in allocation.moments}
    independence = "on independence within a moment, which is assumed, not proved"
    lines = [f"Variance x rests on {basis_in_words(bases)}, and {independence}."]
    if any("uniform" in basis for basis in bases):
        lines.append(
            "Where only uniform marginals are known, rare categories cost more than the table says. "
            "Public shares of the categories (the field marginal) make the number true."
        )
    return tuple(lines)


def _not_these() -> tuple[str, ...]:
    return (
        (
            "The retention is not the factor on a correlation, a variance or a single marginal: do "
            "not divide these by it. budget-opt estimate gives corrected moments with their standard "
            "errors."
        ),
    )


def _planned(subject: Subject, n: int) -> list[Block]:
    from budget_opt.api.planning import plan

    found = plan(subject.allocation, n, guess=subject.guess)
    return [
        Paragraph(
            f"At n = {n:,} records, before anything is released. Standard errors are of the "
            "standardized moment: of two attributes, a correlation. Power is the chance that a "
            f"two-sided test at {whole_percent(1 - found.level)} finds a moment whose true size is "
            f"{number(subject.guess)}."
        ),
        _plan_table(found, subject.guess),
        *figures.plan_figures(found),
        Paragraph(f"These numbers assume: {'; '.join(found.assumptions)}."),
        *_doubts(found),
    ]


def _plan_table(found: Plan, guess: float) -> Table:
    return Table(
        caption=f"What {found.n:,} records will say",
        headings=(
            "Moment",
            "Worth as many records as",
            "Standard error",
            "of that from randomizing",
            f"Power to find {number(guess)}",
            f"Records for {whole_percent(found.wanted_power)} power",
        ),
        rows=tuple(_plan_row(moment) for moment in found.moments),
    )


def _plan_row(moment: PlannedMoment) -> tuple[str, ...]:
    return (
        moment.label,
        number(moment.effective_n, 3),
        column(moment.relative_error, 3),
        column(moment.relative_error_data, 3),
        share(moment.power),
        NOTHING if moment.n_for_power is None else f"{moment.n_for_power:,}",
    )


def _doubts(found: Plan) -> list[Block]:
    """Moments whose numbers should not be leant on, by reason; those without numbers come last."""
    silent = [moment for moment in found.moments if _is_silent(found, moment)]
    noted: dict[str, list[str]] = {}
    for moment in found.moments:
        if moment.note and moment not in silent:
            noted.setdefault(moment.note, []).append(moment.label)
    lines = [f"{listed(labels, most=MOST_NAMES)}: {note}." for note, labels in noted.items()]
    if silent:
        them = count(len(silent), "moment has", "moments have")
        lines.append(f"{them} no numbers, because an attribute is not released.")
    return [Bullets(tuple(lines))] if lines else []


def _is_silent(found: Plan, moment: PlannedMoment) -> bool:
    public = found.allocation.public
    return not all(found.allocation[name].is_released for name in moment.attributes if name not in public)
