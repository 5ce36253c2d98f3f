"""How the parts of a problem were chosen, and what that does to the guarantee (DESIGN 3.1).

Whoever sees a release sees its allocation, and with it weights, floors, …: what of these was made from the
data tells about the data. Each field of `Provenance` covers one kind:

`weights`    the list of moments, their weights, targets, variances and levels, and the objective
`floors`     floors and ceilings; pins, bounds and distortions of single attributes; caps of groups
`domains`    categories and bins, the missing and the other category, groupings
`scores`     scores, that of a missing answer as well
`marginals`  marginals, backgrounds other than the uniform one, and known sources
`clusters`   clusters, and the largest table that may choose them
`total`      total epsilon and delta, the most rows of a person, the number of waves
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from budget_opt.model.problem import Problem

FIELDS = ("weights", "floors", "scores", "marginals", "domains", "clusters", "total")
PUBLIC, PRIVATE, UNSTATED = "public", "private data", "unstated"
_PRICED = f"{PRIVATE}, epsilon "


def used_fields(problem: Problem) -> tuple[str, ...]:
    """The fields whose kind stands in the problem at all."""
    attributes, moments = problem.attributes, problem.moments
    limits = [moment.floor for moment in moments] + [moment.ceiling for moment in moments]
    bounds = ("epsilon", "epsilon_min", "epsilon_max", "distortion_max")
    limits += [getattr(attribute, bound) for attribute in attributes for bound in bounds]
    used = {
        "weights": bool(moments),
        "floors": bool(problem.groups) or any(limit is not None for limit in limits),
        "domains": True,
        "scores": any(one.scores is not None or one.missing_score is not None for one in attributes),
        "marginals": any(
            one.marginal is not None or one.background != "uniform" or one.source is not None
            for one in attributes
        ),
        "clusters": bool(problem.clusters),
        "total": problem.total_epsilon is not None or problem.waves > 1 or problem.unit.max_rows > 1,
    }
    return tuple(field for field in FIELDS if used[field])


def not_public(problem: Problem) -> tuple[str, ...]:
    """What the guarantee of the total assumes to be fixed without the data, and is not stated to be public.

    That is what the problem uses, and all that is stated to come from the data. An allocation does not
    carry pins and bounds: ask the problem, where it is at hand.
    """
    stated = {field: getattr(problem.provenance, field) for field in FIELDS}
    used = used_fields(problem)
    return tuple(
        field
        for field, origin in stated.items()
        if origin.startswith(PRIVATE) or (field in used and origin != PUBLIC)
    )


def from_the_data(problem: Problem) -> tuple[str, ...]:
    """What was made from the data with no epsilon that bounds what it tells.

    Where there is any, the allocation itself is outside the guarantee.
    """
    return tuple(field for field in FIELDS if getattr(problem.provenance, field) == PRIVATE)


def priced_fields(problem: Problem) -> dict[str, Fraction]:
    """What was made from the data under an epsilon of its own, and that epsilon (nats, exact).

    Fields that the problem does not use are here too: what was paid for them is spent.
    """
    found = {field: priced_epsilon(getattr(problem.provenance, field)) for field in FIELDS}
    return {field: epsilon for field, epsilon in found.items() if epsilon is not None}


def priced_epsilon(origin: str) -> Fraction | None:
    """The E of `private data, epsilon E`, exactly; None for every other origin."""
    return Fraction(origin.removeprefix(_PRICED)) if origin.startswith(_PRICED) else None


def provenance_epsilon(problem: Problem) -> Fraction:
    """What the making of the problem has cost each record (nats, exact): it adds to what a release costs.

    The sum over all fields. Two equal epsilons may be one pilot or two, and nothing in the file tells, so
    both count. Where one pilot gave several fields, state its epsilon in one and `private data, epsilon 0`
    in the others: made from what is paid for already.
    """
    return sum(priced_fields(problem).values(), Fraction(0))


def priced_origin(epsilon: Fraction) -> str:
    """The text `private data, epsilon E`; `epsilon` is a decimal, which is written with all its digits."""
    return f"{_PRICED}{decimal_text(epsilon)}"


def decimal_text(number: Fraction) -> str:
    """A decimal >= 0 with all its digits and no exponent: 0.30 is 0.3."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    whole, part = divmod(int(number * 10**digits), 10**digits)
    return f"{whole}.{part:0{digits}}" if digits else str(whole)


def unconfirmed(problem: Problem) -> tuple[str, ...]:
    """What is used and of which nobody says how it was made: the guarantee assumes that it is public."""
    known = {*from_the_data(problem), *priced_fields(problem)}
    return tuple(field for field in not_public(problem) if field not in known)


def nats(number: str) -> str:
    """A number that is printed already, with its unit: 1 nat, 1.5 nats."""
    return f"{number} nat" if number == "1" else f"{number} nats"


def provenance_sentences(problem: Problem) -> tuple[str, ...]:
    """What breaks the guarantee, first; then what was paid for; then what it takes for granted."""
    return (*what_came_from_the_data(problem), *_assumption(problem))


def outside_sentence(problem: Problem) -> str | None:
    """That the allocation itself is outside the guarantee, and why; None where it is not."""
    private = from_the_data(problem)
    if not private:
        return None
    return (
        f"the allocation itself is outside the guarantee: {_listed(private)} {_were(private)} made from "
        "private data without a budget, and whoever sees it learns something that no epsilon bounds"
    )


def release_warning(problem: Problem) -> str | None:
    """What whoever releases under such an allocation must hear; None where it is inside the guarantee."""
    outside = outside_sentence(problem)
    if outside is None:
        return None
    return (
        f"{outside}. Pass neither the allocation nor this release on with a claim of epsilon; to claim one, "
        "choose these without looking at the data or measure them under a budget (strengths --epsilon), "
        "solve again, and release that"
    )


def what_came_from_the_data(problem: Problem) -> tuple[str, ...]:
    """A sentence on what no epsilon bounds, and one on what has been paid for, where there is any."""
    outside, priced = outside_sentence(problem), priced_fields(problem)
    sentences = [] if outside is None else [outside]
    if priced:
        paid = ", ".join(f"{field}: epsilon {decimal_text(epsilon)}" for field, epsilon in priced.items())
        made = tuple(priced)
        sentences.append(
            f"{_listed(made)} {_were(made)} made from the data under a budget apart ({paid}), which every "
            "record pays besides what the release costs"
        )
    return tuple(sentences)


def price_sentence(problem: Problem, release: Fraction) -> str | None:
    """What a record pays in all, where making the problem cost something; `release` in nats, exact.

    What was made from the data with no epsilon has no price: then this says that there is no sum of all.
    """
    making = provenance_epsilon(problem)
    if making == 0:
        return None
    parts = (
        f"{decimal_text(release)} for the release and {decimal_text(making)} for what was made from the data "
        "before it"
    )
    if private := from_the_data(problem):
        return (
            f"of the price of a record only {nats(decimal_text(release + making))} can be told, {parts}: no "
            f"epsilon bounds what the allocation itself tells by {_listed(private)}"
        )
    return f"the price of a record is {nats(decimal_text(release + making))}: {parts}"


def _assumption(problem: Problem) -> tuple[str, ...]:
    """A sentence on what is unstated; where nothing is, one on what is stated to be public."""
    unsure, other = unconfirmed(problem), not_public(problem)
    if unsure:
        text = f"the guarantee assumes that {_listed(unsure)} {_were(unsure)} fixed without looking at the"
        return (f"{text} data",)
    stated = tuple(field for field in used_fields(problem) if field not in other)
    return (f"{_listed(stated)} {_were(stated)} stated to be public",) if stated else ()


def _listed(fields: tuple[str, ...]) -> str:
    return fields[0] if len(fields) == 1 else f"{', '.join(fields[:-1])} and {fields[-1]}"


def _were(fields: tuple[str, ...]) -> str:
    return "was" if fields == ("total",) else "were"
