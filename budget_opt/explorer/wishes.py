"""What the sliders stand at, as a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem


@dataclass(frozen=True)
class Wishes:
    """What differs from the problem at the start: the total (nats), weights and floors of moments.

    Moments by their position. A floor of 0 is none.
    """

    total: float | None = None
    weights: Mapping[int, float] = field(default_factory=dict)
    floors: Mapping[int, float] = field(default_factory=dict)

    def with_total(self, total: float) -> Wishes:
        """A copy with this total."""
        return replace(self, total=_said(total))

    def with_weight(self, k: int, weight: float) -> Wishes:
        """A copy with this weight of moment k."""
        return replace(self, weights={**self.weights, k: _said(weight)})

    def with_floor(self, k: int, floor: float) -> Wishes:
        """A copy with this floor of moment k."""
        return replace(self, floors={**self.floors, k: _said(floor)})

    def of(self, start: Problem) -> Problem:
        """The problem at the start with these wishes; raises `ProblemError` where they are no problem."""
        changed = sorted({*self.weights, *self.floors})
        moments = list(start.moments)
        for k in changed:
            moments[k] = self._moment(k, moments[k])
        fields: dict[str, object] = {"moments": moments} if changed else {}
        if self.total is not None:
            fields["total_epsilon"] = self.total
        return start.with_fields(**fields) if fields else start

    def _moment(self, k: int, moment: CrossMoment) -> CrossMoment:
        fields: dict[str, float | None] = {}
        if k in self.weights:
            fields["weight"] = self.weights[k]
        if k in self.floors:
            fields["floor"] = self.floors[k] or None
        return moment.with_fields(**fields)


def _said(number: float) -> float:
    """The decimal that a slider means: 118 steps of 0.05 are 5.9, not 5.8999999999999995."""
    return float(f"{number:.12g}")
