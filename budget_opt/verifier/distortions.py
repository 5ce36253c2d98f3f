"""The expected share of changed cells of every attribute, against the `distortion_max` of the problem."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from budget_opt.allocation import Allocation
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.distortion import distortion
from budget_opt.model.problem import Problem
from budget_opt.verifier.matrices import Matrices
from budget_opt.verifier.report import Check


def distortion_checks(allocation: Allocation, problem: Problem, matrices: Matrices) -> Iterator[Check]:
    """One for each attribute with a limit, exact in what its matrix implements; a column left out is changed.

    The share is expected under the public marginal, whatever it is under the uniform background; without a
    marginal under any other background it is that of the worst population.
    """
    for attribute in problem.attributes:
        if attribute.distortion_max is None or attribute.name not in allocation.question.names:
            continue
        block = allocation.block_of(attribute.name)
        kept = matrices[block.name].retention if block.is_released else None
        changed = Fraction(1) if kept is None else distortion(attribute, kept)
        yield Check(
            claim=f"expected share of changed cells of {attribute.name}",
            measured=float_at_least(changed),
            limit=attribute.distortion_max,
            holds=changed <= exact(attribute.distortion_max),
            source="1 - (lambda + (1 - lambda) sum p q) of its matrix, rounded up",
            name="distortion",
            about=(attribute.name,),
        )
