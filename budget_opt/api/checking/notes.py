"""What deserves a second thought in a problem, a sentence each."""

from __future__ import annotations

import numpy as np

from budget_opt.allocation.merging import grouping_sentences
from budget_opt.allocation.show import background_told
from budget_opt.api.wording import listed
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import unconfirmed, what_came_from_the_data
from budget_opt.tables.printing import percent

HOPELESS = 0.01
"""A moment that keeps less than this even with the whole total for itself is called hopeless."""
LARGEST_DELTA = 1e-6
"""A larger delta is warned of: it must be far below 1 / (number of records), of which few tables have less
than a thousand."""
EXAMPLE = 1_000_000


def notes_of_any_clusters(problem: Problem) -> list[str]:
    """What is worth a thought whatever is randomized together."""
    return [
        *grouping_sentences(problem.attributes),
        *_backgrounds(problem),
        *_sources(problem),
        *_without_scores(problem),
        *delta_notes(problem.total_delta),
        *_not_public(problem),
    ]


def delta_notes(delta: float) -> list[str]:
    """What a large delta means, in plain words; nothing of a small one."""
    if delta <= LARGEST_DELTA:
        return []
    note = (
        f"total_delta is {delta:g}, which is much: it would be kept even by a release that publishes each "
        f"record as it is with that probability, {delta * EXAMPLE:,.4g} of {EXAMPLE:,} records. Take far "
        f"less than 1 divided by the number of records: this one is 1 divided by {1 / delta:,.0f}"
    )
    return [note]


def unused_notes(problem: Problem) -> list[str]:
    """Attributes and clusters that no moment mentions get their minimum."""
    used = {i for moment in problem.moments for i in problem.touched(moment.attributes)}
    return [
        f"{block.name} is in no moment: it gets its minimum, {block.lower:g}; with 0 it is left out"
        for i, block in enumerate(problem.blocks)
        if i not in used and all(member.pin is None for member in block.members)
    ]


def _backgrounds(problem: Problem) -> list[str]:
    """What a background that is not uniform costs: its rarest category sets the price of all."""
    return [
        f"{one.name}: replaced cells are drawn from another background than the uniform one "
        f"({background_told(one)}), whose rarest category has {percent(1 / one.effective_cardinality)}: "
        f"every retention costs as much as with {one.effective_cardinality:.4g} categories, and there are "
        f"{one.cardinality:,}"
        for one in problem.attributes
        if one.effective_cardinality > one.cardinality
    ]


def _sources(problem: Problem) -> list[str]:
    """What a known source costs and is worth, and that nothing of the guarantee rests on it."""
    worthless = ". Randomized response changes as few cells with a source of class I: remove the source"
    return [
        f"{one.name}: its source is of class {source.source_class} (Kalantari 2018); it costs its pinned "
        f"epsilon {one.lower:.4g}, whatever the source is, and is in no moment: its matrix has no retention"
        + (worthless if source.source_class == "I" else "")
        for one, source in ((one, one.known_source) for one in problem.attributes)
        if source is not None
    ]


def together_notes(problem: Problem) -> list[str]:
    """What is randomized together, what that costs, and members that nothing needs there."""
    used = {name for moment in problem.moments for name in moment.attributes}
    notes = []
    for block in problem.blocks:
        if not block.is_cluster:
            continue
        notes.append(
            f"{block.name} are randomized together, with {block.cardinality:,} joint categories: a change of "
            "one of them alone costs the whole epsilon of the cluster"
        )
        idle = [name for name in block.names if name not in used]
        if idle and len(idle) < len(block.names):
            verb, them = ("is", "it") if len(idle) == 1 else ("are", "them")
            notes.append(
                f"{listed(idle)} {verb} in no moment and only {'makes' if len(idle) == 1 else 'make'} the "
                f"cluster {block.name} larger: take {them} out"
            )
    return notes


def hopeless_notes(problem: Problem) -> list[str]:
    """Moments that cannot keep much however the budget is split."""
    arrays = problem.arrays
    alone = rr.log_retention(np.where(np.isfinite(arrays.upper), arrays.upper, 1e4), arrays.cardinality)
    best = np.exp(arrays.incidence @ alone) * arrays.detail
    return [
        f"{moment.label} keeps at most {100 * kept:.2g} % of its value under this total: "
        f"fewer categories{', smaller clusters' if problem.clusters else ''} or a larger total would help"
        for moment, kept in zip(problem.moments, best, strict=True)
        if kept < HOPELESS
    ]


def _without_scores(problem: Problem) -> list[str]:
    """Moments whose estimation will need scores that the problem does not state."""
    nominal = {attribute.name for attribute in problem.attributes if attribute.score_values is None}
    return [
        f"{moment.label}: {listed(names)} {'has' if len(names) == 1 else 'have'} categories without order or "
        "scores: state scores here, or give some to estimate"
        for moment in problem.moments
        if (names := [name for name in moment.attributes if name in nominal])
    ]


def _not_public(problem: Problem) -> list[str]:
    found = [f"provenance: {sentence}" for sentence in what_came_from_the_data(problem)]
    if unsure := unconfirmed(problem):
        verb = "does" if unsure == ("total",) else "do"
        named = listed(unsure, most=9)
        found.append(f"provenance: the guarantee assumes that {named} {verb} not depend on the data")
    return found
