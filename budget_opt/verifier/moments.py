"""What survives of every moment: the exact product of retentions, against what is asked and stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from budget_opt.allocation import AllocatedMoment, Allocation
from budget_opt.allocation.build import implemented_inflations, variance_basis
from budget_opt.allocation.merging import product_told
from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.model.moments.differences import RELATIVE_ERROR
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.verifier.matrices import AnyMatrix, Matrices
from budget_opt.verifier.report import ASSUMED, EXPECTED, PROVED, Check
from budget_opt.verifier.source_matrices import SourceMatrix

Retentions = tuple[Fraction, ...]


def exact_retentions(allocation: Allocation, matrices: Matrices) -> Retentions:
    """R of every moment of the question, in its order: of each block that it touches once, times its detail.

    The detail is what groupings leave, made anew from the declared scores and marginals.
    """
    question = allocation.question
    kept = [_kept(matrices[name]) for name in question.block_names]
    return tuple(
        _product(kept[i] for i in question.touched(moment.attributes)) * question.detail_of(moment)
        for moment in question.moments
    )


def _kept(matrix: AnyMatrix) -> tuple[int, int]:
    """lambda as words of words; 0 of a matrix that a source chose, which has none and is in no moment."""
    return (0, 1) if isinstance(matrix, SourceMatrix) else (matrix.kept_words, matrix.words)


def _product(kept: Iterable[tuple[int, int]]) -> Fraction:
    """One division at the end: a fraction a factor would take out common factors each time."""
    counted, words = 1, 1
    for own, of in kept:
        counted, words = counted * own, words * of
    return Fraction(counted, words)


def limit_checks(allocation: Allocation, retentions: Retentions) -> Iterator[Check]:
    """Every floor and ceiling, exactly; assumed in part where the moment has merged categories."""
    question = allocation.question
    for moment, kept in zip(question.moments, retentions, strict=True):
        if moment.floor is not None:
            holds = kept >= exact(moment.floor)
            yield _limit_check("floor", question, moment, kept, holds=holds)
        if moment.ceiling is not None:
            holds = kept <= exact(moment.ceiling)
            yield _limit_check("ceiling", question, moment, kept, holds=holds)


def _limit_check(name: str, question: Problem, moment: CrossMoment, kept: Fraction, *, holds: bool) -> Check:
    source, kind = source_of_retention(question, moment, kept)
    return Check(
        claim=f"{name} of {moment.label}",
        measured=float_at_most(kept),
        limit=moment.floor if name == "floor" else moment.ceiling,
        holds=holds,
        source=source,
        kind=kind,
        name=name,
        about=moment.attributes,
    )


def source_of_retention(question: Problem, moment: CrossMoment, kept: Fraction) -> tuple[str, str]:
    """What the retention `kept` of a moment is made of, and whether all of that is proved."""
    detail = question.detail_of(moment)
    merged = [question.attribute(name) for name in question.attributes_in(moment)]
    return product_told(kept / detail, merged), PROVED if detail == 1 else ASSUMED


def stated_moment_checks(allocation: Allocation, retentions: Retentions) -> Iterator[Check]:
    """One check of what all moments state of themselves, or one of each that is wrong."""
    has_marginal = {attribute.name: attribute.marginal is not None for attribute in allocation.attributes}
    wrong = []
    for moment, kept, inflation in zip(
        allocation.moments,
        retentions,
        implemented_inflations(allocation.question, allocation.blocks),
        strict=True,
    ):
        members = allocation.question.attributes_in(moment.stated)
        basis = variance_basis(has_marginal[name] for name in members)
        touched = allocation.question.touched(members)
        same = moment.exact_retention == kept and moment.variance_basis == basis
        same = same and moment.touches_twice == (len(touched) < len(members))
        same = same and moment.detail == allocation.question.detail_of(moment.stated)
        if not same or not _agree(moment.variance_inflation, inflation):
            wrong.append(_wrong_moment(moment, kept, inflation, basis))
    if wrong:
        yield from wrong
    elif retentions:
        yield Check(
            claim="stated retentions and variance inflations of the moments",
            measured=f"{len(retentions)} agree",
            limit=len(retentions),
            holds=True,
            source="exact product of the matrices, rounded down",
            name="moment figures",
            word=EXPECTED,
        )


def _wrong_moment(moment: AllocatedMoment, kept: Fraction, inflation: float | None, basis: str) -> Check:
    return Check(
        claim=f"stated retention and variance inflation of {moment.label}",
        measured=f"{moment.retention!r}, {moment.variance_inflation!r} by {moment.variance_basis}",
        limit=f"{float_at_most(kept)!r}, {inflation!r} by {basis}",
        holds=False,
        source="exact product of the matrices, rounded down",
        name="moment figures",
        word=EXPECTED,
        about=moment.attributes,
    )


def _agree(stated: float | None, computed: float | None) -> bool:
    if stated is None or computed is None:
        return stated is computed
    return math.isclose(stated, computed, rel_tol=RELATIVE_ERROR)
