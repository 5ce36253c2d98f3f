"""From the answer at a point of an axis to its allocation, whose value is never worse than that before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation, Statement
from budget_opt.allocation.build import assemble
from budget_opt.api.solving import kept, with_level_bounds
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.solvers.answer import Candidate

LEVEL_TOLERANCE = 1e-3
"""Relative gap by which a level of moments may stay behind, as `solve` has it."""


@dataclass(frozen=True)
class Found:
    """The split of a point, and the bound of every level where there are several.

    `made` is its allocation where that was made right after it; the split or the bound may have got better.
    """

    candidate: Candidate
    level_bounds: tuple[float | None, ...] = ()
    made: Allocation | None = None

    def better(self, candidate: Candidate) -> Found:
        """The same answer with what other points prove about it."""
        before, after = self.candidate, candidate
        same = after.epsilon is before.epsilon and after.certificate.bound == before.certificate.bound
        return Found(candidate, self.level_bounds, self.made if same else None)

    def allocation(self, problem: Problem, gap: float) -> Allocation:
        """The split as one of `problem`; a gap of `gap` counts as optimal. Raises `NotSolvedError`."""
        if self.made is not None:
            return self.made
        return with_level_bounds(kept(problem, self.candidate, gap, self._enough(gap)), self.level_bounds)

    def never_worse(self, problem: Problem, gap: float, before: Allocation | None) -> Allocation:
        """The same, or the split and samplers of `before`, which `problem` must allow, where that is better.

        By the values that allocations state: the rounding of a sampler may turn round those of solvers.
        """
        own = self.allocation(problem, gap)
        if before is None or not _better(before, own):
            return own
        from budget_opt.allocation.pricing import priced

        statement = Statement(
            bound=self.candidate.certificate.bound,
            gap_tolerance=self._enough(gap),
            solver=before.objective.solver,
            seconds=own.objective.seconds,
        )
        samplers = [block.sampler for block in before.blocks]
        return priced(assemble(problem, before.epsilons, samplers, statement), problem)

    def _enough(self, gap: float) -> float:
        return LEVEL_TOLERANCE if self.level_bounds else gap


def _better(before: Allocation, own: Allocation) -> bool:
    """True where the value of the first is better; an undefined one is worse than any."""
    stated, reached = before.objective.value, own.objective.value
    if stated is None or reached is None:
        return stated is not None
    return stated < reached if own.objective.kind in MINIMIZED else stated > reached
