"""The split of a least total as an allocation that meets every wish with the sampler's own lambda."""

from __future__ import annotations

from collections.abc import Sequence

from budget_opt.allocation import Allocation, Statement
from budget_opt.allocation.build import assemble, samplers
from budget_opt.allocation.rounding import fitted, tidied
from budget_opt.api.totals.wanted import Wish, are_met
from budget_opt.errors import NotSolvedError
from budget_opt.mechanisms.exact import exact_sum, float_at_least
from budget_opt.mechanisms.sampler import WIDTHS
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.problem import Problem

SOLVER = "least total"
"""What stands for the solver of such a split."""


def settled(
    problem: Problem, asked: Problem, arrays: Arrays, epsilon: FloatArray, wishes: Sequence[Wish]
) -> Allocation:
    """The split as decimals, with samplers wide enough for every wish, under its own total.

    `asked` has all wishes that are floors as its floors, and `arrays` are its own, for `min_epsilon`.
    """
    for split in (tidied(arrays, epsilon), fitted(arrays, epsilon)):
        if split is None:
            continue
        question = problem.with_total(float_at_least(exact_sum(split)))
        for bits in WIDTHS:
            chosen = _samplers(asked, split, wishes, bits)
            allocation = assemble(question, split, chosen, Statement(solver=SOLVER))
            if are_met(allocation, wishes):
                return _below_ceilings(allocation)
    raise NotSolvedError(
        "the wanted values leave no room for the rounding of the sampler's integers. Want a little less."
    )


def _samplers(
    asked: Problem, split: FloatArray, wishes: Sequence[Wish], bits: int
) -> list[AnySampler | None]:
    """The usual samplers, those of wanted moments at least `bits` wide."""
    wanted = {i for wish in wishes if wish.asks for i in asked.touched(wish.moment.attributes)}
    usual = samplers(asked, split)
    return [
        block.sampler(float(epsilon), bits)
        if i in wanted and sampler is not None and sampler.bits < bits
        else sampler
        for i, (block, epsilon, sampler) in enumerate(zip(asked.blocks, split, usual, strict=True))
    ]


def _below_ceilings(allocation: Allocation) -> Allocation:
    """The allocation; without ceilings its total is the least, and it is with them if it keeps them."""
    passed = [moment for moment in allocation.moments if not moment.keeps_ceiling]
    if passed:
        raise NotSolvedError(
            f"the least total without ceilings passes that of {passed[0].label}, {passed[0].ceiling:g}; with "
            "it the problem is not convex where errors are wanted on stated marginals. Remove the ceiling, "
            "or want retentions instead of errors."
        )
    return allocation
