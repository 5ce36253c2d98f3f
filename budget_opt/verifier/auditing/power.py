"""What an audit can notice, told before it begins."""

from __future__ import annotations

from budget_opt.allocation import AllocatedAttribute
from budget_opt.mechanisms.randomized_response import retention
from budget_opt.verifier.auditing.intervals import lower
from budget_opt.verifier.auditing.kept import log_others, loss_at_least, loss_of_truth
from budget_opt.verifier.binomial import acceptance

POWER = 0.9
"""The probability with which a fault of the stated size is noticed."""


def noticeable_epsilon(attribute: AllocatedAttribute, records: int, error: float) -> float:
    """The least epsilon (nats) that is noticed in 9 audits of 10, by the count of kept cells alone.

    Of a sampler that randomizes as it should, but with more than the allocation's epsilon; inf where these
    records cannot show any.
    """
    others = log_others([attribute.cardinality])
    allowed = largest_truth(attribute.epsilon, float(attribute.cardinality))
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
