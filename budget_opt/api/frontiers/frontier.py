"""What the best split becomes as one number of the problem is varied: points, marks, and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.allocation import Allocation
from budget_opt.errors import InfeasibleError, NotSolvedError
from budget_opt.model.moments.by_moment import told_apart
from budget_opt.model.problem import Problem
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class FrontierPoint:
    """The best split where the varied number is `at`, or why there is none.

    The allocation is that of the problem with this number, and carries value, bound, gap and status.
    """

    at: float
    allocation: Allocation | None
    why: InfeasibleError | NotSolvedError | None = None

    @property
    def status(self) -> str:
        """What is known: optimal, feasible, infeasible, or not solved."""
        if self.allocation is not None:
            return self.allocation.objective.status
        return "infeasible" if isinstance(self.why, InfeasibleError) else "not solved"


@dataclass(frozen=True)
class SupportChange:
    """From `after` to `before`, attributes and clusters begin to get epsilon (`gained`) or cease to (`lost`).

    In the direction of the axis, from the smaller number to the larger; both are values that were solved.
    """

    after: float
    before: float
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True)
class Frontier(Rows):
    """The best splits as one number is varied, smallest first; a table with a row a point.

    `varied` names it: "total_epsilon", "weight of a x b", "floor of a x b" or "n". `complete` is False where
    a limit or Ctrl-C (`interrupted`) left points out, or ended them early. `feasible_from` is the least total
    at which all constraints can be kept; for a floor the largest value of it that can; None where nothing
    limits, or nothing is known. `n` is the number of records of the errors in the rows, None for none; where
    n is varied, it is that of each point.
    """

    problem: Problem
    varied: str
    points: tuple[FrontierPoint, ...]
    complete: bool
    feasible_from: float | None
    support_changes: tuple[SupportChange, ...]
    n: int | None = None
    interrupted: bool = False

    @property
    def kind(self) -> str:
        """What is varied, without whose it is: total_epsilon, weight, floor, n."""
        return self.varied.partition(" of ")[0]

    @property
    def moment(self) -> int | None:
        """Where the moment whose weight or floor is varied stands.

        None for the other axes, and where two moments have its label because of their attributes' names.
        """
        whose = self.varied.partition(" of ")[2] if self.kind in ("weight", "floor") else None
        found = [k for k, one in enumerate(self.problem.moments) if one.label == whose]
        return found[0] if len(found) == 1 else None

    def rows(self) -> list[dict[str, Any]]:
        """A row a point: the number, status, value, bound, gap, what is spent, epsilons, retentions, errors.

        Errors are the standard errors that `plan` expects from the population, relative to the moment's
        scale; there are some where n is varied or was given. `why` says why a point has no split.
        """
        return [self._row(point) for point in self.points]

    def _row(self, point: FrontierPoint) -> dict[str, Any]:
        split = point.allocation
        outcome = None if split is None else split.objective
        names, labels = self.problem.block_names, told_apart(self.problem.moments)
        epsilons = [None] * len(names) if split is None else [one.epsilon for one in split.blocks]
        kept = [None] * len(labels) if split is None else [one.retention for one in split.moments]
        row = {
            self.kind: int(point.at) if self.kind == "n" else point.at,
            "status": point.status,
            "value": outcome and outcome.value,
            "bound": outcome and outcome.bound,
            "relative_gap": outcome and outcome.relative_gap,
            "spent_epsilon": split and split.spent_epsilon,
            "loss": split and split.loss,
            **{f"epsilon {name}": epsilon for name, epsilon in zip(names, epsilons, strict=True)},
            **{f"retention {label}": share for label, share in zip(labels, kept, strict=True)},
        }
        if self.n is not None or self.kind == "n":
            errors = self.errors_at(point)
            row |= {f"relative error {label}": error for label, error in zip(labels, errors, strict=True)}
        return {**row, "why": None if point.why is None else str(point.why)}

    def errors_at(self, point: FrontierPoint) -> tuple[float | None, ...]:
        """The expected relative standard error of every moment; None where there is no split, n or error."""
        from budget_opt.api.planning import plan

        records = round(point.at) if self.kind == "n" else self.n
        if point.allocation is None or records is None:
            return (None,) * len(self.problem.moments)
        return tuple(moment.relative_error for moment in plan(point.allocation, records).moments)

    def to_dict(self) -> dict[str, Any]:
        """The frontier as JSON."""
        return {
            "varied": self.varied,
            "problem_sha256": self.problem.sha256,
            "objective": self.problem.objective,
            "complete": self.complete,
            "interrupted": self.interrupted,
            "feasible_from": self.feasible_from,
            "support_changes": [
                {**vars(change), "gained": list(change.gained), "lost": list(change.lost)}
                for change in self.support_changes
            ],
            "n": self.n,
            "points": self.rows(),
        }

    def plot(self, ax: Any = None) -> Any:
        """What survives along the axis, and the marks, on matplotlib's axes, which are returned.

        Raises `InputError` where no point has a split.
        """
        from budget_opt.plots import frontier_plot

        return frontier_plot(self, ax=ax)

    def renderable(self) -> RenderableType:
        """The points as a table, and the marks in words, for a rich console."""
        from budget_opt.api.frontiers.show import renderable

        return renderable(self)

    def __str__(self) -> str:
        return plain_text(self.renderable())
