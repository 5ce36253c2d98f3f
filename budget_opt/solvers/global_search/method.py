"""The global search as a method of `table`: a strong start, then branch and bound until the gap is proved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.certificate.pruning.question import Question
from budget_opt.model.arrays import FloatArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers import local, local_method
from budget_opt.solvers.answer import OutOfTimeError, Task
from budget_opt.solvers.ascent import ascend
from budget_opt.solvers.global_search.proving import Aim, certificate_of
from budget_opt.solvers.global_search.raised import Raised
from budget_opt.solvers.global_search.recording import Recording
from budget_opt.solvers.global_search.search import Search
from budget_opt.solvers.local import Best
from budget_opt.solvers.reduction import Reduction

DEFAULT_LIMIT = 60.0
"""Seconds after which a search without a time limit ends with the gap that it has proved by then."""
_CLIMB = 25
"""Steps from a relaxed point."""


def solve(task: Task) -> tuple[FloatArray, Certificate]:
    """The best split (M,) of a weighted sum, and its certificate, by branch and bound.

    Ends when the relative gap asked for is proved, at the time limit (`DEFAULT_LIMIT` where there is none),
    or at Ctrl-C,
    with the best point and the bound proved by then. Raises as the local search does.
    """
    if not np.any(task.arrays.weight > 0):
        return local_method.solve(task)
    incumbent = begun(task)
    if not incumbent.has_choice:
        return incumbent.split, certify(task.arrays, incumbent.split)
    recording = Recording() if task.settings.record else None
    question = Question.of(task.arrays)
    search = Search(question, task.settings.gap, incumbent, lambda: _check(task), recording=recording)
    with task.clock.ending_early():
        search.run(lambda bound, nodes: task.report(incumbent.value, bound, nodes))
    split, proved = ended(search, incumbent)
    if recording is not None:
        aim = Aim(question, split, proved.value, proved.bound, task.settings.gap)
        return split, certificate_of(aim, recording, task.clock.seconds)
    return split, proved


def begun(task: Task) -> Incumbent:
    """The best split before any search; raises as `solve` does."""
    # under ceilings the relaxed points of the search are seldom near a good split
    random_starts = local_method.RANDOM_STARTS if task.arrays.ceilings.size and not task.starts else 0
    incumbent = Incumbent(task, *local_method.found(task, random_starts))
    if incumbent.has_choice:
        with task.clock.ending_early():
            incumbent.first_climbs()
        incumbent.tidy()
    return incumbent


def ended(search: Search, incumbent: Incumbent) -> tuple[FloatArray, Certificate]:
    """The split (M,) and the bound that a search has proved so far."""
    incumbent.tidy()
    attained = objective_value(search.question.arrays, incumbent.split)
    bound = max(search.bound, attained)
    return incumbent.split, Certificate(attained, bound, relative_gap(attained, bound), None)


def _check(task: Task) -> None:
    """Raise OutOfTimeError at the limit."""
    task.clock.check()
    if task.settings.time_limit is None and task.clock.seconds > DEFAULT_LIMIT:
        raise OutOfTimeError


@dataclass
class Incumbent:
    """The best split so far, and what makes better ones of relaxed points."""

    task: Task
    reduction: Reduction
    best: Best

    @property
    def has_choice(self) -> bool:
        """True where there is anything to search for."""
        return bool(self.reduction.free.size) and local_method.as_sum(self.reduction) is not None

    @cached_property
    def raised(self) -> Raised:
        """Starts under floors, groups and ceilings."""
        return Raised.of(self.task.arrays, local.off_zero(self.reduction))

    def climb(self, wanted: FloatArray) -> None:
        """Climb under all constraints from a start towards a wanted split (n,)."""
        start = self.raised.towards(wanted)
        if start is not None:
            local.improve(self.raised.reduction, start, start, self.best, self.task.clock.check)

    def first_climbs(self) -> None:
        """Climb from what floors need towards local optima of the sum under its total, and the even split."""
        total = local_method.as_sum(self.reduction)
        if total is None or local_method.only_total(self.reduction):
            return
        check = self.task.clock.check
        for wanted in local_method.wanted_splits(self.task, self.reduction, total, check, lambda _: None):
            self.climb(wanted)
        self.climb(total.lower + total.rest / total.lower.size)

    @property
    def value(self) -> float:
        """Its weighted sum."""
        return self.best.value

    @property
    def split(self) -> FloatArray:
        """The split (M,)."""
        assert self.best.epsilon is not None
        return self.best.epsilon

    def tidy(self) -> None:
        """Attributes that hold next to nothing to their lower bounds, where that costs nothing."""
        self.best.epsilon = local_method.tidied(self.task, self.split, self.best)

    def improve(self, points: FloatArray, *, thoroughly: bool) -> bool:
        """Climb from relaxed points (M, S), the most promising first; True where a better split was found.

        Under floors, groups or ceilings a climb is dear: only the first point, and only `thoroughly`.
        """
        before = self.best.value
        free, program = self.reduction.free, self.reduction.program
        total = local_method.as_sum(self.reduction)
        assert total is not None
        if local_method.only_total(self.reduction):
            room = np.maximum(points[free] - total.lower[:, None], 0.0)
            room *= np.minimum(1.0, total.rest / np.maximum(np.sum(room, axis=0), 1e-300))
            starts = np.minimum(total.lower[:, None] + room, total.upper[:, None])
            climbed, values = ascend(total, starts, self.task.clock.check, steps=_CLIMB)
            top = int(np.argmax(values))
            if values[top] > before * (1 + 1e-9):
                climbed, _ = ascend(total, climbed[:, [top]], self.task.clock.check, steps=3000)
                self.best.offer(self.reduction.expand(climbed[:, 0]))
        elif thoroughly:
            self.climb(np.clip(points[free, 0], program.lower, program.upper))
        return self.best.value > before
