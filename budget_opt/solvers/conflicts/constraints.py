"""The constraints of a problem one by one, and the problem that is left when some of them are dropped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from budget_opt.errors import ConstraintKind
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.arrays import TOTAL, Arrays, BoolArray, Budget, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions

WISHES: frozenset[ConstraintKind] = frozenset({"floor", "ceiling"})
"""What can be given up without spending more; all else limits what is spent."""


@dataclass(frozen=True, order=True)
class Constraint:
    """One constraint: `index` is of a moment, a budget or an attribute of the arrays, as the kind says."""

    kind: ConstraintKind
    index: int


def constraints_of(arrays: Arrays) -> frozenset[Constraint]:
    """Everything that a problem demands; a pin counts once, and epsilon >= 0 is no demand."""
    pinned = arrays.lower == arrays.stated_upper
    listed: dict[ConstraintKind, BoolArray] = {
        "floor": np.isfinite(arrays.log_floor),
        "ceiling": arrays.log_ceiling < 0,
        "epsilon": pinned,
        "epsilon_min": ~pinned & (arrays.lower > 0),
        "epsilon_max": ~pinned & np.isfinite(arrays.stated_upper),
    }
    found = {Constraint(kind, int(i)) for kind, mask in listed.items() for i in np.flatnonzero(mask)}
    return frozenset(found | {budget_constraint(arrays, j) for j in range(len(arrays.budgets))})


def budget_constraint(arrays: Arrays, j: int) -> Constraint:
    """The total or the group behind budget j."""
    return Constraint("total_epsilon" if arrays.budgets[j].name == TOTAL else "group", j)


@dataclass(frozen=True)
class Held:
    """The `most` epsilon (nats, rounded up) that a budget used up by lower bounds leaves, and these."""

    most: float
    by: frozenset[Constraint]


@dataclass(frozen=True, eq=False)
class System:
    """A problem of which only the constraints `kept` are demanded."""

    arrays: Arrays
    kept: frozenset[Constraint]

    @classmethod
    def of(cls, arrays: Arrays) -> System:
        """The whole problem."""
        return cls(arrays, constraints_of(arrays))

    def without(self, dropped: Iterable[Constraint]) -> System:
        """The system with some constraints dropped."""
        return System(self.arrays, self.kept - frozenset(dropped))

    def of_kind(self, *kinds: ConstraintKind) -> frozenset[Constraint]:
        """The kept constraints of these kinds."""
        return frozenset(one for one in self.kept if one.kind in kinds)

    @property
    def wishes(self) -> frozenset[Constraint]:
        """The kept floors and ceilings."""
        return frozenset(one for one in self.kept if one.kind in WISHES)

    @cached_property
    def restricted(self) -> Arrays:
        """The arrays of what is kept.

        `upper` is the attribute's own bound, not cut to what the budgets leave: what a budget forbids is
        then proved by the budget's multiplier, and the budget is named. Only where lower bounds use a budget
        up, the members are held at theirs.
        """
        arrays = self._uncut
        upper = arrays.upper.copy()
        for m, why in self.held.items():
            upper[m] = min(upper[m], max(arrays.lower[m], why.most))
        return replace(arrays, upper=upper)

    @cached_property
    def _uncut(self) -> Arrays:
        arrays = self.arrays
        pins = self._mask("epsilon", arrays.blocks)
        below = pins | self._mask("epsilon_min", arrays.blocks)
        above = pins | self._mask("epsilon_max", arrays.blocks)
        upper = np.where(above, arrays.stated_upper, np.inf)
        return replace(
            arrays,
            lower=np.where(below, arrays.lower, 0.0),
            upper=upper,
            stated_upper=upper,
            log_floor=np.where(self._mask("floor", arrays.moments), arrays.log_floor, -np.inf),
            log_ceiling=np.where(self._mask("ceiling", arrays.moments), arrays.log_ceiling, 0.0),
            budgets=tuple(
                budget for j, budget in enumerate(arrays.budgets) if budget_constraint(arrays, j) in self.kept
            ),
        )

    @cached_property
    def held(self) -> dict[int, Held]:
        """The attributes without room above their lower bounds, as these use a budget up, to rounding."""
        arrays, found = self._uncut, dict[int, Held]()
        for one, budget in zip(self.budgets, arrays.budgets, strict=True):
            left = budget.cap - total_of(arrays.lower[budget.members])
            if left * 2**40 > budget.cap:
                continue
            for m in budget.members.tolist():
                most = float_at_least(exact(arrays.lower[m]) + max(left, Fraction(0)))
                others = self.lower_bounds(budget.members[budget.members != m])
                if m not in found or most < found[m].most:
                    found[m] = Held(most, others | {one})
        return found

    def lower_bounds(self, members: IntArray) -> frozenset[Constraint]:
        """The kept pins and lower bounds above 0 of these attributes."""
        inside = set(members.tolist())
        return frozenset(
            one
            for one in self.of_kind("epsilon", "epsilon_min")
            if one.index in inside and self.arrays.lower[one.index] > 0
        )

    @cached_property
    def budgets(self) -> list[Constraint]:
        """The kept budgets, in the order of the restricted arrays."""
        every = [budget_constraint(self.arrays, j) for j in range(len(self.arrays.budgets))]
        return [one for one in every if one in self.kept]

    def _mask(self, kind: ConstraintKind, size: int) -> BoolArray:
        mask = np.zeros(size, dtype=bool)
        mask[[one.index for one in self.kept if one.kind == kind]] = True
        return mask


def total_of(epsilons: FloatArray) -> Fraction:
    """The sum as exact decimals."""
    return sum((exact(e) for e in epsilons), Fraction(0))


def holds(arrays: Arrays, epsilon: FloatArray) -> bool:
    """True where a split (M,) keeps everything that the arrays demand; budgets in exact decimals."""
    kept = log_retentions(arrays, epsilon)
    capped = arrays.log_ceiling < 0
    return bool(
        np.all(epsilon >= arrays.lower)
        and np.all(epsilon <= arrays.upper)
        and np.all(kept >= arrays.log_floor)
        and np.all(kept[capped] <= arrays.log_ceiling[capped])
    ) and all(total_of(epsilon[budget.members]) <= budget.cap for budget in arrays.budgets)


def limit_of(arrays: Arrays, one: Constraint) -> float:
    """The number that stands in the problem for this constraint."""
    match one.kind:
        case "floor":
            return float(f"{np.exp(arrays.log_floor[one.index]) * arrays.detail[one.index]:.12g}")
        case "ceiling":
            return float(f"{np.exp(arrays.log_ceiling[one.index]) * arrays.detail[one.index]:.12g}")
        case "total_epsilon" | "group":
            return float(arrays.budgets[one.index].cap)
        case "epsilon_max":
            return float(arrays.stated_upper[one.index])
        case "epsilon" | "epsilon_min":
            return float(arrays.lower[one.index])


def with_limit(arrays: Arrays, one: Constraint, limit: float) -> Arrays:
    """The arrays with another number for this constraint."""

    def changed(values: FloatArray, to: float) -> FloatArray:
        copy = values.copy()
        copy[one.index] = to
        return copy

    match one.kind:
        case "floor":
            kept = limit / arrays.detail[one.index]
            return replace(arrays, log_floor=changed(arrays.log_floor, np.log(kept)))
        case "ceiling":
            kept = limit / arrays.detail[one.index]
            return replace(arrays, log_ceiling=changed(arrays.log_ceiling, np.log(kept)))
        case "total_epsilon" | "group":
            budgets = list(arrays.budgets)
            budgets[one.index] = Budget(budgets[one.index].name, budgets[one.index].members, exact(limit))
            return replace(arrays, budgets=tuple(budgets))
        case "epsilon_max":
            return replace(arrays, stated_upper=changed(arrays.stated_upper, limit))
        case "epsilon_min":
            return replace(arrays, lower=changed(arrays.lower, limit))
        case "epsilon":
            both = changed(arrays.lower, limit), changed(arrays.stated_upper, limit)
            return replace(arrays, lower=both[0], stated_upper=both[1])
