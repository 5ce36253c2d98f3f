"""The split of one partition: its value and bound, no more exactly than it takes to tell it from the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions.choice import Choice, Partition
from budget_opt.certificate.partitions.prices import LinearPrices, Prices, bound_score, score_of, shares_at
from budget_opt.certificate.pruning.question import Question
from budget_opt.errors import InfeasibleError, NotSolvedError, ProblemError
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import log_inflations
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers.answer import Clock, OutOfTimeError, Settings, Task
from budget_opt.solvers.convex_method import ImpossibleError
from budget_opt.solvers.feasibility import passes_a_ceiling
from budget_opt.solvers.global_search import method as global_method
from budget_opt.solvers.global_search.method import Incumbent
from budget_opt.solvers.global_search.search import Search
from budget_opt.solvers.partitions.summed import summed_prices
from budget_opt.solvers.table import solve, solve_quickly
from budget_opt.solvers.threads import one_thread


@dataclass(frozen=True, eq=False)
class Tried:
    """What is known of one partition: scores of a split and of the bound; -inf, both, where none is possible.

    `score` is -inf and `bound` inf where none was found and nothing is proved.
    """

    partition: Partition
    score: float
    bound: float
    arrays: Arrays | None = None
    epsilon: FloatArray | None = None
    prices: Sequence[Prices] = ()


@dataclass(eq=False)
class _Outbidding:
    """The incumbent of a search that is only to prove that nothing passes a value `known` elsewhere.

    Most partitions are ruled out by their first box, around the split `start`; others get a local search.
    """

    task: Task
    known: float
    start: FloatArray
    inner: Incumbent | None = None

    @property
    def value(self) -> float:
        return self.known if self.inner is None else max(self.known, self.inner.value)

    @property
    def split(self) -> FloatArray:
        return self.start if self.inner is None else self.inner.split

    def improve(self, points: FloatArray, *, thoroughly: bool) -> bool:
        before = self.value
        if self.inner is None:
            self.inner = global_method.begun(self.task)
        self.inner.improve(points, thoroughly=thoroughly)
        return self.value > before


def tried(
    choice: Choice, partition: Partition, settings: Settings, clock: Clock, known: float = -math.inf
) -> Tried:
    """The best split of a partition, proved: to the gap, or to be no better than the score `known`.

    Raises `OutOfTimeError` at the clock's limit.
    """
    clock.check()
    try:
        arrays = choice.arrays(partition)
        if choice.objective == "weighted_sum":
            return _outbid(choice, partition, arrays, (settings, clock, known))
        limit = None if math.isinf(clock.left()) else max(clock.left(), 0.01)
        asked = Settings(settings.gap, limit, explanation_limit=0.0)
        found = solve(arrays, asked)
    except (InfeasibleError, ImpossibleError, ProblemError):
        return Tried(partition, -math.inf, -math.inf)
    except NotSolvedError:
        return Tried(partition, -math.inf, math.inf)
    certificate = found.certificate
    multipliers = certificate.multipliers
    prices = []
    if isinstance(multipliers, Multipliers):
        shares = None
        if choice.objective == "min_variance":
            shares = shares_at(arrays, log_inflations(arrays, found.epsilon))
        prices = [LinearPrices.of(choice, arrays, multipliers, shares)]
    score = score_of(choice.objective, certificate.value)
    bound = max(score, bound_score(choice.objective, certificate.bound))
    return Tried(partition, score, bound, arrays, found.epsilon, prices)


def tried_quickly(choice: Choice, partition: Partition, clock: Clock) -> Tried:
    """The same with a split of a weighted sum that nothing proves: its bound is inf. Raises as `tried`."""
    if choice.objective != "weighted_sum":
        return tried(choice, partition, Settings(gap=1e-6), clock)
    clock.check()
    try:
        arrays = choice.arrays(partition)
        limit = None if math.isinf(clock.left()) else clock.left()
        found = solve_quickly(arrays, [_even(arrays)], 0, limit=limit)
    except (InfeasibleError, ProblemError):
        return Tried(partition, -math.inf, -math.inf)
    except NotSolvedError:
        return Tried(partition, -math.inf, math.inf)
    return _of_sum(choice, partition, arrays, found.epsilon, math.inf)


def _outbid(
    choice: Choice, partition: Partition, arrays: Arrays, asked: tuple[Settings, Clock, float]
) -> Tried:
    settings, clock, known = asked
    if passes_a_ceiling(arrays):
        raise ImpossibleError
    own = Clock(None)
    task = Task(arrays, settings, own, starts=[_even(arrays)])
    with one_thread():
        rival = _Outbidding(task, math.exp(known), _even(arrays))
        if known == -math.inf or not np.any(arrays.upper > arrays.lower):
            rival.inner = global_method.begun(task)
            if not rival.inner.has_choice:
                return _of_sum(choice, partition, arrays, rival.inner.split, None)
        search = Search(Question.of(arrays), settings.gap, rival, lambda: _check(own, clock))
        try:
            search.run(lambda bound, nodes: None)
        except OutOfTimeError:
            if clock.left() <= 0 or clock.interrupted:
                raise
    bound = bound_score("weighted_sum", max(search.bound, 0.0 if rival.inner is None else rival.inner.value))
    if rival.inner is None:
        return Tried(partition, -math.inf, bound)
    return _of_sum(choice, partition, arrays, rival.split, bound)


def _even(arrays: Arrays) -> FloatArray:
    """A split (M,) that shares what the largest block may have."""
    share = np.max(arrays.upper, initial=0.0) / arrays.blocks
    return np.minimum(np.maximum(share, arrays.lower), arrays.upper)


def _check(own: Clock, whole: Clock) -> None:
    whole.check()
    if own.seconds > global_method.DEFAULT_LIMIT:
        raise OutOfTimeError


def _of_sum(
    choice: Choice, partition: Partition, arrays: Arrays, epsilon: FloatArray, bound: float | None
) -> Tried:
    score = score_of("weighted_sum", objective_value(arrays, epsilon))
    prices = summed_prices(choice, arrays, epsilon, partition)
    proved = bound_score("weighted_sum", math.exp(score)) if bound is None else bound
    return Tried(partition, score, proved, arrays, epsilon, prices)
