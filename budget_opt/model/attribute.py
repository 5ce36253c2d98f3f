"""Attributes of a problem: a declared domain and the bounds of its budget (DESIGN 3.1)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from budget_opt.errors import MISSING, Fault, InputError, NotSolvedError
from budget_opt.mechanisms.hamming.optimum import LARGEST_EPSILON
from budget_opt.mechanisms.samplers import AnySampler, any_sampler_for
from budget_opt.mechanisms.source_sampler import epsilon_within, source_sampler
from budget_opt.model.declared import Declared
from budget_opt.model.distortion import least_retention
from budget_opt.model.fields import Budgeted, Distortion
from budget_opt.model.groupings.fields import GroupingsField
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
    writes them from coarser edges). `groupings` are candidates for it, of which `design` chooses.
    `distortion_max` above 0 is the largest expected share of changed cells. `source` is what is publicly
    known of the distribution ({"between": ...}, {"ordered": ...} or {"distributions": ...}): the attribute is
    then randomized by the best matrix for that, at the pinned `epsilon` or the least for `distortion_max`,
    and takes part in no moment and no cluster. Raises `ProblemError` with every fault.
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
        return self.pin if self.pin is not None else (self.epsilon_min or 0.0)

    @property
    def upper(self) -> float:
        """The largest epsilon allowed by the attribute itself, the pin where there is one; inf if none."""
        if self.pin is not None:
            return self.pin
        return math.inf if self.epsilon_max is None else self.epsilon_max

    @cached_property
    def pin(self) -> float | None:
        """The fixed epsilon: as stated, or the least that keeps the `distortion_max` of a `source`."""
        if self.known_source is None or self.distortion_max is None:
            return self.epsilon
        return epsilon_within(self.known_source, self.distortion_max)

    @property
    def effective_cardinality(self) -> float:
        """1 / least background share; 2 with a `source`: no loss is spread worse than that of two."""
        return super().effective_cardinality if self.source is None else 2.0

    @cached_property
    def least_retention(self) -> Fraction:
        """The least lambda that `distortion_max` allows, exactly; 0 where there is none, or no lambda."""
        if self.distortion_max is None or self.source is not None:
            return Fraction(0)
        return least_retention(self, self.distortion_max)

    def sampler(self, epsilon: float, least_bits: int = 32) -> AnySampler | None:
        """The sampler of this attribute alone at `epsilon` (nats), None where nothing is to be released.

        With a `source` it is as wide as `distortion_max` needs, and None where one report for everybody
        changes the fewest cells. Raises `InputError` where the source has no matrix for `epsilon`.
        """
        if self.known_source is not None:
            found = source_sampler(self.known_source, epsilon, self.distortion_max)
            return None if found is None or found.likelihood_ratio == 1 else found
        return any_sampler_for(epsilon, self.cardinality, self.background_weights, least_bits=least_bits)

    def _laws(self) -> list[Fault]:
        faults = [*super()._laws(), *self._bound_faults()]
        return faults if self.source is None or faults else self._faults_with_source()

    def _faults_with_source(self) -> list[Fault]:
        """A source needs one number that fixes epsilon, and a matrix that lets some of the truth through."""
        if self.groupings is not None:
            limit = "has no meaning beside a source, which is about the categories of a report"
            return [Fault("groupings", f"{len(self.groupings)} candidates", limit, "Choose a grouping.")]
        if (self.epsilon is None) == (self.distortion_max is None):
            limit = "needs a pinned epsilon or a distortion_max, and not both"
            remedy = "Give epsilon for the fewest changed cells, or distortion_max for the least epsilon."
            return [Fault("source", MISSING if self.epsilon is None else self.epsilon, limit, remedy)]
        if self.epsilon is not None:
            limit = f"must be at most {LARGEST_EPSILON:g} for a matrix that a source chooses"
            above = self.epsilon > LARGEST_EPSILON
            return [Fault("epsilon", self.epsilon, limit, "Lower it, or remove the source.")] if above else []
        return self._faults_of_least_epsilon()

    def _faults_of_least_epsilon(self) -> list[Fault]:
        """What keeps `distortion_max` from fixing epsilon."""
        where, value = "distortion_max", self.distortion_max
        try:
            pin = self.pin
        except (InputError, NotSolvedError) as why:
            limit = f"has no matrix for this source: {why}"
            return [Fault(where, value, limit, "Allow more changed cells, or change the source.")]
        if not pin:
            limit = "is kept by one report for everybody, whatever the truth"
            return [Fault(where, value, limit, "Allow fewer changed cells, or leave the attribute out.")]
        low, high = self.epsilon_min or 0.0, math.inf if self.epsilon_max is None else self.epsilon_max
        if not low <= pin <= high:
            limit = f"needs epsilon {pin!r} for this source, outside epsilon_min and epsilon_max"
            return [Fault(where, value, limit, "Change one of them.")]
        return []

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
