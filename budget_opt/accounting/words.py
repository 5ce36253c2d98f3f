"""What an allocation means for the people in the table, in sentences that nobody can take for more.

No sentence says that anybody cannot be found, or that nothing can be learned: a differentially private
release bounds by how much odds change, for whoever knows whatever else. Figures are rounded up.
"""

from __future__ import annotations

from budget_opt.accounting.joint import LearnedUnderJoint
from budget_opt.accounting.price import provenance_notes
from budget_opt.allocation.allocation import Allocation
from budget_opt.mechanisms.odds import largest_odds, odds_to_probability
from budget_opt.tables.printing import at_most, percent_at_most

USEFUL = 1e6
"""From this factor on a bound is called of no use: it lets a suspicion of one in a million pass one half.

There are few tables in which somebody is one of more than a million, so it excludes no conclusion about
them.
"""
NO_POWER = 1e9
"""From this factor on odds are told as a power."""
SUSPECTED = 0.01
"""What somebody may believe before the release, for an example of what they may believe after it."""
NAMED = 12
"""Columns that are named one by one; of more the first so many, and how many there are."""


def odds_text(loss: float) -> str:
    """The largest factor on odds, rounded up; as a power where it is past all imagination."""
    factor = largest_odds(loss)
    return at_most(factor, 3) if factor < NO_POWER else f"exp({at_most(loss)})"


def meaning_sentences(allocation: Allocation) -> tuple[str, ...]:
    """The sentences of a whole allocation, most important first; `unit_sentences` are among them."""
    return (
        record_sentence(allocation),
        own_column_sentence(),
        *unit_sentences(allocation),
        public_sentence(allocation),
        *order_sentences(allocation),
        membership_sentence(),
        group_sentence(),
        *assumption_sentences(allocation),
    )


def record_sentence(allocation: Allocation) -> str:
    """What all columns together let somebody learn of one record."""
    factor, told = largest_odds(allocation.loss), odds_text(allocation.loss)
    opening = (
        "All columns together: whoever knows every other record, and whatever they know of this one, can"
    )
    if factor > USEFUL:
        return (
            f"{opening} multiply the odds of anything about it by a factor of up to {told}. This is no "
            "useful limit: it would let a suspicion of one in a million become more likely than not."
        )
    after = percent_at_most(odds_to_probability(SUSPECTED, factor))
    return (
        f"{opening} multiply the odds of anything about it by at most {told}. A suspicion of "
        f"{100 * SUSPECTED:g} % becomes at most one of {after}."
    )


def own_column_sentence() -> str:
    """What the figures of single columns do not say."""
    return (
        "What a column shows when it is seen alone is no limit for what is learned about it: other columns "
        "carry it too. The limit for anything about a record is the factor of all columns together."
    )


def unit_sentences(allocation: Allocation) -> tuple[str, str]:
    """How the loss of a record adds up for a person, and over the releases of the same people."""
    return _person(allocation), _waves(allocation)


def _person(allocation: Allocation) -> str:
    unit, loss = allocation.unit, allocation.loss
    if unit.of == "record":
        twice = odds_text(2 * loss)
        return (
            "All figures are for one record. A person with k records has k times the loss, and the factor to "
            f"the power of k: two records, {twice}."
        )
    if unit.max_rows == 1:
        return (
            f"A person, told by the column {unit.id}, has one record: their figures are those of the record."
        )
    return (
        f"All figures are for one record. A person, told by the column {unit.id}, may have up to "
        f"{unit.max_rows:,} of them, so {unit.max_rows:,} times the loss, {at_most(allocation.unit_loss)} "
        f"nats: odds change by a factor of {_limit(allocation.unit_loss)}."
    )


def _waves(allocation: Allocation) -> str:
    if allocation.waves == 1:
        return (
            "Every further release about the same people costs its own loss again: the losses of w releases "
            "add up, and their factors multiply."
        )
    whose = "a person" if allocation.unit.of == "person" else "a record"
    return (
        f"{allocation.waves:,} releases of the same people are planned, and their losses add up. With this "
        f"split in each of them it is {at_most(allocation.planned_loss)} nats for {whose}: odds change by a "
        f"factor of {_limit(allocation.planned_loss)}. Any further release costs again."
    )


def _limit(loss: float) -> str:
    """At most a factor, and whether that limits anything."""
    useless = ", which is no useful limit" if largest_odds(loss) > USEFUL else ""
    return f"at most {odds_text(loss)}{useless}"


def public_sentence(allocation: Allocation) -> str:
    """Which columns are released unprotected, and the reasons that were given."""
    public = allocation.question.public
    if not public:
        return "No column is released unprotected."
    told = "; ".join(f"{column.name}, because: {column.why}" for column in public[:NAMED])
    more = f"; and {len(public) - NAMED:,} more" if len(public) > NAMED else ""
    return (
        f"Released unprotected, every value as it is, for the reason given: {told}{more}. "
        "What these tell of anybody is outside every figure here."
    )


def order_sentences(allocation: Allocation) -> tuple[str, ...]:
    """What the order of the rows tells, where it is kept."""
    if allocation.row_order == "shuffle":
        return ()
    return ("Rows keep their original order: whoever knows the place of a record finds its row.",)


def membership_sentence() -> str:
    """What is not hidden about who is in the table."""
    return (
        "Who is in the table is not hidden: the guarantee compares tables in which the values of one record "
        "differ, not tables with a record more or less. The number of records is public."
    )


def group_sentence() -> str:
    """What a release is for, and no guarantee of this kind prevents."""
    return (
        "What is true of a group as a whole, be it a region or a household, can be learned, and may be "
        "applied to its members: that is what the release is for."
    )


def assumption_sentences(allocation: Allocation) -> tuple[str, ...]:
    """What the guarantee takes for granted about how the problem was made."""
    return tuple(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in provenance_notes(allocation))


def prior_sentence() -> str:
    """How the table of single columns is to be read."""
    return (
        "Odds: the most that a report changes the odds of any two categories. Reported is true: how probable "
        "it is that a reported category is the true one. Best guess: how probable the best guess of a value "
        "is right, before its report is seen and after it, for somebody who believes the prior."
    )


def joint_sentence(joint: LearnedUnderJoint) -> str:
    """What the figures under a joint distribution rest on."""
    names = ", ".join(joint.attributes[:NAMED])
    rest = (
        ""
        if joint.others == 0
        else " The other columns may carry more: the last column bounds the odds for the whole record."
    )
    return (
        f"Under the stated joint distribution of {names}, which is taken to be public and right: what the "
        f"reports of these columns do together.{rest} Whoever believes in another one may learn more, up to "
        "the factor of all columns together."
    )
