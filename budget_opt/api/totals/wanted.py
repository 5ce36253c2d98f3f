"""What is wanted of every moment, and what it demands of a split: a retention, or a variance inflation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.allocation import AllocatedMoment, Allocation
from budget_opt.allocation.build import implemented_log_inflations
from budget_opt.certificate.demands import Demands
from budget_opt.errors import Fault, InputError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.planning import precision
from budget_opt.estimators.planning.inside_cluster import excess_of, excess_without_guess
from budget_opt.estimators.planning.standardizing import Units, errors, guesses, number, scale_of_moment
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.moments.by_moment import ByMoment, by_moment, told_apart
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON, SMALLEST_RETENTION

_PLAIN = (SMALLEST_RETENTION, 1 - 1e-6)
"""Floors that carry all digits of the inflation that they stand for."""


@dataclass(frozen=True)
class Wish:
    """What is wanted of one moment: a retention, a (standardized) error at `n` rows, both, or nothing.

    `name` is the moment's label, numbered where another moment has the same.
    """

    moment: CrossMoment
    name: str
    retention: float | None
    error: float | None
    guess: float
    n: int
    target: Target
    scale: float | None

    @property
    def order(self) -> int:
        """The number of attributes."""
        return len(self.moment.attributes)

    @property
    def asks(self) -> bool:
        """True where anything is wanted."""
        return self.retention is not None or self.error is not None

    @property
    def largest_excess(self) -> float:
        """The variance inflation less 1 at which the error is the wanted one; inf where none is wanted."""
        if self.error is None:
            return math.inf
        return precision.largest_excess(self.error, self.order, self.guess, self.target, self.n)

    def error_in(self, allocation: Allocation, moment: AllocatedMoment, log_inflation: float) -> float | None:
        """The standard error of its moment in an allocation; None without n, or if no double can carry it."""
        excess = excess_of(allocation, moment, log_inflation, self.guess)
        if self.n == 0 or excess is None:
            return None
        return precision.relative_error(excess, self.order, self.guess, self.target, self.n)

    def __str__(self) -> str:
        words = []
        if self.retention is not None:
            words.append(f"retention {self.retention:g}")
        if self.error is not None:
            words.append(f"standardized error {self.error:g} at n = {self.n:,}")
        return f"{self.name} ({', '.join(words) or f'floor {self.moment.floor}'})"


def wishes_of(  # noqa: PLR0913, PLR0917 (the arguments of `least_total`)
    problem: Problem,
    retention: ByMoment,
    standard_error: ByMoment,
    n: int,
    target: Target,
    guess: ByMoment,
    units: Units,
) -> tuple[Wish, ...]:
    """A wish for every moment; raises `InputError` for all values that no total epsilon can reach."""
    moments, names = problem.moments, told_apart(problem.moments)
    scales = [scale_of_moment(moment, problem) for moment in moments]
    kept = [
        None if value is None else number(value, f"retention of {name}")
        for name, value in zip(names, by_moment(moments, retention, "retention"), strict=True)
    ]
    wanted = errors(moments, scales, standard_error, units, "standard_error")
    guessed = guesses(moments, scales, guess, units)
    wishes = tuple(
        Wish(moment, names[k], kept[k], wanted[k], guessed[k] or 0.0, n, target, scales[k])
        for k, moment in enumerate(moments)
    )
    faults = [fault for wish in wishes for fault in (*_retention_faults(wish), *_error_faults(wish))]
    if faults:
        raise InputError.from_faults(_merged(faults), "what is wanted")
    if not any(wish.asks for wish in wishes):
        raise InputError("moments: the problem has none, or none is named. Want something of at least one.")
    return wishes


def _retention_faults(wish: Wish) -> list[Fault]:
    value, ceiling, where = wish.retention, wish.moment.ceiling, f"retention of {wish.name}"
    if value is None:
        return []
    if not SMALLEST_RETENTION <= value <= 1 - SMALLEST_RETENTION:
        limit = "must be above 0 and below 1 (at least 1e-12 from both)"
        return [
            Fault(where, value, limit, "A retention of 1 needs infinite epsilon; want a share such as 0.3.")
        ]
    if ceiling is not None and value > ceiling:
        return [Fault(where, value, f"must be at most its ceiling {ceiling!r}", "Want less, or raise that.")]
    return []


def _merged(faults: Sequence[Fault]) -> list[Fault]:
    """One fault for those that differ in their moments alone: a single number for all is told once."""
    alike: dict[tuple[object, str, str], list[Fault]] = {}
    for fault in faults:
        alike.setdefault((fault.value, fault.limit, fault.remedy), []).append(fault)
    return [
        replace(first, where=f"{first.where} and {len(others)} more") if others else first
        for first, *others in alike.values()
    ]


def _error_faults(wish: Wish) -> list[Fault]:
    """An error at too few rows to have one, or below what sampling alone leaves: no epsilon reaches it."""
    if wish.error is None:
        return []
    enough = precision.least_rows_of(wish.order)
    if wish.n < enough:
        where = f"n of {wish.name}"
        return [Fault(where, wish.n, f"must be at least {enough}", "With fewer rows a moment has no error.")]
    if wish.largest_excess > 0:
        return []
    alone = precision.sampling_variance(wish.order, wish.guess)
    least = math.floor(alone / wish.error / wish.error) + 1
    rows = f"at least {least:,}" if least <= precision.LARGEST_ROWS else "more than anybody has"
    limit = f"must be above {math.sqrt(alone / wish.n):.6g}, what sampling alone leaves at n = {wish.n:,}"
    remedy = f'Want a larger one, have more rows, {rows}, or measure from the table with target="data".'
    return [Fault(f"standard_error (standardized) of {wish.name}", wish.error, limit, remedy)]


def asked_of(problem: Problem, wishes: Sequence[Wish]) -> tuple[Problem, Demands]:
    """The problem with all wishes that are floors as its floors, and the demands of the least total.

    Where no marginal is stated a variance inflation is 1 / R^2, and a wanted error is a floor as well.
    """
    floors = [_floor(problem, wish) for wish in wishes]
    moments = [
        wish.moment if floor is None else wish.moment.with_fields(floor=floor)
        for wish, floor in zip(wishes, floors, strict=True)
    ]
    # no problem may state more, so this total limits nothing
    asked = problem.with_fields(total_epsilon=LARGEST_EPSILON, moments=tuple(moments))
    limits = [
        math.inf
        if _as_floor(problem, wish) is not None
        else math.log1p(excess_without_guess(problem, wish.moment, wish.largest_excess, wish.guess))
        for wish in wishes
    ]
    return asked, Demands(replace(asked.arrays, objective="min_epsilon"), np.array(limits))


def _floor(problem: Problem, wish: Wish) -> float | None:
    """The highest of the problem's own floor, the wanted retention, and the floor of a wanted error."""
    floors = [wish.moment.floor, wish.retention, _as_floor(problem, wish)]
    floor = max((floor for floor in floors if floor is not None), default=None)
    ceiling = wish.moment.ceiling
    if floor is not None and ceiling is not None and floor > ceiling:
        raise InputError(
            f"{wish}: needs a retention of at least {floor:.6g}, and the problem's ceiling is {ceiling:g}. "
            "Want less, or raise the ceiling."
        )
    return floor


def _as_floor(problem: Problem, wish: Wish) -> float | None:
    """(1 + largest excess)^(-1/2), rounded up, for a wanted error on uniform marginals; None for others."""
    if wish.error is None or any(
        problem.attribute(name).spread != (1.0, 1.0) for name in problem.attributes_in(wish.moment)
    ):
        return None
    floor = math.nextafter(1.0 / math.sqrt(1.0 + wish.largest_excess) * (1 + 2**-50), 1.0)
    if not _PLAIN[0] <= floor <= _PLAIN[1]:
        return None
    detail = problem.detail_of(wish.moment)  # a floor is about what is left of the declared scores
    return floor if detail == 1 else float_at_least(exact(floor) * detail)


def are_met(allocation: Allocation, wishes: Sequence[Wish]) -> bool:
    """True where the implemented lambda meets every wish and every floor."""
    inflations = implemented_log_inflations(allocation.question, allocation.blocks)
    for moment, wish, inflation in zip(allocation.moments, wishes, inflations, strict=True):
        kept = wish.retention is None or moment.exact_retention >= exact(wish.retention)
        reached = wish.error_in(allocation, moment, float(inflation))
        if not kept or not moment.keeps_floor:
            return False
        if wish.error is not None and (reached is None or reached > wish.error):
            return False
    return True
