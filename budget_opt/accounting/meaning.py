"""What an allocation means: columns seen alone, the whole record, persons, waves; figures and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.accounting.columns import ColumnAlone, PriorKind, column_alone, normalized
from budget_opt.accounting.joint import LearnedUnderJoint, Whole, learned_under
from budget_opt.accounting.price import paid_by
from budget_opt.accounting.privacy import summary_line
from budget_opt.accounting.words import meaning_sentences
from budget_opt.allocation.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedAttribute
from budget_opt.mechanisms.exact import float_at_least
from budget_opt.mechanisms.odds import largest_odds

if TYPE_CHECKING:
    from rich.console import RenderableType

Shares = Sequence[float]
"""What somebody believes of an attribute: shares >= 0, one a category, in any unit."""


@dataclass(frozen=True)
class WholeRecord:
    """What all columns together allow; losses in nats and factors on odds, all rounded up.

    `loss` is that of one record in one release; `unit_loss` that of one unit, a record or a person with
    `max_rows` of them; `planned_loss` that of one unit over all `waves`. All three hold what was paid before
    the release for what was made from the data, `making_epsilon` a record, once. The odds of anything about
    a record or unit change by at most the factor exp(loss), which is infinite here where no double holds it.
    Where `allocation_outside_guarantee`, that is so for the columns alone: no epsilon bounds what the
    allocation itself tells.
    """

    loss: float
    odds_factor: float
    unit: Literal["record", "person"]
    max_rows: int
    unit_loss: float
    unit_odds_factor: float
    waves: int
    planned_loss: float
    planned_odds_factor: float
    making_epsilon: float
    allocation_outside_guarantee: bool


@dataclass(frozen=True)
class Meaning:
    """What an allocation means for the people in the table; `str` gives tables and sentences.

    `columns` are the figures of each column seen alone, which do not bound what is learned about it;
    `record` is what bounds that. `joints` say it exactly under stated public distributions. `approximate`
    is the line of the accountant on (epsilon, delta), and `sentences` say the rest in words.
    """

    columns: tuple[ColumnAlone, ...]
    record: WholeRecord
    joints: tuple[LearnedUnderJoint, ...]
    approximate: str
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        from budget_opt.accounting.meaning_text import as_text

        return as_text(self)

    def renderable(self) -> RenderableType:
        """The same for a rich console."""
        from budget_opt.accounting.meaning_text import renderable

        return renderable(self)

    def to_dict(self) -> dict[str, Any]:
        """All figures and sentences as JSON; a factor beyond every double is null."""
        from budget_opt.accounting.meaning_text import as_document

        document: dict[str, Any] = as_document(asdict(self))
        return document


def meaning_of(
    allocation: Allocation, priors: Mapping[str, Shares], joints: Mapping[tuple[str, ...], Whole]
) -> Meaning:
    """The meaning under these priors, by name, and joints, by names; both are valid for the allocation.

    Where no prior is stated it is the attribute's marginal, else uniform.
    """
    return Meaning(
        columns=tuple(
            column_alone(attribute, *_prior(attribute, priors.get(attribute.name)))
            for attribute in allocation.attributes
        ),
        record=_whole_record(allocation),
        joints=tuple(learned_under(allocation, names, table) for names, table in joints.items()),
        approximate=summary_line(allocation),
        sentences=meaning_sentences(allocation),
    )


def _prior(attribute: AllocatedAttribute, stated: Shares | None) -> tuple[list[Fraction] | None, PriorKind]:
    if stated is not None:
        return normalized(stated), "stated"
    if attribute.marginal is not None:
        return normalized(attribute.marginal), "marginal"
    return None, "uniform"


def _whole_record(allocation: Allocation) -> WholeRecord:
    unit, paid = allocation.unit, paid_by(allocation)
    return WholeRecord(
        loss=paid.record,
        odds_factor=largest_odds(paid.record),
        unit=unit.of,
        max_rows=unit.max_rows,
        unit_loss=paid.unit,
        unit_odds_factor=largest_odds(paid.unit),
        waves=allocation.waves,
        planned_loss=paid.planned,
        planned_odds_factor=largest_odds(paid.planned),
        making_epsilon=float_at_least(paid.making),
        allocation_outside_guarantee=not paid.is_bounded,
    )
