"""What a record pays in all: for the release, and for what was made from the data before it (DESIGN 3.1)."""

from __future__ import annotations

from fractions import Fraction

from budget_opt.allocation import Allocation
from budget_opt.mechanisms.exact import exact, exact_sum
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import price_sentence, provenance_sentences


def release_epsilon(allocation: Allocation) -> Fraction:
    """What a record pays for one release (nats): the sum of decimals, or the total that has a delta."""
    question = allocation.question
    if question.total_delta > 0 and question.total_epsilon is not None:
        return exact(question.total_epsilon)
    return exact_sum(attribute.epsilon for attribute in allocation.attributes)


def provenance_notes(allocation: Allocation, problem: Problem | None = None) -> tuple[str, ...]:
    """The sentences on how the problem was made: the assumption always, the rest where it applies.

    `problem` is what the allocation was made from: it also says whether pins and bounds are used.
    """
    question = allocation.question if problem is None else problem
    price = price_sentence(question, release_epsilon(allocation))
    return (*provenance_sentences(question), *([] if price is None else [price]))
