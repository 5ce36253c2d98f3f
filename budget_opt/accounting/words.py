"""What an allocation means for the people in the table, in sentences that nobody can take for more.

No sentence says that anybody cannot be found, or that nothing can be learned: a differentially private
release bounds by how much odds change, for whoever knows whatever else. Figures are rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable

from budget_opt.accounting.joint import LearnedUnderJoint
from budget_opt.accounting.price import Paid, paid_by, provenance_notes
from budget_opt.allocation.allocation import Allocation
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.mechanisms.odds import largest_odds, odds_to_probability
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import decimal_text, nats, outside_sentence
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
        *outside_sentences(allocation),
        record_sentence(allocation),
        own_column_sentence(allocation),
        *map(_sentence, cluster_sentences(allocation)),
        *map(_sentence, source_sentences(allocation)),
        *unit_sentences(allocation),
        public_sentence(allocation),
        *order_sentences(allocation),
        membership_sentence(),
        group_sentence(),
        *(one for one in assumption_sentences(allocation) if one not in outside_sentences(allocation)),
    )


def record_sentence(allocation: Allocation) -> str:
    """What all that leaves the house lets somebody learn of one record."""
    paid = paid_by(allocation)
    factor, told = largest_odds(paid.record), odds_text(paid.record)
    before = f", and what was made from the data before them ({_nats(paid)})" if paid.making else ""
    opening = (
        f"All columns together{before}: whoever knows every other record, and whatever they know of this "
        "one, can"
    )
    aside = paid.aside
    if factor > USEFUL:
        return (
            f"{opening} multiply the odds of anything about it by a factor of up to {told}{aside}. This is "
            "no useful limit: it would let a suspicion of one in a million become more likely than not."
        )
    after = percent_at_most(odds_to_probability(SUSPECTED, factor))
    return (
        f"{opening} multiply the odds of anything about it by at most {told}{aside}. A suspicion of "
        f"{100 * SUSPECTED:g} % becomes at most one of {after}{aside}."
    )


def own_column_sentence(allocation: Allocation) -> str:
    """What the figures of single columns do not say."""
    paid = paid_by(allocation)
    limit = "the factor of all columns together"
    limit += ", with what was made from the data before them" if paid.making else ""
    return (
        "What a column shows when it is seen alone is no limit for what is learned about it: other columns "
        f"carry it too. The limit for anything about a record is {limit}{paid.aside}."
    )


def cluster_sentences(allocation: Allocation, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """What a change of one member alone costs, a sentence a cluster; of `names` those told in part only."""
    asked = None if names is None else set(names)
    return tuple(
        f"randomized together are {' and '.join(block.names)}: a change of one of them alone costs all of "
        f"the cluster's {nats(at_most(block.loss))}, and their columns seen together move the odds of one of "
        f"them by a factor of up to {odds_text(block.loss)}"
        for block in allocation.blocks
        if block.is_cluster
        and block.is_released
        and (asked is None or 0 < len(asked & {*block.names}) < len(block.names))
    )


def source_sentences(allocation: Allocation) -> tuple[str, ...]:
    """What does not rest on a known source, and what does: a sentence for each attribute that has one."""
    return tuple(
        f"{one.name} is randomized by a matrix that was chosen for what is known of its distribution: the "
        f"loss, {nats(at_most(one.loss))}, holds whatever that is, and only what is changed rests on it"
        + (f", and nobody is ever reported as {', '.join(map(str, one.censored))}" if one.censored else "")
        for one in allocation.attributes
        if one.distortion is not None
    )


def unit_sentences(allocation: Allocation, problem: Problem | None = None) -> tuple[str, str]:
    """How what a record pays adds up for a person, and over the releases of the same people.

    `problem` is what the allocation was made from, where it is at hand.
    """
    paid = paid_by(allocation, problem)
    return _person(allocation, paid), _waves(allocation, paid)


def _nats(paid: Paid) -> str:
    """What was paid before the release, with every digit."""
    return nats(decimal_text(paid.making))


def _person(allocation: Allocation, paid: Paid) -> str:
    unit = allocation.unit
    included = f", with the {_nats(paid)} of what was made from the data before" if paid.making else ""
    if unit.of == "record":
        twice = float_at_least(2 * exact(paid.record))
        return (
            f"All figures are for one record. A person with k records has k times the loss{included}, and "
            f"the factor to the power of k: two records, {odds_text(twice)}{paid.aside}."
        )
    apart = "Persons are told apart by equal ids, case and blanks included."
    if unit.max_rows == 1:
        return (
            f"A person, told by the column {unit.id}, has one record: their figures are those of the record. "
            f"{apart}"
        )
    return (
        f"All figures are for one record. A person, told by the column {unit.id}, may have up to "
        f"{unit.max_rows:,} of them, so {unit.max_rows:,} times the loss{included}, {at_most(paid.unit)} "
        f"nats: odds change by a factor of {_limit(paid.unit, paid)}. {apart}"
    )


def _waves(allocation: Allocation, paid: Paid) -> str:
    if allocation.waves == 1:
        return (
            "Every further release about the same people costs its own loss again: the losses of w releases "
            "add up, and their factors multiply."
        )
    whose = "a person" if allocation.unit.of == "person" else "a record"
    once = f" and the {_nats(paid)} a record of what was made from the data, once," if paid.making else ""
    return (
        f"{allocation.waves:,} releases of the same people are planned, and their losses add up. With this "
        f"split in each of them{once} it is {nats(at_most(paid.planned))} for {whose}: odds change by a "
        f"factor of {_limit(paid.planned, paid)}. Any further release costs again."
    )


def _limit(loss: float, paid: Paid) -> str:
    """At most a factor, and whether that limits anything."""
    useless = ", which is no useful limit" if largest_odds(loss) > USEFUL else ""
    return f"at most {odds_text(loss)}{paid.aside}{useless}"


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


def outside_sentences(allocation: Allocation) -> tuple[str, ...]:
    """That the allocation itself is outside the guarantee, where it was made from private data unpaid."""
    outside = outside_sentence(allocation.question)
    return () if outside is None else (_sentence(outside),)


def assumption_sentences(allocation: Allocation) -> tuple[str, ...]:
    """Where the guarantee ends, and what it takes for granted about how the problem was made."""
    return tuple(map(_sentence, provenance_notes(allocation)))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def prior_sentence() -> str:
    """How the table of single columns is to be read."""
    return (
        "Odds: the most that a report changes the odds of any two categories. Reported is true: how probable "
        "it is that a reported category is the true one, under the prior at the right (under a uniform one, "
        "where replaced cells are uniform too, as probable as that the true value is reported). Best guess: "
        "how probable the best guess of a value is right, before its report is seen and after it, for "
        "somebody who believes the prior."
    )


def joint_sentence(joint: LearnedUnderJoint) -> str:
    """What the figures under a joint distribution rest on."""
    names = ", ".join(joint.attributes[:NAMED])
    rest = (
        ""
        if joint.others == 0
        else " The other columns may carry more: the last column bounds the odds by all reports together."
    )
    return (
        f"Under the stated joint distribution of {names}, which is taken to be public and right: what the "
        f"reports of these columns do together.{rest} Whoever believes in another one may learn more from "
        "the reports, up to the factor of all columns together."
    )
