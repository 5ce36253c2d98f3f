"""From a problem and its epsilons to an allocation: samplers, retentions, value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np

from budget_opt.allocation.allocation import (
    AllocatedMoment,
    Allocation,
    LevelOutcome,
    Outcome,
    Status,
)
from budget_opt.allocation.blocks import AllocatedBlock, product
from budget_opt.allocation.rounding import even
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import WIDTHS
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.model.arrays import FloatArray
from budget_opt.model.clusters.block import Block
from budget_opt.model.objectives import log_retentions, log_spread_of, relative_gap, value, value_of
from budget_opt.model.problem import Problem
from budget_opt.version import __version__

BINDING = 1e-5
"""A floor binds where log retention is nearer to it than this, or where 32 bits miss it; a distortion too."""


@dataclass(frozen=True)
class Statement:
    """What a solver says of its split; `bound` None for a split that no solver made."""

    bound: float | None = None
    gap_tolerance: float = 1e-6
    solver: str = "none"
    seconds: float = 0.0


def allocate(problem: Problem, epsilon: FloatArray, statement: Statement) -> Allocation:
    """The allocation of these epsilons (M,), nats, taken as decimals and not changed any more."""
    return assemble(problem, epsilon, samplers(problem, epsilon), statement)


def uniform(problem: Problem) -> Allocation:
    """The even split of the total, as far as pins, bounds and groups let it; floors may be missed.

    Without a total (`min_epsilon`) the least common epsilon that keeps every floor.
    """
    return allocate(problem, even(problem.arrays), Statement(solver="even split"))


def assemble(
    problem: Problem,
    epsilon: FloatArray,
    chosen: Sequence[AnySampler | None],
    statement: Statement,
    sha256: str | None = None,
) -> Allocation:
    """The allocation of these epsilons and samplers (M,); `sha256` is of a problem that says more."""
    blocks = tuple(
        AllocatedBlock(block, float(e), sampler)
        for block, e, sampler in zip(problem.blocks, epsilon, chosen, strict=True)
    )
    return Allocation(
        question=problem,
        blocks=blocks,
        moments=_moments(problem, blocks),
        objective=outcome_of(problem, blocks, statement),
        problem_sha256=problem.sha256 if sha256 is None else sha256,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        software=f"budget-opt {__version__}",
        levels=_levels(problem, blocks),
    )


def samplers(problem: Problem, epsilon: FloatArray) -> list[AnySampler | None]:
    """The sampler of every block: 64 bits where a floor or distortion binds, 128 where that is not enough."""
    arrays = problem.arrays
    chosen = [block.sampler(float(e)) for block, e in zip(problem.blocks, epsilon, strict=True)]
    kept = log_retentions(arrays, epsilon)
    binding = [
        k
        for k in arrays.floors
        if kept[k] <= arrays.log_floor[k] + BINDING or not _keeps_floor(problem, int(k), chosen)
    ]
    distorted = {i for i, block in enumerate(problem.blocks) if _keeps_barely(block, chosen[i])}
    for bits in WIDTHS[1:]:
        for i in distorted.union(int(i) for k in binding for i in arrays.members(k)):
            chosen[i] = problem.blocks[i].sampler(float(epsilon[i]), bits)
        binding = [k for k in binding if not _keeps_floor(problem, int(k), chosen)]
        distorted = {i for i in distorted if _retention(chosen[i]) < problem.blocks[i].least_retention}
    return chosen


def _keeps_barely(block: Block, sampler: AnySampler | None) -> bool:
    """True where what a sampler keeps is below what `distortion_max` needs, or within a hair of it."""
    needed = block.least_retention
    return needed > 0 and _retention(sampler) <= needed * (1 + exact(BINDING))


def _keeps_floor(problem: Problem, k: int, chosen: Sequence[AnySampler | None]) -> bool:
    moment = problem.moments[k]
    kept = (_retention(chosen[i]) for i in problem.arrays.members(k))
    return moment.floor is None or product(kept) * problem.detail_of(moment) >= exact(moment.floor)


def _retention(sampler: AnySampler | None) -> Fraction:
    """lambda; a matrix without one is in no moment, and nothing of a moment is kept by it."""
    return Fraction(0) if sampler is None or isinstance(sampler, MatrixSampler) else sampler.retention


def _moments(problem: Problem, blocks: Sequence[AllocatedBlock]) -> tuple[AllocatedMoment, ...]:
    has_marginal = {attribute.name: attribute.marginal is not None for attribute in problem.attributes}
    return tuple(
        AllocatedMoment(
            stated=moment,
            exact_retention=product(blocks[i].exact_retention for i in touched) * problem.detail_of(moment),
            variance_inflation=inflation,
            variance_basis=variance_basis(has_marginal[name] for name in problem.attributes_in(moment)),
            touches_twice=len(touched) < len(problem.attributes_in(moment)),
            detail=problem.detail_of(moment),
        )
        for moment, touched, inflation in zip(
            problem.moments,
            (problem.touched(moment.attributes) for moment in problem.moments),
            implemented_inflations(problem, blocks),
            strict=True,
        )
    )


def variance_basis(has_marginal: Iterable[bool]) -> str:
    """Which marginals a variance inflation rests on (DESIGN 2.3), from those of a moment's members."""
    stated = list(has_marginal)
    if all(stated):
        return "stated marginals"
    return "stated and uniform marginals" if any(stated) else "uniform marginals"


def implemented_inflations(problem: Problem, blocks: Sequence[AllocatedBlock]) -> tuple[float | None, ...]:
    """Every moment's variance inflation at the lambda that samplers implement; None where it is no double."""
    logarithms = implemented_log_inflations(problem, blocks).tolist()
    return tuple(math.exp(logarithm) if logarithm < 709 else None for logarithm in logarithms)


def implemented_log_inflations(problem: Problem, blocks: Sequence[AllocatedBlock]) -> FloatArray:
    """log of every moment's variance inflation (K,) with the lambda that samplers implement; inf for none."""
    spread = log_spread_of(problem.arrays, rr.log_tau_of(_log_retention(blocks)))
    inflation: FloatArray = problem.arrays.spread_incidence @ spread
    return inflation


def _log_retention(blocks: Sequence[AllocatedBlock]) -> FloatArray:
    """log of the implemented lambda (M,), with all digits where it is near 1; -inf without one."""
    kept = [_retention(block.sampler) for block in blocks]
    with np.errstate(divide="ignore"):
        return np.array(
            [np.log1p(-float(1 - one)) if one > Fraction(1, 2) else np.log(float(one)) for one in kept]
        )


def outcome_of(problem: Problem, blocks: Sequence[AllocatedBlock], statement: Statement) -> Outcome:
    """What these blocks reach: value, gap and status, given a bound and what counts as optimal."""
    arrays = problem.arrays
    epsilon = np.array([block.epsilon for block in blocks])
    if problem.objective == "min_epsilon":
        judged = implemented = float_at_least(sum((exact(e) for e in epsilon), Fraction(0)))
    else:
        judged = value(arrays, epsilon)
        implemented = value_of(arrays, epsilon, _log_retention(blocks))
    bound = statement.bound if statement.bound is not None and math.isfinite(statement.bound) else None
    gap = None if bound is None else _defined(relative_gap(judged, bound))
    status: Status = "given" if bound is None else "feasible"
    if gap is not None and gap <= statement.gap_tolerance:
        status = "optimal"
    return Outcome(
        kind=problem.objective,
        value=_defined(implemented),
        bound=bound,
        relative_gap=gap,
        gap_tolerance=statement.gap_tolerance,
        status=status,
        solver=statement.solver,
        seconds=statement.seconds,
    )


def _levels(problem: Problem, blocks: Sequence[AllocatedBlock]) -> tuple[LevelOutcome, ...]:
    """The value of every level where there are several."""
    if len(problem.levels) <= 1:
        return ()
    kept, epsilon = _log_retention(blocks), np.array([block.epsilon for block in blocks])
    return tuple(
        LevelOutcome(level, _defined(value_of(problem.arrays_of_level(level), epsilon, kept)))
        for level in problem.levels
    )


def _defined(number: float) -> float | None:
    """The number, None (undefined) where it is infinite."""
    return number if math.isfinite(number) else None
