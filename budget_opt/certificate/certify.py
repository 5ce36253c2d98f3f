"""Value, bound and gap of a split, from the problem alone (DESIGN 2.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.certificate.convex import Frame
from budget_opt.certificate.convex import bound as convex_bound
from budget_opt.certificate.fitting import fit_multipliers
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.stars.bound import StarMultipliers
from budget_opt.certificate.stars.root import root_bound
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value


@dataclass(frozen=True)
class Certificate:
    """How good a split is, proved: `value` at lambda(epsilon), `bound` that no feasible split passes.

    `bound` is above the value where the objective is maximized, below where it is minimized;
    `relative_gap` is |bound - value| / |value|. `multipliers` prove the bound; None where it comes from
    a search, which proves it by many boxes with their own.
    """

    value: float
    bound: float
    relative_gap: float
    multipliers: Multipliers | StarMultipliers | None


def certify(
    arrays: Arrays,
    epsilon: FloatArray,
    multipliers: Multipliers | StarMultipliers | None = None,
    proceed: Callable[[], bool] | None = None,
) -> Certificate:
    """The certificate of a split (M,): by the given multipliers, or by good ones found from the split alone.

    The convex objectives close the gap at an optimum, except `min_variance` with stated marginals under
    ceilings; the bound of every other problem is valid and may be loose. The split's own feasibility is not
    judged here. `proceed` may end the search for multipliers of a weighted sum early; any that it has are
    good.
    """
    attained = _value(arrays, epsilon)
    if arrays.objective == "weighted_sum":
        given = multipliers if isinstance(multipliers, StarMultipliers) else None
        proved, found = root_bound(arrays, epsilon, given, proceed)
        return Certificate(attained, proved, relative_gap(attained, proved), found)
    frame = Frame.of(arrays)
    chosen = multipliers if isinstance(multipliers, Multipliers) else fit_multipliers(frame, epsilon)
    proved = convex_bound(frame, epsilon, chosen)
    return Certificate(attained, proved, relative_gap(attained, proved), chosen.sanitized(arrays))


def _value(arrays: Arrays, epsilon: FloatArray) -> float:
    if arrays.objective == "min_epsilon":
        return float_at_least(sum((exact(e) for e in epsilon), Fraction(0)))
    return objective_value(arrays, epsilon)
