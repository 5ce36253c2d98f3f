"""What a record pays in all: for the release, and for what was made from the data before it (DESIGN 3.1).

An allocation leaves the house with its release, and tells what it was made of: whatever was made from the
data before is released too, once, however many waves follow under the same split.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from budget_opt.allocation import Allocation
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import (
    from_the_data,
    price_sentence,
    provenance_epsilon,
    provenance_sentences,
)

BESIDE_THE_BOUND = " by the columns alone, as the allocation itself is outside the guarantee"
"""What stands beside every figure for a record where no epsilon bounds what the allocation itself tells."""


@dataclass(frozen=True)
class Paid:
    """What all that leaves the house may reveal of a record, of a unit, and of a unit over all waves.

    Nats, rounded up: the losses of the release and `making`, what was paid before it for what was made from
    the data (exact). Where something was made from the data with no epsilon (`is_bounded` is false) the
    allocation itself is outside these figures, which are then those of the randomized columns and of what has
    an epsilon.
    """

    record: float
    unit: float
    planned: float
    making: Fraction
    is_bounded: bool

    @property
    def aside(self) -> str:
        """What every sentence with one of these figures must say of what they leave out; mostly nothing."""
        return "" if self.is_bounded else BESIDE_THE_BOUND


def paid_by(allocation: Allocation, problem: Problem | None = None) -> Paid:
    """What a record and a unit pay in all; `problem` is what the allocation was made from."""
    question = allocation.question if problem is None else problem
    making, loss = provenance_epsilon(question), exact(allocation.loss)
    rows, waves = allocation.unit.max_rows, allocation.waves
    return Paid(
        record=float_at_least(loss + making),
        unit=float_at_least(rows * (loss + making)),
        planned=float_at_least(rows * (waves * loss + making)),
        making=making,
        is_bounded=not from_the_data(question),
    )


def release_epsilon(allocation: Allocation) -> Fraction:
    """What a record pays for one release (nats): the sum of decimals, or the total that has a delta."""
    question = allocation.question
    if question.total_delta > 0 and question.total_epsilon is not None:
        return exact(question.total_epsilon)
    return exact_sum(block.epsilon for block in allocation.blocks)


def provenance_notes(allocation: Allocation, problem: Problem | None = None) -> tuple[str, ...]:
    """The sentences on how the problem was made; that the allocation is outside the guarantee comes first.

    `problem` is what the allocation was made from: it also says whether pins and bounds are used.
    """
    question = allocation.question if problem is None else problem
    price = price_sentence(question, release_epsilon(allocation))
    return (*provenance_sentences(question), *([] if price is None else [price]))
