"""What the release promises to every record, in words, and what it does not promise."""

from __future__ import annotations

from budget_opt.accounting.meaning import Meaning, meaning_of
from budget_opt.accounting.meaning_text import column_cells
from budget_opt.accounting.price import Paid, paid_by
from budget_opt.accounting.words import (
    group_sentence,
    membership_sentence,
    odds_text,
    order_sentences,
    own_column_sentence,
    prior_sentence,
    record_sentence,
    unit_sentences,
)
from budget_opt.allocation import Allocation
from budget_opt.mechanisms.odds import largest_odds, odds_to_probability
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import decimal_text, nats, unconfirmed, what_came_from_the_data
from budget_opt.report.blocks import Block, Bullets, Facts, Paragraph, Section, Table, Warned
from budget_opt.report.subject import Subject
from budget_opt.report.words import NO_BREAK, count, listed, share
from budget_opt.tables.printing import at_most

_HEADINGS = (
    "Column",
    "Odds factor at most",
    "Reported is true",
    "Best guess without the report",
    "Best guess with it",
    "Prior",
)
"""Of what one column shows: `column_cells` in words for a board."""
PRIORS = (0.001, 0.01, 0.1, 0.5)
"""What somebody may believe before the release, in the table of what they may believe after it."""


def guarantee(subject: Subject) -> Section:
    """The guarantee, its size, its limits, and the assumptions that it rests on."""
    allocation = subject.allocation
    meaning, paid = meaning_of(allocation, {}, {}), paid_by(allocation)
    blocks: list[Block] = [
        *(Warned(f"{one[0].upper()}{one[1:]}.") for one in what_came_from_the_data(subject.problem)),
        Paragraph(
            "The release is differentially private for each single record. Whatever the values of one "
            "record are replaced by, the odds of any released table change by a factor of at most exp(loss), "
            f"here {odds_text(allocation.loss)}. This holds whatever anybody knows, and for every use that "
            f"is ever made of the release.{_with_the_allocation(paid)}"
        ),
        _size(allocation, meaning),
        Paragraph(record_sentence(allocation)),
        Paragraph(
            "The same for other suspicions: whoever knows every other record, and suspects something "
            f"about this one, can become at most so sure of it by the release{paid.aside}. This is a bound, "
            "not a prediction."
        ),
        _beliefs(paid),
        Bullets(_promises()),
        *_columns(allocation, meaning),
        Paragraph("What is not promised:"),
        Bullets(_not_promised(subject)),
        Paragraph("What is released beside the randomized values:"),
        Facts(_released(subject)),
    ]
    if unsure := unconfirmed(subject.problem):
        blocks.append(
            Warned(
                f"Not stated to be public: {listed(unsure)}. The guarantee assumes that "
                f"{'it was' if len(unsure) == 1 else 'these were'} fixed without looking at the data. "
                "State it in the problem's field provenance, or account for it."
            )
        )
    elif not subject.problem.not_public:
        blocks.append(
            Paragraph(
                "All weights, floors, domains, scores, marginals and totals of the problem are stated to be "
                "public: chosen without looking at the data. The guarantee rests on this statement."
            )
        )
    return Section("guarantee", "What is guaranteed, and what is not", tuple(blocks))


def _with_the_allocation(paid: Paid) -> str:
    """What the first paragraph does not count, and the figures after it do."""
    if not paid.is_bounded:
        return " It holds for the randomized columns: the allocation itself is outside the guarantee."
    if not paid.making:
        return ""
    return (
        f" What was made from the data before, under {nats(decimal_text(paid.making))} of its own, leaves "
        f"with it: both together change odds by a factor of at most {odds_text(paid.record)}."
    )


def _size(allocation: Allocation, meaning: Meaning) -> Facts:
    return Facts(
        (
            ("Whose privacy", _unit(allocation)),
            (
                "Epsilon spent",
                f"{nats(at_most(allocation.spent_epsilon, 9))}, the exact sum over the attributes",
            ),
            (
                "Privacy loss",
                f"{nats(at_most(allocation.loss, 9))}: what the sampler's integers implement, rounded up",
            ),
            *_deltas(allocation, meaning),
        )
    )


def _deltas(allocation: Allocation, meaning: Meaning) -> tuple[tuple[str, str], ...]:
    """What is guaranteed for certain, and with a delta."""
    if allocation.total_delta > 0:
        return (("Without a delta, and with one", meaning.approximate),)
    return (
        ("Delta", "0: there is no probability with which the guarantee fails"),
        ("With a small delta", meaning.approximate),
    )


def _unit(allocation: Allocation) -> str:
    """One record, or a person with several, and how often."""
    unit, record = allocation.unit, "One record: its values in all attributes at once"
    if unit.of == "record" and allocation.waves == 1:
        return record
    many = f"{count(unit.max_rows, 'record')} each" if unit.of == "person" else ""
    waves = f"{count(allocation.waves, 'release')} planned" if allocation.waves > 1 else ""
    paid = paid_by(allocation)
    return (
        f"{record}. A unit is a {unit.of} ({', '.join(filter(None, (many, waves)))}): "
        f"{nats(at_most(paid.planned, 9))} in all{paid.aside}"
    )


def _columns(allocation: Allocation, meaning: Meaning) -> tuple[Block, ...]:
    """What each column shows when it is seen alone."""
    rows = tuple(
        (column.name, *(cell.replace(" %", f"{NO_BREAK}%") for cell in column_cells(column)))
        for column in meaning.columns
    )
    return (
        Table(caption="Seeing one column alone", headings=_HEADINGS, rows=rows, words=(0, 5)),
        Paragraph(prior_sentence()),
        Warned(own_column_sentence(allocation)),
    )


def _beliefs(paid: Paid) -> Table:
    factor = largest_odds(paid.record)
    return Table(
        caption=f"What somebody can believe of one record at most{paid.aside}",
        headings=("Suspected before the release", "At most after it"),
        rows=tuple((share(prior), _belief(odds_to_probability(prior, factor))) for prior in PRIORS),
    )


def _belief(after: float) -> str:
    """Rounded up, and never to certainty while a doubt is left."""
    tenths = -(-after * 1000 // 1)
    return f"{tenths / 10:g} %" if tenths < 1000 else "more than 99.9 %"


def _promises() -> tuple[str, ...]:
    return (
        (
            "Epsilons add up, over the attributes of one release and over all releases of the same "
            "people: each further release costs its own loss again, also one that is drawn again "
            "because a result looks better."
        ),
        "Nothing that is computed from the release costs any more.",
        (
            "The sampler works with integers, so the promised probabilities are the real ones, "
            "exactly. Its random words come from AES-256 under a fresh key of the operating system, "
            "which is dropped after use: the guarantee is exact for ideal random words, and "
            "computational for these."
        ),
    )


def _not_promised(subject: Subject) -> tuple[str, ...]:
    return (
        *unit_sentences(subject.allocation),
        membership_sentence(),
        group_sentence(),
        *order_sentences(subject.allocation),
        "The originals themselves are outside: who holds them sees them.",
    )


def _own_origin(problem: Problem) -> str:
    """Nothing is more public than what it was computed from."""
    if unsure := problem.not_public:
        return (
            f"computed from the problem, no record was read; as public as its {listed(unsure)}, "
            "which are not stated to be public"
        )
    return "computed from the problem, no record was read; all of that is stated to be public"


def footer(subject: Subject) -> str:
    """What the report was computed from, for whoever finds it on its own."""
    read = "No record was read for this report: it was computed from the problem and the allocation"
    if unsure := subject.problem.not_public:
        return f"{read}. Not stated to be public, and shown or used in it: {listed(unsure)}."
    return f"{read}, which are stated to be public."


def _released(subject: Subject) -> tuple[tuple[str, str], ...]:
    problem = subject.problem
    order = {"shuffle": "shuffled", "public": "as in the original table"}[problem.row_order]
    pairs = [
        ("Number of records", "released as it is: it is taken to be public"),
        ("Order of the rows", order),
        ("This report and the allocation", _own_origin(problem)),
    ]
    pairs += [
        (f"Public column {column.name}", f"released unprotected, every value as it is, because: {column.why}")
        for column in problem.public
    ]
    if problem.public:
        pairs.append(("What public columns tell", "is outside every figure of this page"))
    if problem.dropped:
        pairs.append(("Left out", listed(problem.dropped, most=60)))
    return tuple(pairs)
