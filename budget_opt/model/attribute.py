"""Attributes of a problem: a declared domain and the bounds of its budget (DESIGN 3.1)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from budget_opt.errors import Fault
from budget_opt.model.declared import Declared
from budget_opt.model.distortion import least_retention
from budget_opt.model.fields import Budgeted, Distortion
from budget_opt.model.grouping_fields import GroupingsField
from budget_opt.model.parts import below


class Attribute(Declared):
    """One categorical attribute: `Attribute("income", categories=5, epsilon_max=1.5)`.

    `categories` are the ordered labels (text, integers or booleans) or their number; `bins` the
    edges of a numeric column instead. `scores` are the values f of moments, one a category.
    `epsilon` pins the budget (nats), `epsilon_min` and `epsilon_max` bound it. `marginal` are public
    or assumed shares of the categories. `background` is what a replaced cell is drawn from: "uniform" (the
    cheapest), "marginal" (the released shares stay as they are), a list of probabilities above 0, or
    {"mixture": w} for w parts of the marginal and 1 - w of the uniform one. `grouping` merges categories
    before anything is randomized: lists of labels, [["a", "b"], ["c"]], or an object from names to lists; of
    bins their labels, [["[10, 15)", "[15, 20)"], ["[20, 25]"]], which merge into bins (`groupings_from_edges`
    writes them from coarser edges). `groupings` are
    candidates for it, of which `design` chooses.
    `distortion_max` above 0 is the largest expected share of changed cells. Raises `ProblemError` with every
    fault.
    """

    noun: ClassVar[str] = "the attribute"
    filler: ClassVar[dict[str, Any]] = {"categories": 2}

    epsilon: Budgeted | None = None
    epsilon_min: Budgeted | None = None
    epsilon_max: Budgeted | None = None
    distortion_max: Distortion | None = None
    groupings: GroupingsField | None = None

    # restated, because type checkers make a keyword-only signature for a model without its own
    def __init__(self, /, *name: str, **fields: Any) -> None:
        super().__init__(*name, **fields)

    @property
    def lower(self) -> float:
        """The least epsilon allowed, the pin where there is one."""
        return self.epsilon if self.epsilon is not None else (self.epsilon_min or 0.0)

    @property
    def upper(self) -> float:
        """The largest epsilon allowed by the attribute itself, the pin where there is one; inf if none."""
        if self.epsilon is not None:
            return self.epsilon
        return math.inf if self.epsilon_max is None else self.epsilon_max

    @cached_property
    def least_retention(self) -> Fraction:
        """The least lambda that `distortion_max` allows, exactly; 0 where there is none."""
        return Fraction(0) if self.distortion_max is None else least_retention(self, self.distortion_max)

    def _laws(self) -> list[Fault]:
        return [*super()._laws(), *self._bound_faults()]

    def _grouping_faults(self) -> list[Fault]:
        """The chosen grouping's, and those of every candidate."""
        faults = super()._grouping_faults()
        for i, candidate in enumerate(self.groupings or ()):
            found = self._faults_of_grouping(candidate)
            faults += below(f"groupings[{i}]", found)
        return faults

    def _bound_faults(self) -> list[Fault]:
        faults = []
        low, high = self.epsilon_min, self.epsilon_max
        if low is not None and high is not None and low > high:
            faults.append(
                Fault("epsilon_max", high, f"must be at least epsilon_min {low!r}", "Raise it or lower that.")
            )
        if self.epsilon is not None:
            if low is not None and self.epsilon < low:
                faults.append(
                    Fault("epsilon", self.epsilon, f"must be at least epsilon_min {low!r}", "Change one.")
                )
            if high is not None and self.epsilon > high:
                faults.append(
                    Fault("epsilon", self.epsilon, f"must be at most epsilon_max {high!r}", "Change one.")
                )
        return faults
