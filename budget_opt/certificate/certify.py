"""Value, bound and gap of a split, from the problem alone (DESIGN 2.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from budget_opt.certificate.convex import Frame
from budget_opt.certificate.convex import bound as convex_bound
from budget_opt.certificate.fitting import fit_multipliers
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.proof.proof import TreeProof
from budget_opt.certificate.proof.root import proved_at_root
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value


@dataclass(frozen=True)
class Certificate:
    """How good a split is, proved: `value` at lambda(epsilon), `bound` that no feasible split passes.

    `bound` is above the value where the objective is maximized, below where it is minimized;
    `relative_gap` is |bound - value| / |value|. `multipliers` prove the bound, or `proof` does, by boxes with
    their own; both are None where a search proved it and nobody asked for a record.
    """

    value: float
    bound: float
    relative_gap: float
    multipliers: Multipliers | None
    proof: TreeProof | None = None


def certify(
    arrays: Arrays,
    epsilon: FloatArray,
    multipliers: Multipliers | None = None,
    proceed: Callable[[], bool] | None = None,
) -> Certificate:
    """The certificate of a split (M,): by the given multipliers, or by good ones found from the split alone.

    The convex objectives close the gap at an optimum, except `min_variance` with stated marginals under
    ceilings; the bound of every other problem is valid and may be loose. The split's own feasibility is not
    judged here. `proceed` may end the search for multipliers of a weighted sum early; any that it has are
    good.
    """
    attained = attained_value(arrays, epsilon)
    if arrays.objective == "weighted_sum":
        proof, proved = proved_at_root(arrays, epsilon, proceed)
        return Certificate(attained, proved, relative_gap(attained, proved), None, proof)
    frame = Frame.of(arrays)
    chosen = fit_multipliers(frame, epsilon) if multipliers is None else multipliers
    proved = convex_bound(frame, epsilon, chosen)
    clean = chosen.sanitized(arrays)
    if arrays.objective == "min_variance" and clean.point is None:
        # whoever evaluates them again may do so at other digits of the split
        clean = replace(clean, point=epsilon)
    return Certificate(attained, proved, relative_gap(attained, proved), clean)


def attained_value(arrays: Arrays, epsilon: FloatArray) -> float:
    """The objective at lambda(epsilon); a sum of epsilons is exact, rounded up."""
    if arrays.objective == "min_epsilon":
        return float_at_least(sum((exact(e) for e in epsilon), Fraction(0)))
    return objective_value(arrays, epsilon)
