"""What is hard or impossible in a problem, said before anything is solved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from budget_opt.accounting.outer import as_sum, largest_sum
from budget_opt.allocation.show import background_told, grouping_sentences
from budget_opt.api.arguments import require_number
from budget_opt.api.coarseness import hopeless_attributes
from budget_opt.api.needs import least_need, possible_end
from budget_opt.api.wording import listed
from budget_opt.errors import InfeasibleError, InputError, ProblemError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.documents import read_document
from budget_opt.model.moment_rules import Origin, origins_of
from budget_opt.model.problem import FORMAT, VERSION, Problem
from budget_opt.model.provenance import unconfirmed, what_came_from_the_data
from budget_opt.tables.printing import percent, plain_text, text_table

HOPELESS = 0.01
"""A moment that keeps less than this even with the whole total for itself is called hopeless."""
LARGEST_DELTA = 1e-6
"""A larger delta is warned of: it must be far below 1 / (number of records), of which few tables have less
than a thousand."""
EXAMPLE = 1_000_000
SHOWN = 100
"""Moments of rules that are listed for people."""


@dataclass(frozen=True)
class Findings:
    """A problem in numbers, whether it is possible, and what in it deserves a second thought.

    `least_total` (nats) is a total that floors, pins and minima fit in, None where they need nothing or
    where none is known. `impossible` says why no split meets the problem; None where one does.
    `open_question` says what is not known of a total with a delta: it is neither feasible nor impossible
    then. `origins` say where each moment comes from and why it is needed, where the problem's file has moment
    rules.
    """

    name: str
    attributes: int
    moments: int
    floors: int
    total_epsilon: float | None
    least_total: float | None
    warnings: tuple[str, ...]
    impossible: InfeasibleError | None = None
    origins: tuple[Origin, ...] = ()
    open_question: str | None = None

    @property
    def feasible(self) -> bool:
        """True where a split meets everything, which is proved by one."""
        return self.impossible is None and self.open_question is None

    def to_dict(self) -> dict[str, Any]:
        """The findings as JSON; `infeasibility` holds the message and `errors.Infeasibility`."""
        plain = {**vars(self), "feasible": self.feasible, "warnings": list(self.warnings)}
        plain["origins"] = [vars(origin) | {"attributes": list(origin.attributes)} for origin in self.origins]
        failure = plain.pop("impossible")
        plain["infeasibility"] = failure and {"message": str(failure), **failure.why.to_dict()}
        return plain

    def __str__(self) -> str:
        total = "no total" if self.total_epsilon is None else f"total epsilon {self.total_epsilon:g}"
        numbers = {"attribute": self.attributes, "moment": self.moments, "floor": self.floors}
        counted = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for noun, n in numbers.items())
        lines = [f"{self.name or 'problem'}: {counted}, {total}", self._verdict()]
        lines += [f"note: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *expansion_lines(self.origins)])

    def _verdict(self) -> str:
        if self.impossible is not None:
            return f"infeasible: {self.impossible}"
        if self.open_question is not None:
            return self.open_question
        if self.least_total is None:
            return "feasible: no floor, pin or minimum needs anything"
        least = f"{possible_end(self.least_total):.12g}"
        return f"feasible: the least total that meets floors, pins and minima is {least}, rounded up"


def expansion_lines(origins: Sequence[Origin]) -> list[str]:
    """The moments that rules stand for, as a table; a long one is cut.

    A stated moment is in it where a rule names it again.
    """
    ruled = {frozenset(origin.attributes) for origin in origins if origin.rule}
    shown = [origin for origin in origins if frozenset(origin.attributes) in ruled]
    if not shown:
        return []
    rows = [
        (
            " x ".join(origin.attributes),
            f"{origin.weight:g}",
            f"{origin.source} ({origin.rule})" if origin.rule else origin.source,
            origin.why or "stated",
        )
        for origin in shown[:SHOWN]
    ]
    left = len(shown) - len(rows)
    more = [f"and {left:,} more: --json and --expanded have all"] if left else []
    return [plain_text(text_table(("moment", "weight", "from", "why it is needed"), rows)), *more]


def added_weights(origins: Sequence[Origin], problem: Problem) -> list[str]:
    """Moments that several places of a file give a weight, which add up; where weights count."""
    if problem.objective in ("max_min", "min_epsilon"):
        return []
    notes = []
    for moment in problem.moments:
        members = frozenset(moment.attributes)
        places = [one for one in origins if one.weight > 0 and frozenset(one.attributes) == members]
        if len(places) > 1:
            parts = " + ".join(f"{one.weight:g} ({one.source})" for one in places)
            notes.append(
                f"{moment.label} is named more than once, and its weights add up: {parts} = {moment.weight:g}"
            )
    return notes


def check_file(path: str | Path, time_limit: float | None = None) -> tuple[Problem, Findings]:
    """The problem in a file, its rules expanded, and what `check` says; raises what both raise."""
    document = read_document(path, FORMAT, VERSION, ProblemError)
    problem = Problem.from_dict(document)
    origins = origins_of(document, problem.names, [column.name for column in problem.public])
    found = check(problem, time_limit)
    return problem, replace(
        found,
        origins=origins if document.get("moment_rules") else (),
        warnings=(*added_weights(origins, problem), *found.warnings),
    )


def check(problem: Problem, time_limit: float | None = None) -> Findings:
    """Say what a problem asks for, what is hard in it, and why it is impossible where it is.

    `time_limit` in seconds is for the explanation of an impossible problem, None for 5: what it does not
    reach is told as "not shown irreducible", or as a range. Raises `NotSolvedError` where the floors leave so
    little room that possible and impossible cannot be told apart.
    """
    if time_limit is not None:
        time_limit = require_number(time_limit, "time_limit")
        if not 0 <= time_limit < math.inf:
            raise InputError(f"time_limit: is {time_limit!r}, must be a number of seconds from 0, or None.")
    enclosing = problem if problem.total_delta == 0 else as_sum(problem, largest_sum(problem))
    least, impossible, beyond = None, None, None
    try:
        least = least_need(problem, time_limit).total or None
    except InfeasibleError as failure:
        least, impossible, beyond = failure.least_total, failure, _beyond(enclosing, failure)
    return Findings(
        name=problem.name,
        attributes=len(problem.attributes),
        moments=len(problem.moments),
        floors=int(problem.arrays.floors.size),
        total_epsilon=problem.total_epsilon,
        least_total=least,
        warnings=(
            *_unused(problem),
            *_hopeless(enclosing),
            *hopeless_attributes(enclosing),
            *grouping_sentences(problem.attributes),
            *_clusters(problem),
            *_backgrounds(problem),
            *_without_scores(problem),
            *delta_notes(problem.total_delta),
            *_not_public(problem),
        ),
        impossible=None if beyond else impossible,
        open_question=beyond,
    )


def _beyond(enclosing: Problem, failure: InfeasibleError) -> str | None:
    """What is open where no sum within the total is enough, and a larger one may keep it with the delta."""
    least, largest = failure.least_total, enclosing.total_epsilon
    if least is None or largest is None or least > largest:
        return None
    return (
        f"open: floors, pins and minima need a sum of {possible_end(least):.12g}, more than total_epsilon, "
        "which may still hold with total_delta: solve finds out"
    )


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


def _unused(problem: Problem) -> list[str]:
    """Attributes and clusters that no moment mentions get their minimum."""
    used = {i for moment in problem.moments for i in problem.touched(moment.attributes)}
    return [
        f"{block.name} is in no moment: it gets its minimum, {block.lower:g}; with 0 it is left out"
        for i, block in enumerate(problem.blocks)
        if i not in used and all(member.epsilon is None for member in block.members)
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


def _clusters(problem: Problem) -> list[str]:
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


def _hopeless(problem: Problem) -> list[str]:
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
