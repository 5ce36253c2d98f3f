"""What an audit can notice, told before it begins."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from budget_opt.mechanisms.randomized_response import retention
from budget_opt.tables.binomial import acceptance
from budget_opt.verifier.auditing.events import LARGEST_TABLE
from budget_opt.verifier.auditing.intervals import lower, upper
from budget_opt.verifier.auditing.kept import log_others, loss_at_least, loss_of_truth
from budget_opt.verifier.auditing.settings import Settings

POWER = 0.9
"""The probability with which a fault of the stated size is noticed."""
_MISSED = (1 - POWER) / 2
"""Of two counts each misses with that."""


class Block(Protocol):
    """What is randomized as one: an attribute, or a cluster by its joint categories."""

    @property
    def cardinality(self) -> int:
        """r, the number of (joint) categories."""

    @property
    def epsilon(self) -> float:
        """The allocation's, in nats."""


class Noticed(NamedTuple):
    """The least epsilon (nats) that is noticed in 9 audits of 10, by the kind of fault; inf where none is.

    `truth`: the truth is kept too often, of all categories alike. `pair`: one category alone is kept too
    often, or one report too seldom given for one category; the worse of both.
    """

    truth: float
    pair: float


def noticeable(block: Block, settings: Settings, attributes: int) -> Noticed:
    """What an audit with so many attributes notices in this one."""
    truth = noticeable_epsilon(block, settings.explored, settings.share_of_all(attributes))
    return Noticed(truth, noticeable_in_pair(block, settings.explored, settings.share / attributes))


def noticeable_in_pair(block: Block, records: int, error: float) -> float:
    """The least epsilon (nats) of a fault of one pair of categories that the test of all pairs notices.

    Everything else is randomized response at the allocation's epsilon. Told from records / r records of each
    category; inf where a report that is never given for one category is not noticed, whose epsilon is.
    """
    r = block.cardinality
    if r * (r + 1) > LARGEST_TABLE:
        return math.inf
    n, share = records // r, error / (2 * r * (r + 1))
    truth = largest_truth(block.epsilon, float(r))
    other = (1 - truth) / (r - 1)
    return max(_too_seldom(truth, n, block.epsilon, share), _too_often(other, n, block.epsilon, share))


def _too_seldom(truth: float, n: int, epsilon: float, share: float) -> float:
    """Loss from a report that one category gives too seldom, against that of its own category."""
    low = _log(lower(acceptance(n, truth, _MISSED)[0], n, share))

    def shows(count: int) -> bool:
        return low - _log(upper(count, n, share)) > epsilon

    if not shows(0):
        return math.inf
    most = _last(n, shows)
    # P(K <= most) is 1 - _MISSED at the upper bound with that error
    return math.log(truth) - _log(upper(most, n, 1 - _MISSED))


def _too_often(other: float, n: int, epsilon: float, share: float) -> float:
    """Loss from one category that is kept too often, against the same report of another."""
    high = _log(upper(acceptance(n, other, _MISSED)[1], n, share))
    most = _last(n, lambda kept: _log(lower(kept, n, share)) - high <= epsilon)
    if most >= n:
        return math.inf
    return _log(lower(most + 1, n, 1 - _MISSED)) - math.log(other)


def _log(probability: Any) -> float:
    return math.log(probability) if probability > 0 else -math.inf


def _last(n: int, holds: Callable[[int], bool]) -> int:
    """The largest count in 0 .. n for which the condition holds; it holds at 0 and, where not, nor above."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def noticeable_epsilon(block: Block, records: int, error: float) -> float:
    """The least epsilon (nats) that is noticed in 9 audits of 10, by the count of kept cells alone.

    Of randomized response that draws all categories alike, with more than the allocation's epsilon (another
    background at that epsilon keeps fewer cells, and shows less); inf where these records cannot show any.
    """
    others = log_others([block.cardinality])
    allowed = largest_truth(block.epsilon, float(block.cardinality))
    needed = acceptance(records, allowed, error)[1] + 1
    if needed > records:
        return float("inf")
    # P(K >= needed) is POWER at the lower bound with that error
    return loss_of_truth(float(lower(needed, records, POWER)), others)


def largest_truth(epsilon: float, cardinality: float) -> float:
    """The largest P(report = truth), on average over truths, at this epsilon (nats)."""
    kept = float(retention(epsilon, cardinality))
    return kept + (1 - kept) / cardinality


def calls_to_notice(cardinalities: list[int], epsilon: float, error: float, most: int = 10**6) -> int | None:
    """Batches until one record that is left as it is in each of them shows; None above `most`."""
    others, low, high = log_others(cardinalities), 1, most
    if loss_at_least(high, high, others, error) <= epsilon:
        return None
    while low < high:
        middle = (low + high) // 2
        shows = loss_at_least(middle, middle, others, error) > epsilon
        low, high = (low, middle) if shows else (middle + 1, high)
    return low
