"""What all reports of a record give away of one of its attributes, under a public joint distribution.

Letters: pi a joint distribution over attributes S, a one of them, v and w two of its values. The reports y
of all of S change the odds of a = v against a = w by P(y | a = v) / P(y | a = w), where

    P(y | a = v) = P_a(y_a | v) G_v(y_rest),
    G_v(y_rest)  = sum over x_rest of pi(x_rest | v) prod_m P_m(y_m | x_m),

so the largest change is t_a / o_a, reached at y_a = v, times the largest G_v(y_rest) / G_w(y_rest). G takes
one small matrix along each axis in turn, never a Kronecker matrix. It is computed in whole numbers, the
table in its smallest unit and the matrices as the counts of the samplers, so the figures are exact, and
only rounded up at the end. A value of probability 0 is believed by nobody, whatever is reported, and has no
odds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.allocation.allocation import AllocatedAttribute, Allocation
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least, log_at_least
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.domain import Label

MOST_CELLS = 2**17
"""Cells of a joint table: exact whole numbers of any length take about 0.2 s for each attribute there."""

Whole = npt.NDArray[np.object_]
"""Python's integers, which never overflow."""


@dataclass(frozen=True)
class LearnedOfAttribute:
    """What the reports of all attributes of a joint give away of one; logarithms in nats, all rounded up.

    - `own_loss`: what the attribute's own column does to its odds.
    - `log_odds`: the most that all reports of the joint's attributes do to them: at least `own_loss`, at
      most the sum of the losses. It is reached for the value `more` against the value `less`.
    - `log_odds_with_others`: a bound for the reports of the whole record, whatever the attributes outside
      the
      joint have to do with it: `log_odds` and the losses of these.
    - `guess_without`, `guess_own`, `guess_with`: how probable the best guess of its value is right under
      the
      joint: without any report, from its own column, and from all reports of the joint's attributes.
    - `impossible`: values of probability 0 in the joint, which are left out.
    """

    name: str
    own_loss: float
    log_odds: float
    log_odds_with_others: float
    more: Label | None
    less: Label | None
    guess_without: float
    guess_own: float
    guess_with: float
    impossible: tuple[Label | None, ...]


@dataclass(frozen=True)
class LearnedUnderJoint:
    """The same for every attribute of a joint; `sum_loss` is the sum of their losses, `others` the rest."""

    attributes: tuple[str, ...]
    sum_loss: float
    others: float
    learned: tuple[LearnedOfAttribute, ...]


def learned_under(allocation: Allocation, names: Sequence[str], table: Whole) -> LearnedUnderJoint:
    """The figures under a joint of distinct attributes: whole numbers >= 0, not all 0, an axis each."""
    members = [allocation[name] for name in names]
    losses = exact_sum(member.loss for member in members)
    others = exact_sum(one.loss for one in allocation.attributes) - losses
    return LearnedUnderJoint(
        attributes=tuple(names),
        sum_loss=float_at_least(losses),
        others=float_at_least(others),
        learned=tuple(_learned(members, axis, table, others) for axis in range(len(members))),
    )


def whole_numbers(table: npt.NDArray[Any]) -> Whole:
    """Counts or shares >= 0 as whole numbers in proportion; a double stands for its decimal."""
    if np.issubdtype(table.dtype, np.integer):
        return table.astype(object)
    stated = [exact(share) for share in table.ravel().tolist()]
    unit = math.lcm(*(share.denominator for share in stated))
    counts = np.empty(len(stated), dtype=object)
    counts[:] = [share.numerator * (unit // share.denominator) for share in stated]
    return counts.reshape(table.shape)


def _learned(
    members: Sequence[AllocatedAttribute], axis: int, table: Whole, others: Fraction
) -> LearnedOfAttribute:
    attribute = members[axis]
    reports = table
    for m, member in enumerate(members):
        if m != axis:
            reports = _seen_through(member.sampler, reports, m)
    seen = np.moveaxis(reports, axis, 0).reshape(attribute.cardinality, -1)
    weight = np.moveaxis(table, axis, 0).reshape(attribute.cardinality, -1).sum(axis=1)
    possible = [v for v in range(attribute.cardinality) if weight[v]]
    odds, more, less = _largest_odds(seen, weight, possible)
    own = Fraction(1) if attribute.sampler is None else attribute.sampler.likelihood_ratio
    known = len(possible) < 2
    labels = attribute.domain.labels
    log_odds = 0.0 if known else log_at_least(own * odds)
    return LearnedOfAttribute(
        name=attribute.name,
        own_loss=attribute.loss,
        log_odds=log_odds,
        log_odds_with_others=0.0 if known else float_at_least(exact(log_odds) + others),
        more=None if known else labels[more],
        less=None if known else labels[less],
        guess_without=float_at_least(Fraction(max(weight), sum(weight))),
        guess_own=_guess(attribute.sampler, weight.reshape(-1, 1)),
        guess_with=_guess(attribute.sampler, seen),
        impossible=tuple(label for v, label in enumerate(labels) if not weight[v]),
    )


def _seen_through(sampler: Sampler | None, counts: Whole, axis: int) -> Whole:
    """The counts as the reports of one attribute show them, times 2^b; summed out where none is released."""
    total: Whole = counts.sum(axis=axis, keepdims=True)
    if sampler is None:
        return total
    kept = 2**sampler.bits - sampler.cardinality * sampler.q
    mixed: Whole = counts * kept + total * sampler.q
    return mixed


def _largest_odds(seen: Whole, weight: Whole, possible: Sequence[int]) -> tuple[Fraction, int, int]:
    """The largest (seen_v / weight_v) / (seen_w / weight_w) of one column of `seen`; with v and w."""
    above = _extreme(seen, weight, possible, 1)
    below = _extreme(seen, weight, possible, -1)
    best, more, less = (1, 1), possible[0], possible[-1]
    for column, (v, w) in enumerate(zip(above, below, strict=True)):
        ratio = (seen[v, column] * weight[w], seen[w, column] * weight[v])
        if ratio[0] * best[1] > best[0] * ratio[1]:
            best, more, less = ratio, int(v), int(w)
    return Fraction(*best), more, less


def _extreme(seen: Whole, weight: Whole, possible: Sequence[int], sign: int) -> npt.NDArray[np.intp]:
    """Which of the possible v has the largest (sign 1) or least (sign -1) seen_v / weight_v, by column."""
    found = np.full(seen.shape[1], possible[0])
    value, by = seen[possible[0]], np.full(seen.shape[1], weight[possible[0]], dtype=object)
    for v in possible[1:]:
        better = (sign * (seen[v] * by - value * weight[v]) > 0).astype(bool)
        found[better], value = v, np.where(better, seen[v], value)
        by = np.where(better, weight[v], by)
    return found


def _guess(sampler: Sampler | None, seen: Whole) -> float:
    """P(best guess is right) = sum over columns and own reports y of max(seen_y t, max seen o), over all."""
    largest = seen.max(axis=0)
    if sampler is None:
        return float_at_least(Fraction(largest.sum(), seen.sum()))
    truth = 2**sampler.bits - (sampler.cardinality - 1) * sampler.q
    right = np.maximum(seen * truth, largest * sampler.q).sum()
    return float_at_least(Fraction(right, seen.sum() * 2**sampler.bits))
