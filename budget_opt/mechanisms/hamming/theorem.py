"""Least loss for a Hamming distortion, and least distortion for a loss, over every matrix: what is proved.

The displayed formulas of Kalantari, Sankar and Sarwate (2018) are derived anew here, for every class at once.

Letters: r categories, H the hull of the set of distributions, Q a matrix with likelihood ratio at most rho =
exp(epsilon), d_i = Q_ii, D = 1 - min over H of sum p_i d_i, and the share that y categories cover

    W(y) = max { min over p in H of sum p_i w_i :  0 <= w_i <= 1,  sum w_i = y },   concave, W(r) = 1.

THEOREM. The least D at rho is 1 - max over 1 <= y <= r of rho W(y) / (rho + y - 1), and the least rho for
D = 1 - c is the minimum over y with W(y) > c of c (y - 1) / (W(y) - c), or 1 where W(1) >= c.

Proof. Column j gives d_j <= rho Q_ij. In the row i of the largest d_i = A the entries sum to one, so that

    1 >= A + sum_(j != i) d_j / rho,   that is   rho (1 - A) >= sum_(j != i) d_j.                       (1)

With w = d / A, y = sum w >= 1 this is A <= rho / (rho + y - 1), and min over H of sum p_i d_i = A min sum p_i
w_i <= A W(y). Conversely `hamming.matrix.matrix_of` has these diagonals for any w. The second form solves the
first for rho. (1) in D_i = 1 - d_i is the paper's reduced form: epsilon = log(sum_(i >= 2) (1 - D_i) / D_1)
with D_1 the least: r variables, linear for given D_1.

Class I: the uniform distribution is in H, so W(y) <= y / r, and w = y / r attains it: y = r is the best.
Class II: for shares in decreasing order no w of sum y covers more than (1, ..., 1, rest, 0, ..., 0), for
every p at once, so W is as in `hamming.cover` and the best y is one of its corners. The best output alphabet
is the first ceil(y) categories. As D grows, c falls, the tangent from (1, c) to W touches further left, and
the alphabet shrinks, to k categories at D^(k) = 1 - W(k) + (k - 1) W'(k+).
Class III: W is the value of a linear program over the vertices (`hamming.program`).

BOUND. Any p in H proves a bound: under it alone y categories cover the sum of its y largest shares, whose
corners are the whole numbers. The p of the answer makes the two meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from budget_opt.mechanisms.hamming.cover import Corner


def symmetric_ratio(distortion: Fraction, cardinality: int) -> Fraction:
    """(r - 1)(1 - D) / D, at least 1: the least ratio for class I, at y = r; `distortion` > 0.

    The matrix is then randomized response, 1 - D = lambda + (1 - lambda) / r.
    """
    return max(Fraction(1), (cardinality - 1) * (1 - distortion) / distortion)


def distortion_is_at_least(hardest: Sequence[Fraction], ratio: Fraction) -> Fraction:
    """No matrix with this likelihood ratio (>= 1), or a smaller one, changes fewer cells of this source."""
    covered = accumulate(sorted(hardest, reverse=True))
    return 1 - max(ratio * share / (ratio + more) for more, share in enumerate(covered))


def ratio_is_at_least(hardest: Sequence[Fraction], distortion: Fraction) -> Fraction | None:
    """Every matrix that changes at most this share of cells of this source has this likelihood ratio.

    None where no finite one does: that is so at distortion 0, unless the source is a constant.
    """
    unchanged = 1 - distortion
    covered = list(accumulate(sorted(hardest, reverse=True)))
    if covered[0] >= unchanged:
        return Fraction(1)
    ratios = [
        unchanged * more / (share - unchanged) for more, share in enumerate(covered) if share > unchanged
    ]
    return max(Fraction(1), min(ratios)) if ratios else None


def tangent(points: Sequence[Corner], unchanged: Fraction) -> int | None:
    """The corner that needs the least ratio for this share of unchanged cells, the leftmost of several.

    Corner 0 where the first category alone is enough; None where no finite ratio is.
    """
    if points[0].share >= unchanged:
        return 0
    enough = [k for k, corner in enumerate(points) if corner.share > unchanged]
    return max(enough, key=lambda k: (points[k].share - unchanged) / (points[k].held - 1), default=None)


def best_corner(points: Sequence[Corner], ratio: Fraction) -> int:
    """The corner with the most unchanged cells at this ratio, the leftmost of several."""
    return max(range(len(points)), key=lambda k: points[k].share / (ratio + points[k].held - 1))


def thresholds_of(points: Sequence[Corner]) -> tuple[Fraction, ...]:
    """D^(1) >= ... >= D^(r-1): from distortion D^(k) on, k categories are the best output alphabet."""
    whole = [corner for corner in points[:-1] if corner.held.denominator == 1]
    return tuple(1 - corner.share + (corner.held - 1) * corner.slope for corner in whole)
