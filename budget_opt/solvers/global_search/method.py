"""The global search as a method of `table`: a strong start, then branch and bound until the gap is proved."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.model.arrays import FloatArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers import local, local_method
from budget_opt.solvers.answer import OutOfTimeError, Task
from budget_opt.solvers.ascent import ascend
from budget_opt.solvers.global_search.question import Question
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
    arrays = task.arrays
    if not np.any(arrays.weight > 0):
        return local_method.solve(task)
    reduction, best = local_method.found(task)
    if not reduction.free.size:
        assert best.epsilon is not None
        return best.epsilon, certify(arrays, best.epsilon)
    incumbent = Incumbent(task, reduction, best)
    incumbent.tidy()
    search = Search(Question.of(arrays), task.settings.gap, incumbent, lambda: _check(task))
    with suppress(OutOfTimeError, KeyboardInterrupt):
        search.run(lambda bound, nodes: task.report(best.value, bound, nodes))
    incumbent.tidy()
    attained = objective_value(arrays, incumbent.split)
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
    inside: list[FloatArray] = field(default_factory=list)

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
            if not self.inside:
                self.inside.append(local_method.inside_all(self.task, self.reduction))
            wanted = np.clip(points[free, 0], program.lower, program.upper)
            start = local_method.mixed(self.reduction, self.inside[0], wanted)
            local.improve(self.reduction, start, self.inside[0], self.best, self.task.clock.check)
        return self.best.value > before
