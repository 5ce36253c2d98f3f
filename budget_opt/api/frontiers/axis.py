"""Which number of a problem is varied, over which values, and the problem at each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from budget_opt.api.arguments import as_list, require_number
from budget_opt.api.wording import listed
from budget_opt.errors import InputError, ProblemError
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON

Kind = Literal["total_epsilon", "weight", "floor", "n"]
Values = Sequence[float] | None
MOST = 10_000
"""Values at most."""
_EXAMPLE = {
    "total_epsilon": "[1, 2, 5]",
    "weight": "[0, 1, 3]",
    "floor": "[0.1, 0.2, 0.3]",
    "n": "[1_000, 10_000]",
}


@dataclass(frozen=True)
class Axis:
    """A number of `problem` and its `values`, increasing; `moment` is the position of its moment."""

    problem: Problem
    kind: Kind
    values: tuple[float, ...]
    moment: int | None = None

    @property
    def varied(self) -> str:
        """The number in words: total_epsilon, weight of a x b, floor of a x b, n."""
        if self.moment is None:
            return self.kind
        return f"{self.kind} of {self.problem.moments[self.moment].label}"

    @property
    def nested(self) -> bool:
        """True where every split of one point is one of the next: of larger totals, or lower floors."""
        return len(self.problem.levels) <= 1 and self.kind in ("total_epsilon", "floor")

    def problem_at(self, value: float) -> Problem:
        """The problem where the number has this value; itself for n, which no split depends on.

        A floor of 0 is none. Raises `ProblemError` where the problem then contradicts itself.
        """
        if self.kind == "total_epsilon":
            return self.problem.with_total(value)
        if self.kind == "n":
            return self.problem
        return self.with_moment(**{self.kind: value or (None if self.kind == "floor" else 0.0)})

    def with_moment(self, **changes: object) -> Problem:
        """The problem with other fields of the moment."""
        moments = [
            moment.with_fields(**changes) if k == self.moment else moment
            for k, moment in enumerate(self.problem.moments)
        ]
        return self.problem.with_fields(moments=moments)


def axis_of(
    problem: Problem,
    *,
    total_epsilon: Values = None,
    moment: Sequence[str] | None = None,
    weight: Values = None,
    floor: Values = None,
    n: Values = None,
) -> Axis:
    """The one axis that is given; raises `InputError` where none or several are, or a value cannot be."""
    given: dict[Kind, Values] = {"total_epsilon": total_epsilon, "weight": weight, "floor": floor, "n": n}
    kinds = [kind for kind, values in given.items() if values is not None]
    if len(kinds) != 1:
        given_ones = f"{listed(kinds)} were given" if kinds else "none of them was given"
        raise InputError(
            f"frontier: one of total_epsilon, weight, floor and n is varied, and {given_ones}. "
            "Give one list of values, such as total_epsilon=[1, 2, 5]."
        )
    kind = kinds[0]
    values = _values(kind, given[kind])
    if kind not in ("weight", "floor"):
        if moment is not None:
            raise InputError(f"moment: goes with weight or floor, not with {kind}. Leave it out.")
        axis = Axis(problem, kind, values)
    else:
        axis = Axis(problem, kind, values, _position(problem, moment, kind))
    _require_sense(axis)
    return axis


def _values(kind: Kind, given: object) -> tuple[float, ...]:
    """The values, checked, without repetitions, in increasing order."""
    values = as_list(given)
    if values is None:
        raise InputError(
            f"{kind}: is a {type(given).__name__}, must be a list of numbers, such as {_EXAMPLE[kind]}."
        )
    numbers = [require_number(value, kind) for value in values]
    for number in numbers:
        if not _allowed(kind, number):
            raise InputError(f"{kind}: holds {number!r}, must be {_LIMITS[kind]}. Leave it out.")
    if not 1 <= len(numbers) <= MOST:
        raise InputError(f"{kind}: has {len(numbers):,} values, must have 1 to {MOST:,}.")
    return tuple(sorted(set(numbers)))


_LIMITS = {
    "total_epsilon": f"above 0 and at most {LARGEST_EPSILON:g} nats",
    "weight": "from 0 to 1e100",
    "floor": "0 for none, or a retention below 1",
    "n": "a whole number of rows from 1 to 10^15",
}


def _allowed(kind: Kind, value: float) -> bool:
    """False for NaN too."""
    match kind:
        case "total_epsilon":
            return 0 < value <= LARGEST_EPSILON
        case "weight":
            return 0 <= value <= 1e100
        case "floor":
            return 0 <= value < 1
        case "n":
            return 1 <= value <= 1e15 and value == int(value)


def _position(problem: Problem, moment: Sequence[str] | None, kind: Kind) -> int:
    """Where the moment of these attributes stands, in whichever order they are named."""
    labels = ", ".join(one.label for one in problem.moments[:20]) or "none"
    named = as_list(moment)
    if named is None:
        raise InputError(
            f"moment: is {moment!r}, must name the attributes of the moment whose {kind} is varied, such as "
            f'("smoker", "income"). The problem has {labels}.'
        )
    for k, one in enumerate(problem.moments):
        if len(named) == len(one.attributes) and all(name in named for name in one.attributes):
            return k
    raise InputError(f"moment: {' x '.join(map(str, named))} is not in the problem; it has {labels}.")


def _require_sense(axis: Axis) -> None:
    """Raise `InputError` where the objective does not depend on the number, or a value makes no problem."""
    objective = axis.problem.objective
    if axis.kind == "total_epsilon" and objective == "min_epsilon":
        raise InputError(
            "total_epsilon: min_epsilon finds the least total itself. "
            "Vary a floor, or choose another objective."
        )
    if axis.kind == "weight" and objective in ("min_epsilon", "max_min"):
        raise InputError(
            f"weight: {objective} does not depend on the size of weights. "
            "Vary a floor, or choose another objective."
        )
    if axis.kind in ("weight", "floor"):
        for value in axis.values:
            try:
                axis.problem_at(value)
            except ProblemError as failure:
                raise InputError(f"{axis.varied} at {value:g}: {failure}", failure.faults) from None
