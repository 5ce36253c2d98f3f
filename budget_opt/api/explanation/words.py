"""The sentences of an explanation, from its numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from budget_opt.api.explanation.limits import NOTHING, Limit, MoreTotal
from budget_opt.api.explanation.parts import Part
from budget_opt.api.wording import count, counted, fraction, listed, sentence, share
from budget_opt.model.arrays import Objective

_SHOWN = 5
"""Limits that cost something and are named, one a sentence."""
_NAMED = 3
"""So many limits that cost nothing are named, more are counted."""
_LITTLE = f"would bring less than {share(NOTHING)}"
_NAMES = {
    "floor": "the floor on {}",
    "ceiling": "the ceiling on {}",
    "group": "the budget of group {}",
    "epsilon": "the pin of {}",
    "epsilon_min": "the lower bound of {}",
    "epsilon_max": "the upper bound of {}",
}
_REASONS = {
    "epsilon": "it is pinned there",
    "epsilon_min": "its lower bound asks for it",
    "distortion_max": "its distortion_max asks for it",
}


@dataclass(frozen=True)
class Exchange:
    """A move of `step` nats between two attributes that betters the objective, from `before` to `after`.

    `still_broken` are the constraints that the split breaks after the move too.
    """

    giver: str
    taker: str
    step: float
    before: float
    after: float
    still_broken: tuple[str, ...] = ()


def budget_sentences(
    parts: tuple[Part, ...], objective: Objective, *, optimal: bool, unspent: float = 0.0
) -> Iterator[str]:
    """Where most of the budget goes and why, who gets nothing, and how many nats of the total are left."""
    if not parts or not any(part.epsilon > 0 for part in parts):
        yield "Nothing is spent: no attribute is released."
        return
    largest = max(parts, key=lambda part: part.epsilon)
    if len(parts) > 1 and all(part.epsilon == largest.epsilon for part in parts):
        yield f"The budget is split evenly: each of {_parts_in_words(parts)} has {_nats(largest)}."
        return
    whole = "what is spent" if unspent > 0 else "the budget"
    yield f"{sentence(fraction(largest.share))} of {whole} goes to {_reason(largest, objective, optimal)}."
    if unspent > 0:
        yield f"Of the total, {unspent:.4g} stays unspent."
    yield from _unserved([part for part in parts if part.epsilon == 0], objective)


def _parts_in_words(parts: tuple[Part, ...]) -> str:
    """Three attributes; two attributes and a cluster."""
    clusters = sum(bool(part.members) for part in parts)
    kinds = {"attribute": len(parts) - clusters, "cluster": clusters}
    return listed([counted(number, noun) for noun, number in kinds.items() if number])


def _unserved(nothing: list[Part], objective: Objective) -> Iterator[str]:
    """Who gets nothing, and whether anything needs it."""
    noun = _needing(objective)
    unneeded = [part.name for part in nothing if not part.moments]
    if unneeded:
        yield f"Nothing goes to {listed(unneeded)}: no {noun} needs {_them(unneeded)}."
    missed = [part.name for part in nothing if part.moments]
    if missed:
        labels = {label for part in nothing for label in part.moments}
        yield f"Nothing goes to {listed(missed)}: {_lost(len(labels), _them(missed), objective)}."


def _lost(count_of: int, them: str, objective: Objective) -> str:
    """That nothing survives of so many moments (or floors) that need `them`."""
    noun, lost = _needing(objective), "missed" if objective == "min_epsilon" else "given up"
    return (
        f"the {noun} that needs {them} is {lost}"
        if count_of == 1
        else f"the {noun}s that need {them} are {lost}"
    )


def _needing(objective: Objective) -> str:
    """What asks for epsilon under this objective."""
    return "floor" if objective == "min_epsilon" else "moment"


def _nats(part: Part) -> str:
    return f"epsilon {part.epsilon:.4g}"


def _them(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _reason(part: Part, objective: Objective, optimal: bool) -> str:
    if part.held in _REASONS:
        return f"{part.name} because {_REASONS[part.held]}"
    noun = _needing(objective)
    if not part.moments and part.floors:
        return f"{part.name} because {_held_up(part)}"
    if not part.moments:
        return f"{part.name}, which no {noun} needs"
    if not part.surviving:
        return f"{part.name}, though {_lost(len(part.moments), 'it', objective)}"
    needing = counted(len(part.surviving), noun)
    verb = "needs" if len(part.surviving) == 1 else "need"
    if not optimal:
        return f"{part.name}, which {needing} {verb}"
    weight = f" with {fraction(part.weight_share)} of the weight" if objective in _WEIGHTED else ""
    held = ""
    if part.floors and objective != "min_epsilon":
        held = f", and {_held_up(part)}"
    return f"{part.name} because {needing}{weight} {verb} it{held}"


def _held_up(part: Part) -> str:
    floors, verb = ("floor on", "holds") if len(part.floors) == 1 else ("floors on", "hold")
    return f"the {floors} {listed(part.floors)} {verb} it up"


_WEIGHTED = ("weighted_sum", "geometric_mean")


def minimum_sentence(labels: tuple[str, ...], value: float | None) -> Iterator[str]:
    """Which moments decide the objective of `max_min`; `value` is their part of their targets."""
    if labels and value is not None:
        which = "the moment that has" if len(labels) == 1 else "the moments that have"
        yield (
            f"The objective is decided by {listed(labels)}, {which} least of what was wanted: {share(value)}."
        )


def total_sentence(more: MoreTotal | None, objective: Objective) -> Iterator[str]:
    """What one more unit of the total brings."""
    if more is None or more.lowest_change is None or more.highest_change is None:
        return
    ends = sorted((abs(more.lowest_change), abs(more.highest_change)))
    what = f"A total epsilon of {more.raised:g} instead of {more.total:g}"
    yield f"{what} {_effect((ends[0], ends[1]), objective)}."


def limit_sentences(limits: tuple[Limit, ...], objective: Objective) -> Iterator[str]:
    """What dropping each limit would bring, the dearest first, and which cost nothing."""
    known = [(limit, gain) for limit in limits if (gain := limit.gain) is not None]
    dear = [(limit, gain) for limit, gain in known if gain[1] > NOTHING]
    dear.sort(key=lambda item: (-item[1][0], -item[1][1]))
    for limit, gain in dear[:_SHOWN]:
        yield f"Dropping {_NAMES[limit.kind].format(limit.name)} {_effect(gain, objective)}."
    rest = [gain for _, gain in dear[_SHOWN:]]
    if rest:
        which = "one other limit" if len(rest) == 1 else f"any one of {counted(len(rest), 'other limit')}"
        least, most = min(gain[0] for gain in rest), max(gain[1] for gain in rest)
        effect = _possible(most, objective) if least <= NOTHING else _at_most(most, objective)
        yield f"Dropping {which} {effect}."
    free = [_NAMES[limit.kind].format(limit.name) for limit, gain in known if gain[1] <= NOTHING]
    if len(free) == 1:
        yield f"{sentence(free[0])} costs nothing: dropping it {_LITTLE}."
    elif free:
        many = f"{count(len(free))} {'other ' if dear else ''}limits"
        which = listed(free) if len(free) <= _NAMED else many
        one = "either" if len(free) == 2 else "any one"
        yield f"{sentence(which)} cost nothing: dropping {one} {_LITTLE}."
    unknown = len(limits) - len(known)
    if unknown:
        yield f"What {counted(unknown, 'limit')} {'costs' if unknown == 1 else 'cost'} was not shown in time."


_BETTER: dict[Objective, str] = {
    "min_epsilon": "lower the total",
    "min_variance": "lower the objective",
    "weighted_sum": "raise the objective",
    "geometric_mean": "raise the objective",
    "max_min": "raise the objective",
}


def _effect(gain: tuple[float, float], objective: Objective) -> str:
    """By how much, as far as it is proved: one number where both ends are said alike."""
    least, most = gain
    would = f"would {_BETTER[objective]} by"
    if most <= NOTHING:
        return f"{would} less than {share(NOTHING)}"
    if least <= NOTHING:
        return _possible(most, objective)
    if share(least) == share(most):
        return f"{would} {share(most)}"
    return f"{would} at least {share(least, 'down')} and at most {share(most, 'up')}"


def _possible(most: float, objective: Objective) -> str:
    """For what may change nothing as well."""
    return f"may {_BETTER[objective]} by up to {share(most, 'up')}; whether it does is not known in this time"


def _at_most(most: float, objective: Objective) -> str:
    return f"would {_BETTER[objective]} by at most {share(most, 'up')}"


def exchange_sentence(found: Exchange | None, objective: Objective) -> Iterator[str]:
    """The move that betters a split that is no optimum, and what it leaves broken."""
    if found is None:
        return
    change = abs(found.after / found.before - 1.0)
    left = ""
    if found.still_broken:
        left = f"; it would not mend {listed(found.still_broken)}"
    yield (
        f"Moving {found.step:g} of epsilon from {found.giver} to {found.taker} would {_BETTER[objective]} by "
        f"{share(change)}, from {found.before:.4g} to {found.after:.4g}{left}."
    )
