"""Any split beside what is possible: the even one, or one written by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.accounting.outer import as_sum, largest_sum
from budget_opt.allocation import Allocation, Statement
from budget_opt.allocation.build import assemble
from budget_opt.allocation.designed import as_designed
from budget_opt.api.arguments import require
from budget_opt.api.solving import solve
from budget_opt.api.splits import Broken, broken_constraints, taken
from budget_opt.errors import InfeasibleError, NotSolvedError
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.solvers.answer import Callback


@dataclass(frozen=True)
class Judgement:
    """A split with the proved `bound` that no split keeping all constraints passes.

    `relative_gap` is |bound - value| / |value|, None where the split breaks something or no bound is known;
    `no_bound` then says why. `best` is the split that was found for comparison, None in a quick judgement.
    """

    allocation: Allocation
    broken: tuple[Broken, ...]
    bound: float | None
    relative_gap: float | None
    best: Allocation | None = None
    no_bound: str | None = None

    @property
    def keeps_all(self) -> bool:
        """True where the split keeps every budget, group, pin, bound, floor and ceiling, exactly."""
        return not self.broken

    @property
    def value(self) -> float | None:
        """The objective at the split, with the lambda that the sampler implements."""
        return self.allocation.objective.value

    def to_dict(self) -> dict[str, Any]:
        """The judgement as JSON, with the allocation's document."""
        return {
            "keeps_all": self.keeps_all,
            "broken": [dict(vars(broken)) for broken in self.broken],
            "value": self.value,
            "bound": self.bound,
            "relative_gap": self.relative_gap,
            "best_value": None if self.best is None else self.best.objective.value,
            "no_bound": self.no_bound,
            "allocation": self.allocation.to_dict(),
        }

    def __str__(self) -> str:
        kind = self.allocation.objective.kind
        value = "undefined" if self.value is None else f"{self.value:.6g}"
        lines = [f"this split: {kind} {value}"]
        if self.bound is not None:
            lines.append(f"possible under all constraints: {self.bound:.6g}, proved")
        if self.best is not None and self.best.objective.value is not None:
            lines.append(f"best split found: {self.best.objective.value:.6g}")
        if self.relative_gap is not None:
            lines.append(f"relative gap {self.relative_gap:.3g}")
        if self.no_bound is not None:
            lines.append(f"no bound: {self.no_bound}")
        lines += [f"broken: {broken}" for broken in self.broken] or ["every constraint is kept"]
        return "\n".join(lines)


def judge(
    problem: Problem,
    split: Allocation | Mapping[str, Any],
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    quick: bool = False,
    progress: Callback | None = None,
) -> Judgement:
    """Value, proved bound, gap and broken constraints of a split: an allocation, or epsilons (nats) by name.

    Names what a hand-made split breaks and by how much: budgets in exact decimals, floors and ceilings with
    the lambda that a sampler implements. The bound comes from a solve of the problem to `gap`, with
    `time_limit` and `progress` as in `solve`; `quick` takes the one that the split alone proves: valid, loose
    where the split is far from an optimum. Where the problem is impossible or not solved, there is no bound,
    and `no_bound` says why. With several levels value, bound and gap are those of the first. Of a problem
    that leaves clusters or groupings to `design`, an allocation made from such a choice is judged within that
    choice: the bound is of splits, not of other choices. Raises `InputError` for a split of other attributes,
    or one that is none.
    """
    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    if isinstance(split, Allocation):
        problem = as_designed(problem, split)
    allocation = taken(problem, split)
    broken = broken_constraints(allocation, problem)
    best, bound, why = None, None, None
    if quick:
        bound = _quick_bound(problem, allocation)
        why = None if bound is not None else "the split alone proves none; judge it without quick"
    else:
        try:
            best = solve(problem, gap=gap, time_limit=time_limit, progress=progress)
            bound = best.objective.bound
        except (InfeasibleError, NotSolvedError) as failure:
            why = str(failure)
    if broken or bound is None:
        return Judgement(allocation, broken, bound, None, best, why)
    judged = _stated(allocation, bound, gap)
    return Judgement(judged, broken, bound, judged.objective.relative_gap, best, why)


def _quick_bound(problem: Problem, allocation: Allocation) -> float | None:
    from budget_opt.certificate.certify import certify

    enclosing = problem if problem.total_delta == 0 else as_sum(problem, largest_sum(problem))
    bound = certify(enclosing.arrays, allocation.epsilons).bound
    return bound if math.isfinite(bound) else None


def _stated(allocation: Allocation, bound: float, gap: float) -> Allocation:
    """The allocation with the bound, the gap at lambda(epsilon), and the status that they prove."""
    outcome = allocation.objective
    statement = Statement(bound, gap, outcome.solver, outcome.seconds)
    samplers = [block.sampler for block in allocation.blocks]
    return assemble(allocation.question, allocation.epsilons, samplers, statement)
