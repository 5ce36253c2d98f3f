"""The hybrid of Castell (2022): RR-Ind-Joint where its error is the smaller one, RR-Independent elsewhere.

Which it is, is decided by one of three rules:

- "bounds": by the proved bounds (J) and (I) of `error_bounds`, from n, epsilon and the cardinalities alone:
  nothing is estimated. It guards against the worst dependence that there can be, 1 - max r / D, which real
  tables are far from, so that it takes the unbiased table too often.
- "estimated", the default: the same two errors, estimated from the release (`estimated_errors`).
- "paper": by the paper's two bounds, of which the second is none (`error_bounds` says why).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.joint.error_bounds import (
    dependence_bound,
    independent_bound,
    joint_bound,
    paper_independent_bound,
    paper_joint_bound,
    worst_dependence,
)
from budget_opt.estimators.joint.independent import corrected_marginals, product_of
from budget_opt.estimators.joint.solution import Solution
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts

Rule = Literal["estimated", "bounds", "paper"]


@dataclass(frozen=True)
class Errors:
    """The error of RR-Ind-Joint (`joint`) and that of RR-Independent, by one rule, in one unit.

    AVD for "estimated" and "bounds", the error of a cell for "paper".
    """

    joint: float
    independent: float

    @property
    def takes_joint(self) -> bool:
        """True where RR-Ind-Joint is taken; where both are the same, too."""
        return self.joint <= self.independent


def hybrid(counts: Counts, channels: Sequence[Channel], *, rule: Rule = "estimated") -> FloatArray:
    """The unbiased table (cells may be negative) or the product of marginals, whichever errs less by `rule`.

    Raises `InputError` for another rule.
    """
    chosen = unbiased if errors_by(rule, counts, channels).takes_joint else _independent
    return chosen(counts, channels)


def hybrid_solution(counts: Counts, channels: Sequence[Channel]) -> Solution:
    """The hybrid by the default rule, with a note that says what was taken and why."""
    joint, marginals = unbiased(counts, channels), corrected_marginals(counts, channels)
    product = product_of(marginals)
    errors = _estimated(counts, channels, joint, marginals)
    taken = "the unbiased table" if errors.takes_joint else "the product of the marginals"
    note = (
        f"The hybrid is {taken}: the estimated AVD of the unbiased table is {errors.joint:.3g}, that of the "
        f"product of the marginals {errors.independent:.3g}."
    )
    return Solution(joint if errors.takes_joint else product, (note,))


def errors_by(rule: Rule, counts: Counts, channels: Sequence[Channel]) -> Errors:
    """Both errors by this rule; `InputError` for another."""
    if rule == "estimated":
        return estimated_errors(counts, channels)
    return bounded_errors(rule, channels, counts.effective)


def bounded_errors(rule: Rule, channels: Sequence[Channel], n: float) -> Errors:
    """Both errors by a rule that looks at no release; `InputError` for another rule."""
    if rule == "bounds":
        dependence = worst_dependence(channels)
        return Errors(joint_bound(channels, n), independent_bound(channels, n, dependence))
    if rule == "paper":
        return Errors(paper_joint_bound(channels, n), paper_independent_bound(channels))
    raise InputError(f"rule: is {rule!r}, must be one of {', '.join(map(repr, get_args(Rule)))}.")


def estimated_errors(counts: Counts, channels: Sequence[Channel]) -> Errors:
    """Estimates of both errors from the release, s_x^2 the variance of J(x) given the original table.

    A cell's error is nearly normal, so that E AVD(J, P) = sum s_x / sqrt(2 pi). For any weights v > 0 with
    sum 1

        AVD(P, Q) <= 1/2 sqrt(sum (P - Q)^2 / v)                                       (Cauchy-Schwarz)

    and (J - Q)^2 - s^2 estimates (P - Q)^2. The bound is tightest at v = |P - Q|, which is large where Q
    is, but not 0 elsewhere: v is the mean of Q and 1/D. Never more than (Q) of `error_bounds` for the
    estimated marginals.
    """
    return _estimated(counts, channels, unbiased(counts, channels), corrected_marginals(counts, channels))


def _estimated(
    counts: Counts, channels: Sequence[Channel], joint: FloatArray, marginals: Sequence[FloatArray]
) -> Errors:
    product = product_of(marginals)
    squares = along_all(Channel.squared, channels, counts.shares)
    variance = np.maximum(squares - joint, 0.0) / counts.effective
    weights = (product + 1 / product.size) / 2
    dependence = float(np.sum(((joint - product) ** 2 - variance) / weights))
    return Errors(
        joint=float(np.sum(np.sqrt(variance))) / math.sqrt(2 * math.pi),
        independent=min(math.sqrt(max(dependence, 0.0)) / 2, dependence_bound(marginals)),
    )


def _independent(counts: Counts, channels: Sequence[Channel]) -> FloatArray:
    return product_of(corrected_marginals(counts, channels))
