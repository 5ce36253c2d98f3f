"""Monotone ascent of `weighted_sum` under a total alone, many starts at once (GLOBAL_SOLVER 1).

F(e) = sum_k w_k prod lambda is convex in log lambda, so its linearization there is a lower bound that
touches: maximizing it, sum_m g_m log lambda_m(e_m) with g_m = lambda_m dF/dlambda_m, never lowers F. That
problem is separable, with one multiplier and a closed form. Starts and moves stand in columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

_STEPS = 400
_SETTLED = 1e-13
"""Relative gain of a step below which a column has arrived."""
_NEWTONS, _EXACT = 40, 1e-11
"""Steps for a price at most, and the share of the rest that may be missed: what is left is scaled away."""
_WORK = 4_000_000
"""Elements (terms x columns) of one batch at most."""


@dataclass(frozen=True)
class Sum:
    """A weighted sum under sum(e - lower) <= rest: weights (K,), rows (K, n), and bounds (n,)."""

    weight: FloatArray
    rows: csr_array
    cardinality: FloatArray
    lower: FloatArray
    upper: FloatArray
    rest: float

    @cached_property
    def links(self) -> FloatArray:
        """The weight of the terms that two attributes share, (n, n)."""
        shared: FloatArray = (self.rows.T @ self.rows.multiply(self.weight[:, None])).toarray()
        np.fill_diagonal(shared, 0.0)
        return shared

    def values(self, epsilon: FloatArray) -> FloatArray:
        """F of every column of epsilon (n, S)."""
        kept = self.rows @ rr.log_retention(epsilon, self.cardinality[:, None])
        total: FloatArray = self.weight @ np.exp(kept)
        return total

    def pulls(self, epsilon: FloatArray) -> FloatArray:
        """g (n, S): lambda_m dF / dlambda_m."""
        kept = self.rows @ rr.log_retention(epsilon, self.cardinality[:, None])
        pulled: FloatArray = self.rows.T @ (self.weight[:, None] * np.exp(kept))
        return pulled


def shared_out(
    problem: Sum, pull: FloatArray, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """max sum_m pull_m log lambda_m(e_m) under the total and the bounds, for every column of pull (n, S).

    Where no column can use all of the rest, everybody with a pull gets the upper bound. Also returns the
    logarithms (S,) of the prices, which are good starts for pulls nearby.
    """
    r, low, high = (x[:, None] for x in (problem.cardinality, problem.lower, problem.upper))
    ratio = np.maximum(pull / np.maximum(np.max(pull, axis=0), 1e-300), 1e-300)
    least, most = _bracket(problem, ratio)
    price = np.clip(0.5 * (least + most) if start is None else start, least, most)
    for _ in range(_NEWTONS):
        with np.errstate(over="ignore"):
            free = rr.epsilon_for_log_retention_slope(np.exp(price) / ratio, r)
        epsilon = np.clip(free, low, high)
        over = np.sum(epsilon - low, axis=0) - problem.rest
        least, most = np.where(over > 0, price, least), np.where(over > 0, most, price)
        response = np.sum(_response(free, r) * ((free > low) & (free < high)), axis=0)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            newton = price + over / response
        settled = (np.abs(over) <= _EXACT * problem.rest) | (most - least <= _EXACT)
        if np.all(settled):
            break
        inside = (newton > least) & (newton < most)
        price = np.where(settled, price, np.where(inside, newton, 0.5 * (least + most)))
    return _scaled(problem, epsilon), price


def _response(epsilon: FloatArray, r: FloatArray) -> FloatArray:
    """How much epsilon falls as the logarithm of its price rises."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        response = rr.log_retention_slope(epsilon, r) / -rr.log_retention_curvature(epsilon, r)
    usable: FloatArray = np.where(np.isfinite(response), response, 0.0)  # at both ends of the range
    return usable


def _bracket(problem: Sum, ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithms of a price at which the total is overspent, if it can be, and of one at which it is not."""
    # at the upper bound's own slope and below an attribute takes all it may
    slope = rr.log_retention_slope(problem.upper, problem.cardinality)[:, None] * ratio
    least = np.log(np.maximum(np.min(np.where(ratio > 1e-300, slope, np.inf), axis=0), 1e-300)) - 1.0
    # d log lambda / d e < 1 / e + 1: nobody takes more than an n-th of the rest
    most = np.full(ratio.shape[1], np.log(1.0 + ratio.shape[0] / problem.rest) + 1.0)
    return np.minimum(least, most - 1.0), most


def _scaled(problem: Sum, epsilon: FloatArray) -> FloatArray:
    """The split with what lies above the lower bounds scaled to spend the rest, within upper bounds."""
    low, high = problem.lower[:, None], problem.upper[:, None]
    room = epsilon - low
    factor = problem.rest / np.maximum(np.sum(room, axis=0), 1e-300)
    # a large factor means that upper bounds, not the total, are what binds
    filled: FloatArray = np.minimum(low + room * np.where(factor < 1.01, factor, 1.0), high)
    return filled


def ascend(
    problem: Sum, starts: FloatArray, check: Callable[[], None], steps: int = _STEPS
) -> tuple[FloatArray, FloatArray]:
    """Local maxima (n, S) reached from every column of starts, and their values (S,)."""
    width = max(1, _WORK // max(problem.weight.size, 1))
    blocks = [
        _ascend_block(problem, starts[:, first : first + width], check, steps)
        for first in range(0, starts.shape[1], width)
    ]
    return np.hstack([block[0] for block in blocks]), np.concatenate([block[1] for block in blocks])


def _ascend_block(
    problem: Sum, starts: FloatArray, check: Callable[[], None], steps: int
) -> tuple[FloatArray, FloatArray]:
    epsilon, value = starts.copy(), problem.values(starts)
    moving, price = np.arange(starts.shape[1]), None
    for _ in range(steps):
        if not moving.size:
            break
        check()
        following, price = shared_out(problem, problem.pulls(epsilon[:, moving]), price)
        reached = problem.values(following)
        better = reached >= value[moving]
        gained = reached - value[moving] > _SETTLED * value[moving]
        epsilon[:, moving[better]] = following[:, better]
        value[moving[better]] = reached[better]
        moving, price = moving[gained], price[gained]
    return epsilon, value


def starts(problem: Sum, count: int, rng: np.random.Generator) -> FloatArray:
    """The even split, sparse random ones, and splits over sets grown along heavy links: (n, 3 count + 1)."""
    n = problem.lower.size
    sizes = rng.integers(min(2, n), n + 1, count)
    ranks = np.argsort(rng.random((n, count)), axis=0)
    sparse = np.where(ranks < sizes, rng.exponential(size=(n, count)), 0.0)
    shares = np.column_stack([np.ones(n), sparse, *(_grown(problem, rng) for _ in range(2 * count))])
    splits = problem.lower[:, None] + problem.rest * shares / np.sum(shares, axis=0)
    clipped: FloatArray = np.minimum(splits, problem.upper[:, None])
    return clipped


def within(problem: Sum, epsilon: FloatArray) -> FloatArray:
    """Any numbers (n,) as a split within the bounds that spends no more than the rest."""
    room = np.clip(epsilon, problem.lower, problem.upper) - problem.lower
    spent = float(np.sum(room))
    split: FloatArray = problem.lower + room * min(1.0, problem.rest / max(spent, 1e-300))
    return split


def _grown(problem: Sum, rng: np.random.Generator) -> FloatArray:
    """Random shares (n,) of a set that grows by the attribute with the heaviest noisy links in turn."""
    n = problem.lower.size
    links = problem.links * rng.exponential(size=(n, n))
    links = links + links.T
    chosen = np.zeros(n, dtype=bool)
    pull = rng.random(n)
    for _ in range(int(rng.integers(min(2, n), n + 1))):
        new = int(np.argmax(np.where(chosen, -np.inf, pull)))
        pull = links[new] + (pull if chosen.any() else 0.0)
        chosen[new] = True
    shares: FloatArray = np.where(chosen, 0.3 + rng.exponential(size=n), 0.0)
    return shares


def swapped(problem: Sum, epsilon: FloatArray, most: int) -> FloatArray:
    """Neighbours of a split (n,): an active and an idle attribute exchanged, one dropped, one added."""
    room = epsilon - problem.lower
    active = np.flatnonzero(room > 1e-6 * problem.rest)
    idle = np.flatnonzero(room <= 1e-6 * problem.rest)
    moves = []
    for i in active:
        dropped = epsilon.copy()
        dropped[i] = problem.lower[i]
        moves.append(dropped)
        for j in idle:
            exchanged = dropped.copy()
            exchanged[j] = min(problem.lower[j] + room[i], problem.upper[j])
            moves.append(exchanged)
    for j in idle:
        added = problem.lower + room * (active.size / (active.size + 1.0))
        added[j] = min(problem.lower[j] + problem.rest / (active.size + 1.0), problem.upper[j])
        moves.append(added)
    if not moves:
        return np.zeros((epsilon.size, 0))
    columns = np.column_stack(moves)
    if columns.shape[1] > most:
        best = np.argsort(-problem.values(columns), kind="stable")[:most]
        columns = columns[:, best]
    return columns
