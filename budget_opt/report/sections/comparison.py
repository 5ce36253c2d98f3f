"""How good the split is: what is proved, why it is as it is, and what the even split would be worth."""

from __future__ import annotations

from budget_opt.allocation import Allocation, Outcome
from budget_opt.api import wording
from budget_opt.model.arrays import MINIMIZED
from budget_opt.report.blocks import Block, Bullets, Paragraph, Section, Table
from budget_opt.report.proof import Proof, as_confirmed
from budget_opt.report.subject import Subject
from budget_opt.report.words import NO_BREAK, column, number


def comparison(subject: Subject) -> Section:
    """The proof, the reasons, and both splits side by side."""
    blocks: list[Block] = [Paragraph(line) for line in proof_sentences(subject)]
    blocks += _reasons(subject)
    if subject.is_even:
        blocks.append(Paragraph("This is the even split, as far as pins, bounds and groups let it."))
    else:
        blocks += _beside_even(subject)
    return Section("comparison", "How good the split is", tuple(blocks))


def proof_sentences(subject: Subject) -> list[str]:
    """The value, what this page proves of it, what is only stated, and the values of later levels."""
    outcome = subject.allocation.objective
    level = f" on level {subject.allocation.levels[0].level}" if subject.allocation.levels else ""
    reached = "undefined for this split" if outcome.value is None else f"{number(outcome.value, 6)}"
    value = f"The objective {outcome.kind} of this split{level} is {reached}."
    return [f"{value} {_judged(subject, outcome)}", *_later_levels(subject.allocation)]


def _judged(subject: Subject, outcome: Outcome) -> str:
    proof = subject.proof
    if proof.is_given:
        return "The split was given, not optimized: nothing is proved about how good it is."
    if not proof.holds:
        return "A check of this allocation fails, so nothing is said about how good it is."
    beyond = beyond_words(outcome)
    stated = (
        "Stated in the allocation and not confirmed here: no split that keeps all limits gets "
        f"{beyond} {number(proof.stated, 6)}."
    )
    files = "certificate that solve writes beside an allocation lets"
    if not subject.whole:
        files = "file of the problem, or the certificate that solve writes beside an allocation, lets"
    confirming = f"The {files} a report confirm more."
    if proof.bound is None:
        return f"{stated} {confirming}"
    proved = f"no split that keeps all limits gets {beyond} {number(proof.bound, 6)}."
    if proof.is_optimal:
        return f"Proved: {proved} The split is optimal: no other is better by more than {gap_text(proof)}."
    far = f"may be up to {gap_text(proof)} behind the best one"
    if proof.confirms:
        longer = "" if subject.problem.arrays.is_convex else "; a longer search can narrow this"
        return f"Proved: {proved} The split {far}{longer}."
    return f"{stated} Proved by this page: {proved} So far as that goes, the split {far}. {confirming}"


def beyond_words(outcome: Outcome) -> str:
    """On which side of a bound no split is."""
    return "below" if outcome.kind in MINIMIZED else "above"


def _later_levels(allocation: Allocation) -> list[str]:
    """What the levels after the first have reached; no evaluation here says how good that is."""
    return [
        f"Level {reached.level} reaches {allocation.objective.kind} "
        f"{'undefined' if reached.value is None else number(reached.value, 6)}; how near that is to the best "
        "that the levels before it leave is not confirmed here."
        for reached in allocation.levels[1:]
    ]


def gap_text(proof: Proof) -> str:
    """How far the split may be from the best one, relative to its own value; rounded up."""
    if proof.relative_gap is None:
        return "an unknown part"
    if proof.is_optimal:
        return "one millionth"
    return wording.share(proof.relative_gap, "up").replace(" ", NO_BREAK)


def _reasons(subject: Subject) -> list[Block]:
    from budget_opt.api.explaining import explain

    proof = subject.proof
    if not subject.whole:
        return [Paragraph("Why the split is as it is can be told with the problem file only.")]
    if subject.problem.total_delta > 0:
        return [Paragraph("Why the split is as it is can be told where the total is a sum (no total_delta).")]
    if not proof.is_given and (proof.bound is None or not proof.holds):
        return [Paragraph("Why the split is as it is can be told only where this page confirms a bound.")]
    allocation = subject.allocation if proof.is_given else as_confirmed(subject.allocation, proof)
    found = explain(allocation, subject.problem)
    return [Bullets(found.sentences)] if found.sentences else []


def _beside_even(subject: Subject) -> list[Block]:
    from budget_opt.api.comparing.comparing import compare

    splits = {"this split": subject.allocation, "the even split": subject.even}
    found = compare(splits, subject.problem if subject.whole else None, even=False)
    # both have the clusters of one question, so that a column adds up to what is spent
    blocks = zip(*(split.allocation.blocks for split in found.splits), strict=True)
    rows = tuple((pair[0].name, *(column(block.epsilon) for block in pair)) for pair in blocks)
    values = ("Objective", *(number(split.value, 6) for split in found.splits))
    least = ", as little as keeps every floor" if subject.problem.total_epsilon is None else ""
    spent = ("All together", *(number(split.spent_epsilon) for split in found.splits))
    return [
        Paragraph(f"Beside the even split, which gives every attribute {_EVENLY}{least}:"),
        Bullets(tuple(_sentence(text) for text in (*found.sentences, *found.cautions))),
        Table("Epsilon of both splits", ("Attribute", "This split", "Even split"), (*rows, spent, values)),
    ]


_EVENLY = "the same, as far as pins, bounds and groups let it"


def _sentence(text: str) -> str:
    """With a capital, which no name loses by it: the text begins with a word of this report."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
