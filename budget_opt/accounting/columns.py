"""What the reports of one column give away of its values to somebody who sees that column alone.

Letters: pi the prior, r the cardinality, t = P(report = truth), o = P(report = one given other category), t
and o being fractions of the sampler's integers, t >= o. For a report y

    P(truth = y | report = y) = pi_y t / (pi_y t + (1 - pi_y) o)
    P(best guess is right)    = sum over y of max_x pi_x P(y | x) = sum over y of max(pi_y t, max pi o)

and the odds of two categories move by t / o at most. All of it is exact, and rounded up where it becomes a
double: what an attacker gains is never said to be less than it is. Other columns may carry the same value,
so these figures do not bound what is learned of it from a whole record (DESIGN 2.1; see `joint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from budget_opt.allocation.allocation import AllocatedAttribute
from budget_opt.mechanisms.exact import exact, float_at_least

PriorKind = Literal["uniform", "marginal", "stated"]
"""Every category alike; the problem's marginal; or what the caller says that people believe."""


@dataclass(frozen=True)
class ColumnAlone:
    """The figures of one attribute; probabilities and the factor are rounded up.

    - `released` is False where the report does not depend on the truth, so that nothing is learned.
    - `odds_factor`: the most by which a report can change the odds of any two categories; `loss` is its
      logarithm in nats.
    - `truth_reported`: the probability that a value is reported as it is.
    - `believed`: the least and the largest probability, over the categories that are possible under the
      `prior`, that a reported category is the true one.
    - `guess_without`, `guess_with`: how probable the best guess of a value is right, before the report is
      seen and after it.
    """

    name: str
    cardinality: int
    released: bool
    loss: float
    odds_factor: float
    truth_reported: float
    prior: PriorKind
    believed: tuple[float, float]
    guess_without: float
    guess_with: float


def column_alone(
    attribute: AllocatedAttribute, prior: Sequence[Fraction] | None, kind: PriorKind
) -> ColumnAlone:
    """The figures under a prior, one share a category with sum 1; None for the uniform one."""
    r, sampler = attribute.cardinality, attribute.sampler
    truth = Fraction(1, r) if sampler is None else sampler.truth_probability
    other = Fraction(1, r) if sampler is None else sampler.other_probability
    # a uniform prior needs no list: there may be a million categories
    shares = [Fraction(1, r)] if prior is None else sorted(set(prior) - {Fraction(0)})
    most = shares[-1]
    after = r * most * truth if prior is None else sum(max(share * truth, most * other) for share in prior)
    return ColumnAlone(
        name=attribute.name,
        cardinality=r,
        released=sampler is not None,
        loss=attribute.loss,
        odds_factor=1.0 if sampler is None else float_at_least(sampler.likelihood_ratio),
        truth_reported=float_at_least(truth),
        prior=kind,
        believed=(_believed(shares[0], truth, other), _believed(most, truth, other)),
        guess_without=float_at_least(most),
        guess_with=float_at_least(Fraction(after)),
    )


def _believed(share: Fraction, truth: Fraction, other: Fraction) -> float:
    """P(truth = y | report = y), which grows with the prior share of y."""
    return float_at_least(share * truth / (share * truth + (1 - share) * other))


def normalized(shares: Sequence[float]) -> list[Fraction]:
    """Shares as exact decimals, divided by their sum, which is above 0."""
    stated = [exact(share) for share in shares]
    total = sum(stated, Fraction(0))
    return [share / total for share in stated]
