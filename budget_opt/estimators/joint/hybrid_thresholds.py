"""Where the hybrid switches: n*, epsilon* and w*, computed from the two error bounds (`error_bounds`).

With a = r (c - 1) of each attribute, G = sqrt(D (prod c - 1)) and delta the dependence, RR-Ind-Joint has
the smaller bound, G / sqrt(n) <= min(2, 2 delta + sum sqrt(a) / sqrt(n)), exactly where

    n >= n* = max(((G - sum sqrt(a)) / delta)^2, G^2) / 4.

With one attribute more, of r, c and a, G^2 becomes r c G^2 + D a >= 2 G^2 + 2 a >= (G + sqrt(a))^2, so that G
and G - sum sqrt(a) >= 0 grow; n* does too, and falls as epsilon rises (shown by tests, over many shapes). So
epsilon* is the one crossing of n*(epsilon) with n, and w* the last prefix of the attributes up to
which n* <= n. For the paper's bounds n* = prod L / (2 (1/max r - 1/D)), which need not grow with w: its
bound for RR-Independent does as well (two categories, epsilon 2: n* is 3.4 at w = 2, 3.0 at w = 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import brentq

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.joint.error_bounds import (
    joint_bound,
    paper_independent_bound,
    paper_joint_bound,
    worst_dependence,
)
from budget_opt.mechanisms.randomized_response import retention

LEAST_EPSILON, LARGEST_EPSILON = 1e-3, 36.0
"""Nats an attribute between which epsilon* is looked for: a retention above the last is 1 in doubles."""


@dataclass(frozen=True)
class Thresholds:
    """Where RR-Ind-Joint has the smaller bound, each with the other two as they are.

    From `n` records on, from `epsilon` (nats) an attribute on, and up to the first `w` attributes.

    `n` and `epsilon` are inf where no number is enough; `epsilon` is at least `LEAST_EPSILON`. `w` >= 1: of
    one attribute both estimates are its marginal.
    """

    n: float
    epsilon: float
    w: int


def hybrid_thresholds(
    cardinalities: Sequence[int],
    epsilon: float,
    n: float,
    *,
    rule: Literal["bounds", "paper"] = "bounds",
    dependence: float | None = None,
) -> Thresholds:
    """The thresholds for a table of attributes with these numbers of categories, each at `epsilon` (nats).

    `n` is the number of records. `dependence` is the AVD in 0 .. 1 between the table and the product of its
    marginals where it is known or assumed; None is the worst that there can be. Only "bounds" uses it.

    Raises `InputError` for fewer than two attributes or categories, numbers out of range, and another rule.
    """
    _check(cardinalities, epsilon, n, dependence)
    if rule not in {"bounds", "paper"}:
        raise InputError(f"rule: is {rule!r}, must be 'bounds' or 'paper': the third looks at a release.")

    def records(some: Sequence[int], at: float) -> float:
        channels = [Channel("", float(retention(at, r)), uniform(r)) for r in some]
        return _paper_records(channels) if rule == "paper" else _records(channels, dependence)

    return Thresholds(
        n=records(cardinalities, epsilon),
        epsilon=_least_epsilon(lambda at: records(cardinalities, at), n),
        w=_most_attributes(lambda w: records(cardinalities[:w], epsilon), n, len(cardinalities)),
    )


def _records(channels: Sequence[Channel], dependence: float | None) -> float:
    delta = worst_dependence(channels) if dependence is None else dependence
    whole = 2 * joint_bound(channels, 1.0)
    over = max(whole - 2 * math.fsum(joint_bound([channel], 1.0) for channel in channels), 0.0)
    if over == 0:
        return whole**2 / 4
    return max((over / delta) ** 2, whole**2) / 4 if delta > 0 else math.inf


def _paper_records(channels: Sequence[Channel]) -> float:
    return paper_joint_bound(channels, 1.0) / paper_independent_bound(channels)


def _least_epsilon(records: Callable[[float], float], n: float) -> float:
    if records(LARGEST_EPSILON) > n:
        return math.inf
    if records(LEAST_EPSILON) <= n:
        return LEAST_EPSILON
    return float(brentq(lambda at: math.log(records(at) / n), LEAST_EPSILON, LARGEST_EPSILON, xtol=1e-12))


def _most_attributes(records: Callable[[int], float], n: float, most: int) -> int:
    for w in range(2, most + 1):
        if records(w) > n:
            return w - 1
    return most


def _check(cardinalities: Sequence[int], epsilon: float, n: float, dependence: float | None) -> None:
    if len(cardinalities) < 2 or min(cardinalities) < 2:
        raise InputError(
            f"cardinalities: are {list(cardinalities)}; needs at least two attributes, each with at least "
            "two categories."
        )
    if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InputError(
            f"epsilon: is {epsilon!r}, must be from {LEAST_EPSILON:g} to {LARGEST_EPSILON:g} nats an "
            "attribute."
        )
    if not 1 <= n < math.inf:
        raise InputError(f"n: is {n!r}, must be a finite number of records, at least 1.")
    if dependence is not None and not 0 <= dependence <= 1:
        raise InputError(f"dependence: is {dependence!r}, must be an AVD, from 0 to 1.")
