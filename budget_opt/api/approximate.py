"""Problems whose total epsilon holds with a total delta: two sums enclose them, with a search between.

The set of splits that keep (epsilon, delta) is no sum constraint, and not convex. Two sums enclose it:

- **inside**: the same problem with a larger sum E', the largest that is found here whose best split keeps
  total_epsilon with total_delta by exact convolution. Its split is the answer, and its guarantee is exact.
- **outside**: no split that keeps them has a larger sum than `largest_sum` (proved there), so that the bound
  of the problem with that sum holds for every one of them.

The gap between the answer and this bound is stated as it is; it is `optimal` only where it is within the
tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from budget_opt.accounting.composition import epsilon_at, epsilon_of, keeps_total
from budget_opt.accounting.loss import from_epsilon
from budget_opt.accounting.outer import as_sum, largest_sum
from budget_opt.allocation import Allocation, Statement, allocate
from budget_opt.api import solving
from budget_opt.errors import InfeasibleError, InputError, NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.model.problem import Problem
from budget_opt.solvers.answer import Clock, Settings

SOLVES = 8
"""Sums for which the problem is solved, at most."""
CLOSE = 1e-6
"""Relative: how near to the total the epsilon of the answer shall come."""
SECONDS = 60.0
"""For a weighted sum without a time limit, as in `solve`; the outer bound gets half of the time."""


def solve_approximate(problem: Problem, settings: Settings) -> Allocation:
    """The best split found of a problem with total_epsilon and total_delta, and a bound for every such split.

    Raises what `solve` raises, and `InputError` for several levels of moments.
    """
    if len(problem.levels) > 1:
        raise InputError(
            "total_delta: is not supported with several levels of moments yet. Put all moments in one level, "
            "or leave total_delta out."
        )
    clock = Clock(settings.time_limit)
    limit = settings.time_limit
    if limit is None and problem.objective == "weighted_sum":
        limit = SECONDS
    outer = largest_sum(problem)
    inner = replace(settings, time_limit=None if limit is None else limit / (2 * SOLVES))
    best = _Search(problem, inner, outer).run()
    rest = replace(settings, time_limit=None if limit is None else limit / 2)
    candidate, _ = solving.found(as_sum(problem, outer), rest, None, 0.0, (best.epsilons,))
    statement = Statement(
        bound=candidate.certificate.bound,
        gap_tolerance=settings.gap,
        solver=f"{best.objective.solver}: best of sums to {best.spent_epsilon:.9g}, bound of {outer:.9g}",
        seconds=clock.seconds,
    )
    return allocate(problem, best.epsilons, statement)


@dataclass
class _Search:
    """The largest sum whose best split keeps (epsilon, delta): regula falsi on a scaled split."""

    problem: Problem
    settings: Settings
    outer: float
    starts: tuple[FloatArray, ...] = field(default=())

    def run(self) -> Allocation:
        """The best split found; a sum of total_epsilon always keeps it, where the problem allows one."""
        best = self._first()
        low, high, near = best.spent_epsilon, self.outer, best
        for _ in range(SOLVES - 1):
            if high - low <= CLOSE * high or self._used(best) >= 1.0 - CLOSE:
                break
            tried = self._scaled(near, low, high)
            near = self._split(tried)
            if self._keeps(near):
                low, best = tried, near
            else:
                high = tried
        return best

    def _first(self) -> Allocation:
        """The split of the sum total_epsilon; or, where no such sum is enough, of the least sum that is."""
        total = self.problem.total_epsilon
        assert total is not None
        try:
            return self._split(total)
        except InfeasibleError as failure:
            return self._beyond(failure)

    def _beyond(self, failure: InfeasibleError) -> Allocation:
        """The split of the least sum that is enough, where it keeps the total; `failure` where none can."""
        least = failure.least_total
        if least is None or least > self.outer:
            try:
                self._split(self.outer)
            except InfeasibleError:
                raise failure from None  # no sum that may keep the total is enough
            least = self.outer
        found = self._split(least)
        if self._keeps(found):
            return found
        cost, delta = self._cost(found), self.problem.total_delta
        raise NotSolvedError(
            f"floors, pins and minima need a sum of {least:.9g}, whose split costs epsilon {cost:.9g} at "
            f"total_delta {delta!r}, more than total_epsilon {self.problem.total_epsilon!r}, and no other "
            "was found. Raise total_epsilon or total_delta, or lower a floor."
        )

    def _split(self, total: float) -> Allocation:
        """The best split of a sum, as decimals."""
        relaxed = as_sum(self.problem, total)
        candidate, _ = solving.found(relaxed, self.settings, None, 0.0, self.starts)
        self.starts = (candidate.epsilon,)
        return solving.without_prices(relaxed, candidate, self.settings.gap, self.settings.gap)

    def _keeps(self, split: Allocation) -> bool:
        return keeps_total(replace(split, question=self.problem))

    def _cost(self, split: Allocation) -> float:
        return epsilon_at(split, self.problem.total_delta).epsilon

    def _used(self, split: Allocation) -> float:
        total = self.problem.total_epsilon
        assert total is not None
        return self._cost(split) / total

    def _scaled(self, split: Allocation, low: float, high: float) -> float:
        """The sum at which this split, scaled, would just keep the total; inside (low, high)."""
        total, delta = self.problem.total_epsilon, self.problem.total_delta
        assert total is not None
        cardinality = self.problem.arrays.cardinality

        def cost(factor: float) -> float:
            points = from_epsilon(factor * split.epsilons, cardinality)
            return epsilon_of(points, delta, factor * split.spent_epsilon).epsilon - total

        spent = split.spent_epsilon
        ends = (low / spent, high / spent)
        if cost(ends[1]) <= 0:
            return high
        if cost(ends[0]) >= 0:
            return (low + high) / 2
        from scipy.optimize import brentq

        found = spent * float(brentq(cost, *ends, xtol=1e-9, rtol=1e-9)) * (1.0 - CLOSE / 4)
        return found if low < found < high else (low + high) / 2
