"""What survives of every moment: the exact product of retentions, against what is asked and stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from budget_opt.allocation import AllocatedMoment, Allocation
from budget_opt.allocation.build import implemented_inflations, variance_basis
from budget_opt.allocation.merging import product_told
from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.model.differences import RELATIVE_ERROR
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.verifier.matrices import AnyMatrix, Matrices
from budget_opt.verifier.report import ASSUMED, EXPECTED, PROVED, Check, listed_figures
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
        figures: dict[str, tuple[object, object]] = {
            "retention": (moment.exact_retention, kept),
            "detail": (moment.detail, allocation.question.detail_of(moment.stated)),
            "touches_twice": (moment.touches_twice, len(touched) < len(members)),
            "variance_basis": (moment.variance_basis, basis),
            "variance_inflation": (moment.variance_inflation, inflation),
        }
        other = {name: pair for name, pair in figures.items() if not _agree(*pair)}
        if other:
            wrong.append(_wrong_moment(moment, other))
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


def _wrong_moment(moment: AllocatedMoment, figures: Mapping[str, tuple[object, object]]) -> Check:
    """The figures that are wrong, each as stated and as it must be."""
    return Check(
        claim=f"stated retention and variance inflation of {moment.label}",
        measured=listed_figures({name: _shown(*pair) for name, pair in figures.items()}),
        limit=listed_figures({name: _shown(*pair[::-1]) for name, pair in figures.items()}),
        holds=False,
        source="exact product of the matrices, rounded down",
        name="moment figures",
        word=EXPECTED,
        about=moment.attributes,
    )


def _agree(stated: object, due: object) -> bool:
    """Doubles to the digits that other machines give as well, all else exactly."""
    if isinstance(stated, float) and isinstance(due, float):
        return math.isclose(stated, due, rel_tol=RELATIVE_ERROR)
    return stated == due


def _shown(one: object, beside: object) -> object:
    """A fraction as a double, unless that hides how it differs from what it stands beside."""
    if isinstance(one, Fraction) and isinstance(beside, Fraction):
        double = float_at_most(one)
        return one if double == float_at_most(beside) else double
    return one
