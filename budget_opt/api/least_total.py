"""`bo.least_total`: the least total epsilon at which every moment is worth what is wanted of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require, require_sums
from budget_opt.api.planning import require_rows, require_target
from budget_opt.errors import InfeasibleError, InputError
from budget_opt.model.moments.by_moment import ByMoment
from budget_opt.model.problem import Problem
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from budget_opt.api.totals.wanted import Wish
    from budget_opt.certificate.demands import Demands
    from budget_opt.model.arrays import FloatArray

FINE = 1e-6
"""A log floor nearer to 0."""
BINDING = 1e-6
"""Relative distance from a wish within which it is one that the total is needed for."""


@dataclass(frozen=True)
class WantedMoment:
    """What was wanted of one moment, None where nothing was, and what the split reaches.

    `floor` is the problem's own. Errors are standardized: divided by `scale`, the product of the standard
    deviations of the scores (None for attributes without scores). `relative_error` is expected from the
    target, None where no n was given.
    """

    attributes: tuple[str, ...]
    label: str
    floor: float | None
    wanted_retention: float | None
    retention: float
    wanted_error: float | None
    relative_error: float | None
    basis: str
    scale: float | None

    @property
    def needed_retention(self) -> float | None:
        """The higher of the wanted retention and the floor."""
        return max((one for one in (self.wanted_retention, self.floor) if one is not None), default=None)

    @property
    def binding(self) -> bool:
        """True where the split gives just what is needed: with less of it the total might be smaller."""
        kept = self.needed_retention is not None and self.retention <= self.needed_retention * (1 + BINDING)
        if self.wanted_error is None or self.relative_error is None:
            return kept
        return kept or self.relative_error >= self.wanted_error * (1 - BINDING)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values."""
        return {**asdict(self), "attributes": list(self.attributes), "binding": self.binding}


@dataclass(frozen=True)
class LeastTotal(Rows):
    """`total_epsilon` meets every wish, which `allocation` shows; none below `bound` does, which is proved.

    `allocation` is a split of the problem with this total; as an answer to the problem's own objective it is
    `given`: nothing is left over to improve it with. `n` and `target` are those of wanted errors, and
    a row is a moment.
    """

    total_epsilon: float
    bound: float
    relative_gap: float
    allocation: Allocation
    moments: tuple[WantedMoment, ...]
    n: int | None
    target: Literal["population", "data"]

    def rows(self) -> list[dict[str, Any]]:
        """A row a moment."""
        return [{**moment.to_dict(), "attributes": ", ".join(moment.attributes)} for moment in self.moments]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON, with the allocation's document."""
        return {
            "total_epsilon": self.total_epsilon,
            "bound": self.bound,
            "relative_gap": self.relative_gap,
            "n": self.n,
            "target": self.target,
            "moments": [moment.to_dict() for moment in self.moments],
            "allocation": self.allocation.to_dict(),
        }

    def renderable(self) -> RenderableType:
        """Total, proof, and a table of wishes and what is reached, for a rich console."""
        from budget_opt.api.totals.tables import renderable

        return renderable(self)

    def __str__(self) -> str:
        return plain_text(self.renderable())


def least_total(  # noqa: PLR0913 (each a word that users type)
    problem: Problem,
    *,
    retention: ByMoment = None,
    standard_error: ByMoment = None,
    n: int | None = None,
    target: Literal["population", "data"] = "population",
    guess: ByMoment = None,
    units: Literal["standardized", "scores"] = "standardized",
) -> LeastTotal:
    """The least total epsilon for which every moment reaches its wanted retention, or error at `n` rows.

    Each of `retention` and `standard_error` is one number for all moments, or numbers by attributes,
    {("smoker", "income"): 0.02}, or by label; both may be given. Errors are measured from the `target`, and
    they, like `guess`, are standardized unless units="scores" (see `plan`, also for what they assume).
    Pins, bounds, groups, floors and ceilings of the problem hold; its total and its objective play no part.

    Raises `InfeasibleError` where pins, bounds or groups leave no total that would do; `InputError` for
    a value that none can reach, such as an error below what sampling alone leaves at n, and arguments outside
    their range; `NotSolvedError` where rounding cannot tell possible from impossible, and where ceilings
    stand in the way of errors on stated marginals, which is not a convex problem.
    """
    from budget_opt.api.totals.settling import settled
    from budget_opt.api.totals.wanted import asked_of, wishes_of

    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    require_sums(problem, "least_total")
    require_target(target)
    if retention is None and standard_error is None:
        raise InputError("retention, standard_error: neither is given. Say what the moments must reach.")
    if standard_error is not None and n is None:
        raise InputError("n: is missing; a standard error is wanted at some number of rows. Give n.")
    rows = 0 if n is None else require_rows(n)
    wishes = wishes_of(problem, retention, standard_error, rows, target, guess, units)
    asked, demands = asked_of(problem, wishes)
    epsilon, bound = _solved(asked, demands, wishes)
    allocation = settled(problem, asked, demands.arrays, epsilon, wishes)
    return _stated(allocation, bound, wishes, n, target)


def _solved(asked: Problem, demands: Demands, wishes: Sequence[Wish]) -> tuple[FloatArray, float]:
    """The split (M,) of the least total, and its proved bound."""
    import numpy as np

    from budget_opt.api.totals.impossible import impossible, with_reasons
    from budget_opt.solvers.answer import Settings
    from budget_opt.solvers.demands.method import ImpossibleDemandsError
    from budget_opt.solvers.demands.method import least_total as solve_demands
    from budget_opt.solvers.explanation import Names
    from budget_opt.solvers.table import solve

    # of a floor this near to 1 the native method's absolute margin would cost too much
    fine = not demands.arrays.ceilings.size and bool(np.any(demands.arrays.log_floor > -FINE))
    if fine or np.any(np.isfinite(demands.log_limit)):
        try:
            found = solve_demands(demands)
        except ImpossibleDemandsError as failure:
            raise impossible(failure.pressures, failure.bound, demands, asked, wishes) from None
        return found.epsilon, found.bound
    names = Names.of_problem(asked)
    try:
        candidate = solve(demands.arrays, Settings(), None, names)
    except InfeasibleError as failure:
        raise with_reasons(failure, asked, wishes) from None
    return candidate.epsilon, candidate.certificate.bound


def _stated(
    allocation: Allocation,
    bound: float,
    wishes: Sequence[Wish],
    n: int | None,
    target: Literal["population", "data"],
) -> LeastTotal:
    from budget_opt.allocation.build import implemented_log_inflations
    from budget_opt.model.objectives import relative_gap

    inflations = implemented_log_inflations(allocation.question, allocation.blocks)
    moments = tuple(
        WantedMoment(
            attributes=moment.attributes,
            label=moment.label,
            floor=moment.floor,
            wanted_retention=wish.retention,
            retention=moment.retention,
            wanted_error=wish.error,
            relative_error=wish.error_in(allocation, moment, float(inflation)),
            basis=moment.variance_basis,
            scale=wish.scale,
        )
        for moment, wish, inflation in zip(allocation.moments, wishes, inflations, strict=True)
    )
    total = allocation.spent_epsilon
    return LeastTotal(total, bound, relative_gap(total, bound), allocation, moments, n, target)
