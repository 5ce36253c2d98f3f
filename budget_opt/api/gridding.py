"""The best split whose epsilons people can say aloud: multiples of a step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.allocation import Allocation, Statement, allocate
from budget_opt.api.arguments import require, require_number, require_split_of_sums
from budget_opt.api.splits import broken_constraints, question_of
from budget_opt.errors import Infeasibility, InfeasibleError, InputError, NotSolvedError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least
from budget_opt.model.arrays import MINIMIZED, TOTAL, IntArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.problem import Problem
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from budget_opt.solvers.answer import Clock
    from budget_opt.solvers.grid.method import GridAnswer, GridTask

SMALLEST_STEP, LARGEST_STEP = 1e-6, 1e4
"""Nats."""
_FINER = (2, 5, 10, 20, 50, 100)
"""Parts of a step that are tried where it is too coarse."""
_WAY_OUT = 2.0
"""Seconds for all finer steps, or for the least total, that a grid too coarse asks for; at most the limit."""
_OFF_THE_GRID = 0.5
"""Part of the time for a best split off the grid, where none is known."""


@dataclass(frozen=True)
class Rounded(Rows):
    """The best split on a grid that was found, and what the grid costs; one row an attribute or cluster.

    `unrounded` is the best split found off the grid, with its proved bound. No split on the grid passes
    `grid_bound`, in the objective's unit; `is_best` where that proves that none is better than `allocation`,
    by more than one in 10^9. `loss` is the share of the objective that the grid costs against `unrounded`
    (negative where that was worse), `largest_loss` the same against the bound of all splits: no more is
    lost, proved. None where a value is undefined or 0. `seconds` are of the search. Where the grid gives up
    moments that survive off it, `finer` is a step on which the best split found gives up none.
    """

    allocation: Allocation
    unrounded: Allocation
    step: float
    grid_bound: float | None
    is_best: bool
    seconds: float
    finer: float | None = None

    @property
    def given_up(self) -> tuple[str, ...]:
        """Moments of the objective of which something survives off the grid, and nothing on it."""
        pairs = zip(self.unrounded.moments, self.allocation.moments, strict=True)
        return tuple(
            after.label
            for before, after in pairs
            if after.weight > 0 and before.retention > 0 and after.retention == 0
        )

    @property
    def loss(self) -> float | None:
        """Against the best split found off the grid."""
        return self._lost(self.unrounded.objective.value)

    @property
    def largest_loss(self) -> float | None:
        """Against the proved bound of all splits."""
        return self._lost(self.unrounded.objective.bound)

    @property
    def grid_gap(self) -> float | None:
        """|grid_bound - value| / |value|: by how much a split on the grid may still be better."""
        value = self.allocation.objective.value
        if self.is_best or value is None or self.grid_bound is None:
            return 0.0 if self.is_best else None
        gap = relative_gap(value, self.grid_bound)
        return gap if math.isfinite(gap) else None

    def _lost(self, before: float | None) -> float | None:
        after = self.allocation.objective.value
        if after is None or not before:
            return None
        share = after / before - 1.0
        return share if self.allocation.objective.kind in MINIMIZED else -share

    def rows(self) -> list[dict[str, Any]]:
        """A row an attribute or cluster: its epsilon off the grid and on it, in nats."""
        return [
            {"attribute": after.name, "unrounded": before.epsilon, "epsilon": after.epsilon}
            for before, after in zip(self.unrounded.blocks, self.allocation.blocks, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "step": self.step,
            "value": self.allocation.objective.value,
            "unrounded_value": self.unrounded.objective.value,
            "loss": self.loss,
            "largest_loss": self.largest_loss,
            "grid_bound": self.grid_bound,
            "grid_gap": self.grid_gap,
            "is_best": self.is_best,
            "given_up": list(self.given_up),
            "finer": self.finer,
            "seconds": self.seconds,
            "epsilons": self.rows(),
            "allocation": self.allocation.to_dict(),
        }

    @property
    def sentence(self) -> str:
        """What the grid costs, and what is proved about it."""
        from budget_opt.api.grid_text import sentence

        return sentence(self)

    def __str__(self) -> str:
        from budget_opt.api.grid_text import as_text

        return as_text(self)


def rounded(
    allocation: Allocation, step: float, problem: Problem | None = None, *, time_limit: float = 10.0
) -> Rounded:
    """The best split whose epsilons are multiples of `step` (nats, a decimal such as 0.05), and its loss.

    Of the problem that the allocation was made from: the split itself is but a start, and one that is not
    optimal is solved anew in up to half of the time. Pins stay as they are; bounds, budgets and groups hold
    in exact decimals, floors and ceilings with the lambda that the sampler implements. The answer of a convex
    objective is proved to be the best within `time_limit` (seconds), or comes with the gap left. That of a
    `weighted_sum` on a grid of more than 50,000 splits, and of a problem with several levels, comes from
    local search, and its gap is that to the bound off the grid. An allocation that was read from a file needs
    its `problem` where that has pins or bounds, which no file carries.

    Raises `InfeasibleError` where no split on the grid keeps everything, with a finer step or a total that
    would do; `NotSolvedError` where none was found in time; `InputError` for a step outside 1e-6 to 1e4.
    """
    from budget_opt.solvers.answer import Clock
    from budget_opt.solvers.grid.method import GridTask

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    parts = step_of(step)
    time_limit = require_number(time_limit, "time_limit")
    if not 0 < time_limit < math.inf:
        raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds.")
    asked = question_of(allocation, problem)
    require_split_of_sums(
        asked, "rounded", "Round its epsilons down, and give them to allocation_from(problem, epsilons)."
    )
    clock = Clock(time_limit)
    unrounded = _unrounded(allocation, asked, _OFF_THE_GRID * time_limit)
    levels = [asked.arrays_of_level(level) for level in asked.levels] or [asked.arrays]
    task = GridTask(
        levels=levels,
        step=parts,
        starts=[unrounded.epsilons],
        clock=clock,
        known=_multipliers(asked, unrounded),
        tolerance=unrounded.objective.gap_tolerance,
    )
    answer = _answered(asked, task)
    statement = Statement(
        bound=unrounded.objective.bound,
        gap_tolerance=unrounded.objective.gap_tolerance,
        solver=f"grid of {float(step):.12g}",
        seconds=clock.seconds,
    )
    assert answer.epsilon is not None
    made = allocate(asked, answer.epsilon, statement)
    if not all(moment.keeps_floor and moment.keeps_ceiling for moment in made.moments):
        raise NotSolvedError(
            f"on the grid of {float(step):.12g} a floor or ceiling leaves no room for the rounding of the "
            "sampler's integers. Lower that floor a little, or take a finer step."
        )
    bound = unrounded.objective.bound if answer.bound is None else answer.bound
    found = Rounded(made, unrounded, float(step), bound, answer.complete, clock.seconds)
    # what is given up as the time was over is no fault of the step
    if not found.given_up or clock.left() <= 0:
        return found
    return replace(found, finer=_finer(task, _surviving(unrounded)))


def _surviving(allocation: Allocation) -> IntArray:
    """Positions of the blocks that moments of the objective need of which something survives."""
    needed = {
        i
        for moment in allocation.moments
        if moment.weight > 0 and moment.retention > 0
        for i in allocation.question.touched(moment.attributes)
    }
    return np.array(sorted(needed), dtype=np.int64)


def step_of(step: object) -> Fraction:
    """The step as a decimal; raises `InputError` outside 1e-6 to 1e4."""
    nats = require_number(step, "step")
    if not SMALLEST_STEP <= nats <= LARGEST_STEP:
        raise InputError(f"step: is {step!r}, must be from {SMALLEST_STEP:g} to {LARGEST_STEP:g} nats.")
    return exact(nats)


def _unrounded(allocation: Allocation, problem: Problem, time_limit: float) -> Allocation:
    """The split itself where it is optimal; else the better of it and what a solve finds."""
    from budget_opt.api.solving import solve

    given = allocation.objective
    if given.status == "optimal":
        return allocation
    try:
        solved = solve(problem, time_limit=time_limit)
    except NotSolvedError:
        if given.bound is None or broken_constraints(allocation, problem):
            raise
        return allocation
    found = solved.objective.value
    if len(problem.levels) > 1 or given.bound is None or given.value is None or found is None:
        return solved
    better = given.value < found if given.kind in MINIMIZED else given.value > found
    return allocation if better and not broken_constraints(allocation, problem) else solved


def _multipliers(problem: Problem, unrounded: Allocation) -> Any:
    from budget_opt.certificate.certify import certify

    if problem.objective == "weighted_sum" or len(problem.levels) > 1:
        return None
    return certify(problem.arrays, unrounded.epsilons).multipliers


def _answered(problem: Problem, task: GridTask) -> GridAnswer:
    """The answer where it has a split; raises with the ways out where it has none."""
    from budget_opt.solvers.grid.lattice import NoMultipleError, TooFineError
    from budget_opt.solvers.grid.method import solve

    try:
        answer = solve(task)
    except TooFineError:
        raise InputError(
            f"step: {float(task.step):.12g} makes a grid of millions of epsilons. Take a coarser one."
        ) from None
    except NoMultipleError as failure:
        block = problem.blocks[failure.index]
        raise InfeasibleError(
            f"the grid of {float(task.step):.12g} has no epsilon between the bounds of {block.name}, "
            f"{block.lower:g} and {block.upper:g}. Pin it, or take a finer step{_such_as(task)}."
        ) from None
    if answer.epsilon is not None:
        return answer
    step = float(task.step)
    if not answer.complete:
        raise NotSolvedError(
            f"no split on the grid of {step:.12g} was found in time, and none was shown to be impossible. "
            "Allow more time."
        )
    total = _least_total(task)
    raising = "" if total is None else f", or raise total_epsilon to {total:.12g}"
    why = Infeasibility(total=problem.total_epsilon, least_total=total)
    raise InfeasibleError(
        f"no split on the grid of {step:.12g} keeps all floors, ceilings and budgets, though one off it "
        f"does. Take a finer step{_such_as(task)}{raising}.",
        why,
    )


def _such_as(task: GridTask) -> str:
    """The first finer step that has a split, in words; nothing where none was found in time."""
    finer = _finer(task)
    return "" if finer is None else f", such as {finer:.12g}"


def _clock_of_way_out(task: GridTask) -> Clock:
    from budget_opt.solvers.answer import Clock

    return Clock(min(_WAY_OUT, task.clock.seconds + task.clock.left()))


def _finer(task: GridTask, released: IntArray | None = None) -> float | None:
    """The first finer step that has a split, with epsilon for all of `released`; None where none has."""
    from budget_opt.solvers.grid.lattice import NoMultipleError, TooFineError
    from budget_opt.solvers.grid.method import solve

    clock = _clock_of_way_out(task)
    for part in _FINER:
        finer = task.step / part
        if finer < exact(SMALLEST_STEP):
            break
        try:
            answer = solve(replace(task, step=finer, clock=clock, any_split=released is None))
        except NoMultipleError:
            continue
        except TooFineError:
            break
        if answer.epsilon is not None and (released is None or np.all(answer.epsilon[released] > 0)):
            return float(finer)
    return None


def _least_total(task: GridTask) -> float | None:
    """The least total found with which this grid has a split; None where another budget is in the way."""
    from budget_opt.solvers.grid.method import solve

    groups = tuple(budget for budget in task.arrays.budgets if budget.name != TOTAL)
    if len(groups) == len(task.arrays.budgets):
        return None
    free = replace(task.arrays, objective="min_epsilon", budgets=groups)
    answer = solve(replace(task, levels=[free], known=None, clock=_clock_of_way_out(task)))
    return None if answer.epsilon is None else float_at_least(exact_sum(answer.epsilon))
