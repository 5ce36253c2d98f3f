"""The linear program of a source without a known order (class III): a candidate, and a source against it.

    maximize  min over vertices v of sum v_i w_i - charge z    over 0 <= w_i <= z,  alpha z + beta sum w = 1

in r + 2 variables. With alpha = 1 - 1/rho, beta = 1/rho, charge 0 its w are the best diagonals for the
ratio rho (`hamming.theorem`, (1)); with alpha = -1, beta = 1, charge c its value is the steepest slope of a
tangent, (W(y) - c) / (y - 1), at z = 1 / (y - 1); with alpha = 0, beta = 1, charge 0 it is W(1).
HiGHS only proposes: what is returned are numbers, which are made into an exact matrix and an exact bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from budget_opt.errors import NotSolvedError
from budget_opt.mechanisms.hamming.source import Distribution, Source

_SHORT, _LONG = 10**4, 10**18
"""Fractions with denominators up to the first are tried too: the optimum often is such a one exactly. They
are left out where their common denominator exceeds the second: sums of them would grow without end."""

_LARGEST = 1e6
"""Of z: y is at least a millionth above 1. Else a source that one category just covers has no maximum."""


@dataclass(frozen=True)
class Proposal:
    """Weights w / z in 0..1 with sum >= 1, and mixtures of the vertices, each in several roundings."""

    weights: tuple[tuple[Fraction, ...], ...]
    hardest: tuple[Distribution, ...]


def for_ratio(source: Source, ratio: Fraction) -> Proposal:
    """The best diagonals for a likelihood ratio >= 1. Raises NotSolvedError where HiGHS gives up."""
    inverse = float(1 / ratio)
    return _solved(source, alpha=float(1 - 1 / ratio), beta=inverse, charge=0.0)


def for_unchanged(source: Source, unchanged: Fraction) -> Proposal:
    """The best diagonals for a share of unchanged cells in 0..1 that one category alone does not give."""
    return _solved(source, alpha=-1.0, beta=1.0, charge=float(unchanged))


def for_constant(source: Source) -> Proposal:
    """The best report that does not look at the truth: its weights, and the worst source for it."""
    return _solved(source, alpha=0.0, beta=1.0, charge=0.0)


def _solved(source: Source, *, alpha: float, beta: float, charge: float) -> Proposal:
    import numpy as np
    from scipy.optimize import linprog

    vertices = np.array(source.vertices, dtype=np.float64)
    count, size = vertices.shape
    # variables: w_1 .. w_r, z, t; t <= v w - charge z of every vertex, w_i <= z
    worst = np.hstack([-vertices, np.full((count, 1), charge), np.ones((count, 1))])
    capped = np.hstack([np.eye(size), np.full((size, 1), -1.0), np.zeros((size, 1))])
    found = linprog(
        np.r_[np.zeros(size + 1), -1.0],
        A_ub=np.vstack([worst, capped]),
        b_ub=np.zeros(count + size),
        A_eq=np.r_[np.full(size, beta), alpha, 0.0][None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * size + [(0, _LARGEST), (None, None)],
        method="highs-ds",
    )
    if found.status != 0 or found.x is None:
        raise NotSolvedError(
            f"hamming: HiGHS did not solve the linear program of {count} distributions over {size} "
            f"categories ({found.message}); state the source by fewer distributions"
        )
    numbers, multipliers = found.x.tolist(), (-found.ineqlin.marginals[:count]).tolist()
    weights, scale = numbers[:size], numbers[size]
    # scale >= max w where HiGHS keeps its constraints; sum w / scale >= 1 at an optimum
    scale = max(*weights, min(scale, sum(weights)))
    hardest = (_mixture(source, shares) for shares in _ways(multipliers, max(multipliers)))
    return Proposal(tuple(map(_at_least_one, _ways(weights, scale))), tuple(hardest))


def _ways(numbers: Sequence[float], one: float) -> Iterator[tuple[Fraction, ...]]:
    """The numbers / `one`, cut to 0..1, as short fractions and as they are."""
    shares = [Fraction(min(1.0, max(0.0, number / one))) for number in numbers]
    short = tuple(share.limit_denominator(_SHORT) for share in shares)
    if lcm(*(share.denominator for share in short)) <= _LONG:
        yield short
    yield tuple(shares)


def _at_least_one(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The weights, enlarged where their sum is below one."""
    total = min(Fraction(1), sum(weights, Fraction(0)))
    return tuple(weight / total for weight in weights)


def _mixture(source: Source, weights: Sequence[Fraction]) -> Distribution:
    """The mixture of the vertices with these weights, whatever they sum to."""
    total = sum(weights, Fraction(0))
    used = [
        (weight / total, shares) for weight, shares in zip(weights, source.vertices, strict=True) if weight
    ]
    columns = range(source.cardinality)
    return tuple(sum((weight * shares[i] for weight, shares in used), Fraction(0)) for i in columns)
