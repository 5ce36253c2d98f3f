"""What the release promises to every record, in words, and what it does not promise."""

from __future__ import annotations

from budget_opt.mechanisms.odds import largest_odds, odds_to_probability
from budget_opt.model.problem import Problem
from budget_opt.report.blocks import Block, Bullets, Facts, Paragraph, Section, Table, Warned
from budget_opt.report.sections.split import odds_text
from budget_opt.report.subject import Subject
from budget_opt.report.words import at_most, listed, share

PRIORS = (0.001, 0.01, 0.1, 0.5)
"""What somebody may believe before the release, in the table of what they may believe after it."""


def guarantee(subject: Subject) -> Section:
    """The guarantee, its size, its limits, and the assumptions that it rests on."""
    allocation = subject.allocation
    blocks: list[Block] = [
        Paragraph(
            "The release is differentially private for each single record. Whatever the values of one "
            "record are replaced by, the odds of any released table change by a factor of at most exp(loss), "
            f"here {odds_text(allocation.loss)}. This holds whatever anybody knows, and for every use that "
            "is ever made of the release."
        ),
        _size(subject),
        Paragraph(
            "The same in terms of belief: somebody who knows every other record, and suspects "
            "something about this one, can become at most so sure of it by the release. This is a "
            "bound, not a prediction."
        ),
        _beliefs(allocation.loss),
        Bullets(_promises()),
        Paragraph("What is not promised:"),
        Bullets(_not_promised(subject)),
        Paragraph("What is released beside the randomized values:"),
        Facts(_released(subject)),
    ]
    if unsure := subject.problem.not_public:
        blocks.append(
            Warned(
                f"Not stated to be public: {listed(unsure)}. The guarantee assumes that "
                f"{'it was' if len(unsure) == 1 else 'these were'} fixed without looking at the data. "
                "State it in the problem's field provenance, or account for it."
            )
        )
    else:
        blocks.append(
            Paragraph(
                "All weights, floors, domains, scores, marginals and totals of the problem are stated to be "
                "public: chosen without looking at the data. The guarantee rests on this statement."
            )
        )
    return Section("guarantee", "What is guaranteed, and what is not", tuple(blocks))


def _size(subject: Subject) -> Facts:
    allocation = subject.allocation
    return Facts(
        (
            ("Whose privacy", "One record: its values in all attributes at once"),
            (
                "Epsilon spent",
                f"{at_most(allocation.spent_epsilon, 9)} nats, the exact sum over the attributes",
            ),
            (
                "Privacy loss",
                f"{at_most(allocation.loss, 9)} nats: what the sampler's integers implement, rounded up",
            ),
            ("Delta", "0: there is no probability with which the guarantee fails"),
        )
    )


def _beliefs(loss: float) -> Table:
    factor = largest_odds(loss)
    return Table(
        caption="What somebody can believe of one record at most",
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
    lines = [
        "A person with k records has k times the loss.",
        (
            "The odds factor of a single attribute bounds what changes when this attribute alone "
            "changes. It does not bound what can be learned about it, because other attributes carry "
            "it too; the record's total does."
        ),
        (
            "What is true of a group as a whole can be learned, and may be applied to its members. "
            "That is what the release is for."
        ),
        "The originals themselves are outside: who holds them sees them.",
    ]
    if subject.problem.row_order == "public":
        lines.append("Rows keep their original order: whoever knows the place of a record finds its row.")
    return tuple(lines)


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
        (f"Public column {column.name}", f"released as it is, because: {column.why}")
        for column in problem.public
    ]
    if problem.dropped:
        pairs.append(("Left out", listed(problem.dropped, most=60)))
    return tuple(pairs)
