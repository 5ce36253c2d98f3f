"""The expected share of changed cells of every attribute, against the `distortion_max` of the problem."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from budget_opt.allocation import Allocation
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.attribute import Attribute
from budget_opt.model.distortion import distortion
from budget_opt.model.problem import Problem
from budget_opt.verifier.matrices import AnyMatrix, Matrices
from budget_opt.verifier.report import Check
from budget_opt.verifier.source_matrices import SourceMatrix


def distortion_checks(allocation: Allocation, problem: Problem, matrices: Matrices) -> Iterator[Check]:
    """One for each attribute with a limit, exact in what its matrix implements; a column left out is changed.

    The share is expected under the public marginal, whatever it is under the uniform background; without a
    marginal under any other background it is that of the worst population. With a known source it is that of
    the worst distribution that the problem's source leaves.
    """
    for attribute in problem.attributes:
        if attribute.distortion_max is None or attribute.name not in allocation.question.names:
            continue
        block = allocation.block_of(attribute.name)
        changed = _changed(attribute, matrices[block.name]) if block.is_released else Fraction(1)
        yield Check(
            claim=f"expected share of changed cells of {attribute.name}",
            measured=float_at_least(changed),
            limit=attribute.distortion_max,
            holds=changed <= exact(attribute.distortion_max),
            source="1 - (lambda + (1 - lambda) sum p q) of its matrix, rounded up"
            if attribute.source is None
            else "1 - sum p P(report = truth) of its matrix, in the worst case of its source, rounded up",
            name="distortion",
            about=(attribute.name,),
        )


def _changed(attribute: Attribute, matrix: AnyMatrix) -> Fraction:
    """What this matrix is expected to change; all, where it is not of the kind that the problem asks for."""
    source = attribute.known_source
    if isinstance(matrix, SourceMatrix):
        return Fraction(1) if source is None else matrix.distortion(source)
    return distortion(attribute, matrix.retention) if source is None else Fraction(1)
