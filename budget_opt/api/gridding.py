"""The best split whose epsilons people can say aloud: multiples of a step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from budget_opt.allocation import Allocation, Statement, allocate
from budget_opt.api.arguments import require, require_number
from budget_opt.api.splits import question_of
from budget_opt.errors import Infeasibility, InfeasibleError, InputError, NotSolvedError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least
from budget_opt.model.arrays import MINIMIZED, TOTAL
from budget_opt.model.objectives import relative_gap
from budget_opt.model.problem import Problem
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from budget_opt.solvers.grid.method import GridAnswer, GridTask

SMALLEST_STEP, LARGEST_STEP = 1e-6, 1e4
"""Nats."""
_FINER = (2, 5, 10, 20, 50, 100)
"""Parts of a step that are tried where it is too coarse."""
_WAY_OUT = 2.0
"""Seconds for each way out of an impossible grid."""


@dataclass(frozen=True)
class Rounded(Rows):
    """The best split on a grid that was found, and what the grid costs; one row an attribute.

    `unrounded` is the best split found off the grid, with its proved bound. No split on the grid passes
    `grid_bound`, in the objective's unit; `is_best` where that proves that none is better than `allocation`,
    by more than one in 10^9. `loss` is the share of the objective that the grid costs against `unrounded`
    (negative where that was worse), `largest_loss` the same against the bound of all splits: no more is
    lost, proved. None where a value is undefined or 0. `seconds` are of the search.
    """

    allocation: Allocation
    unrounded: Allocation
    step: float
    grid_bound: float | None
    is_best: bool
    seconds: float

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
        """A row an attribute: its epsilon off the grid and on it, in nats."""
        return [
            {"attribute": after.name, "unrounded": before.epsilon, "epsilon": after.epsilon}
            for before, after in zip(self.unrounded.attributes, self.allocation.attributes, strict=True)
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

    Of the problem that the allocation was made from: the split itself is but a start, and its bound serves
    where it has one. Pins stay as they are; bounds, budgets and groups hold in exact decimals, floors and
    ceilings with the lambda that the sampler implements. The answer of a convex objective is proved to be the
    best within `time_limit` (seconds), or comes with the gap left. That of a `weighted_sum` on a grid of more
    than 50,000 splits, and of a problem with several levels, comes from local search, and its gap is that to
    the bound off the grid. An allocation that was read from a file needs its `problem` where that has pins or
    bounds, which no file carries.

    Raises `InfeasibleError` where no split on the grid keeps everything, with a finer step or a total that
    would do; `NotSolvedError` where none was found in time; `InputError` for a step outside 1e-6 to 1e4.
    """
    from budget_opt.solvers.answer import Clock
    from budget_opt.solvers.grid.method import GridTask

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    parts = _step(step)
    require_number(time_limit, "time_limit")
    if not 0 < time_limit < math.inf:
        raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds.")
    asked = question_of(allocation, problem)
    unrounded = _unrounded(allocation, asked, time_limit)
    clock = Clock(time_limit)
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
        solver=f"grid of {float(step):g}",
        seconds=clock.seconds,
    )
    assert answer.epsilon is not None
    made = allocate(asked, answer.epsilon, statement)
    if not all(moment.keeps_floor and moment.keeps_ceiling for moment in made.moments):
        raise NotSolvedError(
            f"on the grid of {float(step):g} a floor or ceiling leaves no room for the rounding of the "
            "sampler's integers. Lower that floor a little, or take a finer step."
        )
    bound = unrounded.objective.bound if answer.bound is None else answer.bound
    return Rounded(made, unrounded, float(step), bound, answer.complete, clock.seconds)


def _step(step: object) -> Fraction:
    require_number(step, "step")
    nats = float(step)  # type: ignore[arg-type]  # a number, as was just required
    if not SMALLEST_STEP <= nats <= LARGEST_STEP:
        raise InputError(f"step: is {step!r}, must be from {SMALLEST_STEP:g} to {LARGEST_STEP:g} nats.")
    return exact(nats)


def _unrounded(allocation: Allocation, problem: Problem, time_limit: float) -> Allocation:
    """The split itself where it has a bound, else a best one."""
    from budget_opt.api.solving import solve

    return solve(problem, time_limit=time_limit) if allocation.objective.bound is None else allocation


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
            f"step: {float(task.step):g} makes a grid of millions of epsilons. Take a coarser one."
        ) from None
    except NoMultipleError as failure:
        attribute = problem.attributes[failure.index]
        raise InfeasibleError(
            f"the grid of {float(task.step):g} has no epsilon between the bounds of {attribute.name}, "
            f"{attribute.lower:g} and {attribute.upper:g}. Pin it, or take a finer step{_finer(task)}."
        ) from None
    if answer.epsilon is not None:
        return answer
    step = float(task.step)
    if not answer.complete:
        raise NotSolvedError(
            f"no split on the grid of {step:g} was found in time, and none was shown to be impossible. "
            f"Allow more time, or take a finer step{_finer(task)}."
        )
    total = _least_total(task)
    raising = "" if total is None else f", or raise total_epsilon to {total:g}"
    why = Infeasibility(total=problem.total_epsilon, least_total=total)
    raise InfeasibleError(
        f"no split on the grid of {step:g} keeps all floors, ceilings and budgets, though one off the grid "
        f"does. Take a finer step{_finer(task)}{raising}.",
        why,
    )


def _finer(task: GridTask) -> str:
    """The first finer step that has a split, in words; nothing where none was found in time."""
    from budget_opt.solvers.answer import Clock
    from budget_opt.solvers.grid.lattice import NoMultipleError, TooFineError
    from budget_opt.solvers.grid.method import solve

    for part in _FINER:
        finer = task.step / part
        if finer < exact(SMALLEST_STEP):
            break
        try:
            answer = solve(replace(task, step=finer, clock=Clock(_WAY_OUT)))
        except NoMultipleError:
            continue
        except TooFineError:
            break
        if answer.epsilon is not None:
            return f", such as {float(finer):g}"
    return ""


def _least_total(task: GridTask) -> float | None:
    """The least total found with which this grid has a split; None where another budget is in the way."""
    from budget_opt.solvers.answer import Clock
    from budget_opt.solvers.grid.method import solve

    groups = tuple(budget for budget in task.arrays.budgets if budget.name != TOTAL)
    if len(groups) == len(task.arrays.budgets):
        return None
    free = replace(task.arrays, objective="min_epsilon", budgets=groups)
    answer = solve(replace(task, levels=[free], known=None, clock=Clock(_WAY_OUT)))
    return None if answer.epsilon is None else float_at_least(exact_sum(answer.epsilon))
