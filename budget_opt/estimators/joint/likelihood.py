"""Maximum likelihood of a joint table from its noisy counts, by expectation-maximization.

Letters: Q the shares of the truth, y those of the reports, L = P^T Q the law of reports, g = P (y / L).
The log-likelihood a row, sum y log L, is concave in Q. A step of expectation-maximization is Q <- Q g
(the iterative Bayesian update of Agrawal and Aggarwal 2001): it never lowers the likelihood and keeps Q
on the simplex. Since sum Q g = 1 and g is the gradient, concavity gives for every Q

    maximum - log-likelihood(Q)  <=  max g - 1                                      (`gap`, a proved bound)

and Q is a maximum if and only if g <= 1, with g = 1 where Q > 0 (Kuhn and Tucker). Steps are accelerated
by SQUAREM (Varadhan and Roland 2008, steplength S3): of two steps x1, x2 from x0, with r = x1 - x0 and v
= x2 - 2 x1 + x0, the point x0 + 2 a r + a^2 v, a = |r| / |v|, is tried, and dropped where the likelihood
is lower there.

Tables may have a last axis of several data sets more than there are channels; each is fitted by itself,
in lockstep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray, along_all

TOLERANCE = 1e-8
"""Convergence: how far the log-likelihood a row may be below its maximum."""
MOST_STEPS = 6000
_LEAST_LAW = 1e-300
_START_SPREAD = 1e-3
"""Share of the uniform law in each marginal of the start: expectation-maximization never leaves a zero."""

Stop = Literal["convergence", "held-out likelihood", "number of steps", "too few rows"]


@dataclass(frozen=True)
class LikelihoodFit:
    """Shares fitted by likelihood, with the way there.

    `trace` is the log-likelihood a row of the start and of the accepted points after it: it never
    decreases. `iterations` counts the steps, three to a cycle of SQUAREM. `gap` is a proved bound of how
    much the log-likelihood a row is below its maximum at the end of the trace. `stopped_by` says what
    ended it. `start_weight` is the share of the start in `shares`, where these are a mean over the way.
    """

    shares: FloatArray
    trace: tuple[float, ...]
    iterations: int
    gap: float
    stopped_by: Stop
    start_weight: float = 0.0


@dataclass(frozen=True)
class Step:
    """One step of expectation-maximization from a `point` to `shares`, and what it found on the way.

    `log_law` (of every cell), `log_likelihood` and `gap` are of the point.
    """

    point: FloatArray
    shares: FloatArray
    log_law: FloatArray
    log_likelihood: FloatArray
    gap: FloatArray


def step_of(shares: FloatArray, reports: FloatArray, channels: Sequence[Channel]) -> Step:
    """One step from `shares`; `reports` are shares too, of the same shape."""
    axes = tuple(range(len(channels)))
    # only a channel with retention 1 can give a law of 0, in a cell without reports
    law = np.maximum(along_all(Channel.spread, channels, shares), _LEAST_LAW)
    log_law = np.log(law)
    gradient = along_all(Channel.expected, channels, reports / law)
    gap = np.asarray(np.maximum(gradient.max(axis=axes) - 1, 0.0))
    return Step(shares, shares * gradient, log_law, np.asarray((reports * log_law).sum(axis=axes)), gap)


@dataclass(frozen=True)
class Cycle:
    """One cycle of SQUAREM: the point after it, and the log-likelihoods of the points on the way."""

    shares: FloatArray
    trace: tuple[FloatArray, ...]
    gap: FloatArray


def cycle_of(shares: FloatArray, reports: FloatArray, channels: Sequence[Channel]) -> Cycle:
    """Two steps, and a third from the extrapolated point where that is not less likely."""
    first = step_of(shares, reports, channels)
    second = step_of(first.shares, reports, channels)
    tried = _extrapolated(shares, first.shares, second.shares, axes=tuple(range(len(channels))))
    third = step_of(tried, reports, channels)
    better = third.log_likelihood >= second.log_likelihood
    shares = np.where(better, third.shares, second.shares)
    reached = np.maximum(third.log_likelihood, second.log_likelihood)
    return Cycle(shares, (first.log_likelihood, second.log_likelihood, reached), first.gap)


def maximum_likelihood(
    reports: FloatArray,
    channels: Sequence[Channel],
    start: FloatArray | None = None,
    *,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
) -> LikelihoodFit:
    """The shares that make the released shares `reports` likeliest, an axis a channel.

    Stops where the log-likelihood a row is proved to be within `tolerance` of its maximum, at the latest
    after `most_steps` steps. `start` must be > 0 where a share may become so; default: the product of
    marginals.
    """
    shares = product_start(reports, channels) if start is None else start
    trace: list[float] = []
    for done in range(0, most_steps, 3):
        cycle = cycle_of(shares, reports, channels)
        if float(cycle.gap) <= tolerance:
            trace.append(float(cycle.trace[0]))
            return LikelihoodFit(shares, tuple(trace), done, float(cycle.gap), "convergence")
        trace.extend(float(value) for value in cycle.trace)
        shares = cycle.shares
    last = step_of(shares, reports, channels)
    trace.append(float(last.log_likelihood))
    return LikelihoodFit(shares, tuple(trace), most_steps, float(last.gap), "number of steps")


def product_start(reports: FloatArray, channels: Sequence[Channel]) -> FloatArray:
    """The product of the marginals' shares, none of them 0; of each data set where there are several."""
    batch = reports.shape[len(channels) :]
    product = np.ones((1,) * len(channels) + batch)
    for axis, channel in enumerate(channels):
        others = tuple(other for other in range(len(channels)) if other != axis)
        marginal = np.maximum(channel.corrected(reports.sum(axis=others, keepdims=True), axis), 0.0)
        marginal = marginal / marginal.sum(axis=axis, keepdims=True)
        product = product * ((1 - _START_SPREAD) * marginal + _START_SPREAD / channel.cardinality)
    return product


def _extrapolated(x0: FloatArray, x1: FloatArray, x2: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """x0 + 2 a r + a^2 v with a >= 1, and x2 in the cells that this makes negative; normalised."""
    r, v = x1 - x0, x2 - 2 * x1 + x0
    size, bend = (r * r).sum(axis=axes), (v * v).sum(axis=axes)
    a = np.sqrt(np.divide(size, bend, out=np.ones_like(np.asarray(size)), where=bend > 0))
    a = np.maximum(a, 1.0)
    tried = x0 + 2 * a * r + a * a * v
    tried = np.where(tried > 0, tried, x2)
    shares: FloatArray = tried / tried.sum(axis=axes, keepdims=True)
    return shares
