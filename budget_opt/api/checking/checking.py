"""What is hard or impossible in a problem, said before anything is solved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from budget_opt.accounting.outer import as_sum, largest_sum
from budget_opt.api.arguments import require_number
from budget_opt.api.checking.coarseness import hopeless_attributes
from budget_opt.api.checking.needs import least_need, possible_end
from budget_opt.api.checking.notes import (
    HOPELESS,
    hopeless_notes,
    notes_of_any_clusters,
    together_notes,
    unused_notes,
)
from budget_opt.api.checking.open_clusters import DESIGN, beyond_all, cluster_note, most_kept_notes
from budget_opt.errors import InfeasibleError, InputError, ProblemError
from budget_opt.model.documents import read_document
from budget_opt.model.moments.rules import Origin, origins_of
from budget_opt.model.problem import FORMAT, VERSION, Problem
from budget_opt.tables.printing import plain_text, text_table

SHOWN = 100
"""Moments of rules that are listed for people."""


@dataclass(frozen=True)
class Findings:
    """A problem in numbers, whether it is possible, and what in it deserves a second thought.

    `least_total` (nats) is a total that floors, pins and minima fit in, None where they need nothing or
    where none is known. `impossible` says why no split meets the problem; None where one does.
    `open_question` says what is not known of a total with a delta: it is neither feasible nor impossible
    then. `origins` say where each moment comes from and why it is needed, where the problem's file has moment
    rules. Where `clusters_open`, clusters are still to be chosen: what is feasible without any is feasible,
    and so is `least_total`; what is not is open, unless no choice would do.
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
    clusters_open: bool = False

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
        feasible = "feasible even without clusters" if self.clusters_open else "feasible"
        if self.least_total is None:
            return f"{feasible}: no floor, pin or minimum needs anything"
        least = f"{possible_end(self.least_total):.12g}"
        if self.clusters_open:
            return f"{feasible}: floors, pins and minima then need a total of {least}, rounded up"
        return f"{feasible}: the least total that meets floors, pins and minima is {least}, rounded up"


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

    While clusters are to be chosen ("auto"), that is said of no clusters, and which clusters may be chosen.
    `time_limit` in seconds is for the explanation of an impossible problem, None for 5: what it does not
    reach is told as "not shown irreducible", or as a range. Raises `NotSolvedError` where the floors leave so
    little room that possible and impossible cannot be told apart.
    """
    if time_limit is not None:
        time_limit = require_number(time_limit, "time_limit")
        if not 0 <= time_limit < math.inf:
            raise InputError(f"time_limit: is {time_limit!r}, must be a number of seconds from 0, or None.")
    if problem.clusters == "auto":
        return _with_clusters_open(problem, time_limit)
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
            *unused_notes(problem),
            *hopeless_notes(enclosing),
            *hopeless_attributes(enclosing),
            *together_notes(problem),
            *notes_of_any_clusters(problem),
        ),
        impossible=None if beyond else impossible,
        open_question=beyond,
    )


def _with_clusters_open(problem: Problem, time_limit: float | None) -> Findings:
    """What is known before clusters are chosen: what can be done without any can be done."""
    impossible = beyond_all(problem)
    least, beyond, notes = None, None, list[str]()
    try:
        alone = problem.with_clusters(())
        found = check(alone, time_limit)
    except ProblemError as failure:
        beyond = _unknown("; ".join(str(fault).rstrip(".") for fault in failure.faults))
    else:
        least, beyond = found.least_total, found.open_question
        notes = [
            *unused_notes(alone),
            *(f"without clusters, {sentence}" for sentence in hopeless_attributes(alone)),
        ]
        if found.impossible is not None:
            beyond = _unknown(str(found.impossible).partition("\n")[0].rstrip("."))
    return Findings(
        name=problem.name,
        attributes=len(problem.attributes),
        moments=len(problem.moments),
        floors=sum(bool(moment.floor) for moment in problem.moments),
        total_epsilon=problem.total_epsilon,
        least_total=least,
        warnings=(
            cluster_note(problem),
            *notes,
            *most_kept_notes(problem, HOPELESS),
            *notes_of_any_clusters(problem),
        ),
        impossible=impossible,
        open_question=None if impossible else beyond,
        clusters_open=True,
    )


def _unknown(why: str) -> str:
    """That clusters may do what cannot be done without any."""
    return f"open: without clusters {why}. Whether some clusters do, design finds out: {DESIGN}"


def _beyond(enclosing: Problem, failure: InfeasibleError) -> str | None:
    """What is open where no sum within the total is enough, and a larger one may keep it with the delta."""
    least, largest = failure.least_total, enclosing.total_epsilon
    if least is None or largest is None or least > largest:
        return None
    return (
        f"open: floors, pins and minima need a sum of {possible_end(least):.12g}, more than total_epsilon, "
        "which may still hold with total_delta: solve finds out"
    )
