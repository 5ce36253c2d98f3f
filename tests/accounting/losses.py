"""Allocations to account for, and delta as the plain sum over every outcome, in exact or long arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import mpmath
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.accounting.loss import ThreePoint, three_points
from budget_opt.allocation.allocation import Allocation
from budget_opt.mechanisms.exact import exact


def allocation_of(*attributes: tuple[float, int]) -> Allocation:
    """An allocation of these (epsilon, cardinality), named a0, a1 and so on."""
    names = [f"a{i}" for i in range(len(attributes))]
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=r) for name, (_, r) in zip(names, attributes, strict=True)],
        moments=[bo.CrossMoment("a0")],
        total_epsilon=1e4,
    )
    return bo.allocation_from(problem, dict(zip(names, (e for e, _ in attributes), strict=True)))


def delta_by_enumeration(points: Sequence[ThreePoint], epsilon: float) -> mpmath.mpf:
    """The sum over all 3^M outcomes of (P - exp(epsilon) Q)+, exact but for exp to 60 digits."""
    with mpmath.workdps(60):
        decimal = exact(epsilon)
        factor = mpmath.exp(mpmath.mpf(decimal.numerator) / decimal.denominator)
        total = mpmath.mpf(0)
        for outcome in product(
            *([(p.truth, p.other), (p.other, p.truth), (p.unchanged, p.unchanged)] for p in points)
        ):
            own, others = mpmath.mpf(1), mpmath.mpf(1)
            for under_one, under_other in outcome:
                own *= mpmath.mpf(under_one.numerator) / under_one.denominator
                others *= mpmath.mpf(under_other.numerator) / under_other.denominator
            total += max(own - factor * others, mpmath.mpf(0))
        return total


def losses(*attributes: tuple[float, int]) -> tuple[ThreePoint, ...]:
    return three_points(allocation_of(*attributes))


CARDINALITIES = st.sampled_from([2, 3, 4, 17, 300, 65536])


@st.composite
def splits(draw: st.DrawFn, most: int = 4, scales: Sequence[float] = (1e-9, 1e-3, 1.0, 20.0)) -> Allocation:
    """A small allocation of mixed cardinalities, its epsilons of any size."""
    scale = draw(st.sampled_from(scales))
    sizes = st.floats(0.01, 2.0).map(lambda share: share * scale)
    return allocation_of(*draw(st.lists(st.tuples(sizes, CARDINALITIES), min_size=1, max_size=most)))
