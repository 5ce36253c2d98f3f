"""Weights of moments from the strengths of their links: seen in the data, or measured privately.

"In the central scenario the curator can witness the original strengths and thus decide how to dispatch the
privacy budget": strongly protect what has no link, spend on what has (Ruiz 2026, section 4). What was
seen in the data tells about the data, so weights say where they come from (`Strengths.apply`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.provenance import PRIVATE, priced_epsilon, priced_origin

if TYPE_CHECKING:
    from budget_opt.estimators.strengths.links import Link
    from budget_opt.model.moments.moment import CrossMoment
    from budget_opt.model.problem import Problem

INTERNAL = "Computed from the originals: outside the guarantee, do not pass on"
_SMALLEST_WEIGHT = 1e-100


@dataclass(frozen=True)
class Strengths:
    """How strong the links of a problem's moments are in one table.

    `strengths` has a number >= 0 for every moment with a weight, by its attributes in the problem's order:
    |correlation|, Cramer's V, correlation ratio, or their like for higher orders (`strengths.links`).
    `epsilon` is what every record in the table has paid for them (nats), None where they were seen in the
    data themselves: those are internal and `releasable` is False. `noise` is what noise alone would give
    each, as a root mean square, 0 without noise. `n` is the number of records.
    """

    strengths: Mapping[tuple[str, ...], float]
    noise: Mapping[tuple[str, ...], float]
    n: int
    epsilon: float | None = None

    @property
    def kind(self) -> Literal["proved", "estimated"]:
        """`proved` where these are the table's own strengths, `estimated` where noise stands between."""
        return "proved" if self.epsilon is None else "estimated"

    @property
    def releasable(self) -> bool:
        """True where an epsilon bounds what the strengths tell about any record."""
        return self.epsilon is not None

    def without_weak(self, least: float) -> Strengths:
        """A copy in which strengths below `least` are 0."""
        kept = {names: one if one >= least else 0.0 for names, one in self.strengths.items()}
        return replace(self, strengths=kept)

    def apply(self, problem: Problem) -> Problem:
        """The problem with every weight multiplied by the strength of its link, and marked accordingly.

        A stated weight stays as a priority: weights of 1 become the strengths, a weight of 0 stays 0. Moments
        with a public column are not measured and keep their weights: choose these beside numbers from 0 to 1.
        Floors and all else stay. The provenance of the weights becomes `private data`, or `private data,
        epsilon E` with the E of an earlier pilot added; what no epsilon bounds stays so.

        Raises `InputError` for a moment that was not measured, and where all weights would be 0.
        """
        known = {frozenset(names): strength for names, strength in self.strengths.items()}
        weighted = [one for one in problem.moments if one.weight > 0 and is_measured(problem, one)]
        unknown = [moment.label for moment in weighted if frozenset(moment.attributes) not in known]
        if unknown:
            raise InputError(
                f"problem: no strength was measured for {', '.join(unknown[:9])}, with weights above 0. "
                "Measure the strengths of this problem."
            )
        weights = [
            known.get(frozenset(one.attributes), 0.0) * one.weight
            if is_measured(problem, one)
            else one.weight
            for one in problem.moments
        ]
        if not any(weight >= _SMALLEST_WEIGHT for weight in weights):
            raise InputError(
                "strengths: no link is strong enough for a weight, so the problem would ask for nothing. "
                "Give a larger epsilon or fewer moments, a smaller limit, or weights of your own."
            )
        moments = [
            moment.with_fields(weight=weight if weight >= _SMALLEST_WEIGHT else 0.0)
            for moment, weight in zip(problem.moments, weights, strict=True)
        ]
        provenance = problem.provenance.with_fields(weights=self._origin(problem.provenance.weights))
        return problem.with_fields(moments=moments, provenance=provenance)

    def _origin(self, stated: str) -> str:
        """Where weights come from that are made of these strengths and of others that were `stated`."""
        if self.epsilon is None or stated == PRIVATE:
            return PRIVATE
        return priced_origin((priced_epsilon(stated) or Fraction(0)) + exact(self.epsilon))

    def __str__(self) -> str:
        paid = f"Every record of the table has paid epsilon {self.epsilon} for these"
        how = "exact" if self.epsilon is None else self.kind
        lines = [f"{INTERNAL if self.epsilon is None else paid} (n = {self.n}, {how})"]
        for names, strength in sorted(self.strengths.items(), key=lambda one: -one[1]):
            noise = f", noise alone {self.noise[names]:.2g}" if self.noise[names] else ""
            lines.append(f"  {' x '.join(names)}: {strength:.4g}{noise}")
        lost = sum(strength == 0 and self.noise[names] > 0 for names, strength in self.strengths.items())
        if lost:
            which = "1 link is" if lost == 1 else f"{lost} links are"
            lines.append(
                f"{which} not told from noise: weight 0. That does not say that there is no link; a larger "
                "epsilon or fewer moments would tell."
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The strengths as plain values for JSON; what is internal says so first."""
        notice = {"notice": INTERNAL} if self.epsilon is None else {}
        return {
            **notice,
            "releasable": self.releasable,
            "kind": self.kind,
            "epsilon": self.epsilon,
            "n": self.n,
            "moments": [
                {"attributes": list(names), "strength": strength, "noise": self.noise[names]}
                for names, strength in self.strengths.items()
            ],
        }


def is_measured(problem: Problem, moment: CrossMoment) -> bool:
    """True for a moment of attributes alone: a public column has no declared categories to count."""
    return len(problem.attributes_in(moment)) == len(moment.attributes)


def unmeasured(problem: Problem) -> tuple[str, ...]:
    """The weighted moments whose weights `apply` leaves as they are, since they have a public column."""
    return tuple(one.label for one in problem.moments if one.weight > 0 and not is_measured(problem, one))


def strengths_of(links: Mapping[tuple[str, ...], Link], n: int, epsilon: float | None = None) -> Strengths:
    """The strengths of these links, by the attributes of the moment."""
    return Strengths(
        strengths={names: one.strength for names, one in links.items()},
        noise={names: one.noise for names, one in links.items()},
        n=n,
        epsilon=epsilon,
    )
