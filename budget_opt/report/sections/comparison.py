"""How good the split is: what is proved, why it is as it is, and what the even split would be worth."""

from __future__ import annotations

from budget_opt.allocation import Allocation, Outcome
from budget_opt.allocation.show import level_lines
from budget_opt.model.arrays import MINIMIZED
from budget_opt.report.blocks import Block, Bullets, Paragraph, Section, Table
from budget_opt.report.subject import Subject
from budget_opt.report.words import NO_BREAK, at_most, column, number


def comparison(subject: Subject) -> Section:
    """The proof, the reasons, and both splits side by side."""
    blocks: list[Block] = [Paragraph(line) for line in proof_sentences(subject.allocation)]
    blocks += _reasons(subject)
    if subject.is_even:
        blocks.append(Paragraph("This is the even split, as far as pins, bounds and groups let it."))
    else:
        blocks += _beside_even(subject)
    return Section("comparison", "How good the split is", tuple(blocks))


def proof_sentences(allocation: Allocation) -> list[str]:
    """Value and bound, and what they prove."""
    outcome = allocation.objective
    value = f"The objective {outcome.kind} of this split is {number(outcome.value, 6)}."
    if outcome.value is None:
        value = f"The objective {outcome.kind} is undefined for this split."
    if outcome.bound is None:
        return [f"{value} The split was given, not optimized: nothing is proved about how good it is."]
    below = "below" if outcome.kind in MINIMIZED else "above"
    proof = f"Proved: no split that keeps all limits gets {below} {number(outcome.bound, 6)}."
    if outcome.status == "optimal":
        judged = f"The split is optimal: no other is better by more than {gap_text(outcome)}."
    else:
        judged = f"It may be up to {gap_text(outcome)} from the best one; a longer search can narrow this."
    return [f"{value} {proof} {judged}", *(_sentence(line) for line in level_lines(allocation))]


def gap_text(outcome: Outcome) -> str:
    """How far the split may be from the best one, relative to its own value; rounded up."""
    if outcome.relative_gap is None:
        return "an unknown part"
    if outcome.relative_gap <= 1e-6:
        return "one millionth"
    return f"{at_most(100 * outcome.relative_gap, 2)}{NO_BREAK}%"


def _reasons(subject: Subject) -> list[Block]:
    from budget_opt.api.explaining import explain

    if not subject.whole:
        return [Paragraph("Why the split is as it is can be told with the problem file only.")]
    found = explain(subject.allocation, subject.problem)
    return [Bullets(found.sentences)] if found.sentences else []


def _beside_even(subject: Subject) -> list[Block]:
    from budget_opt.api.comparing import compare

    splits = {"this split": subject.allocation, "the even split": subject.even}
    found = compare(splits, subject.problem if subject.whole else None, even=False)
    rows = tuple(
        (name, *(column(split.allocation[name].epsilon) for split in found.splits))
        for name in subject.problem.names
    )
    values = ("Objective", *(number(split.value, 6) for split in found.splits))
    spent = ("All together", *(number(split.spent_epsilon) for split in found.splits))
    return [
        Paragraph("Beside the even split, which gives every attribute the same:"),
        Bullets(tuple(_sentence(text) for text in (*found.sentences, *found.cautions))),
        Table("Epsilon of both splits", ("Attribute", "This split", "Even split"), (*rows, spent, values)),
    ]


def _sentence(text: str) -> str:
    """With a capital, which no name loses by it: the text begins with a word of this report."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
