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

from budget_opt.certificate.lagrangian import stationary
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

_STEPS = 400
_SETTLED = 1e-13
"""Relative gain of a step below which a column has arrived."""
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


def shared_out(problem: Sum, pull: FloatArray) -> FloatArray:
    """max sum_m pull_m log lambda_m(e_m) under the total and the bounds, for every column of pull (n, S).

    Where no column can use all of the rest, everybody with a pull gets the upper bound.
    """
    r, low, high = (x[:, None] for x in (problem.cardinality, problem.lower, problem.upper))
    scale = np.maximum(np.max(pull, axis=0), 1e-300)
    pull = pull / scale
    nothing = np.zeros_like(pull)

    def split(price: FloatArray) -> FloatArray:
        return np.clip(stationary(pull, nothing, np.broadcast_to(price, pull.shape), r), low, high)

    def excess(log_price: FloatArray) -> FloatArray:
        over: FloatArray = np.sum(split(np.exp(log_price)) - low, axis=0) / problem.rest - 1.0
        return over

    return _scaled(problem, split(np.exp(_root(excess, *_bracket(problem, pull)))))


def _bracket(problem: Sum, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithms of a price at which the total is overspent, if it can be, and of one at which it is not."""
    # at the upper bound's own slope and below an attribute takes all it may
    slope = rr.log_retention_slope(problem.upper, problem.cardinality)[:, None] * pull
    least = np.log(np.maximum(np.min(np.where(pull > 0, slope, np.inf), axis=0), 1e-300)) - 1.0
    # d log lambda / d e < 1 / e + 1: nobody takes more than an n-th of the rest
    most = np.full(pull.shape[1], np.log(1.0 + pull.shape[0] / problem.rest) + 1.0)
    return np.minimum(least, most - 1.0), most


def _root(
    excess: Callable[[FloatArray], FloatArray], least: FloatArray, most: FloatArray, steps: int = 22
) -> FloatArray:
    """The zero of a decreasing function in [least, most], elementwise, by the Illinois rule."""
    at_least, at_most = excess(least), excess(most)
    weight_least, weight_most = at_least, at_most
    point = most
    for _ in range(steps):
        with np.errstate(divide="ignore", invalid="ignore"):
            guess = (least * weight_most - most * weight_least) / (weight_most - weight_least)
        margin = 1e-3 * (most - least)
        point = np.where(np.isfinite(guess), np.clip(guess, least + margin, most - margin), most)
        value = excess(point)
        if np.max(np.abs(np.where(at_least > 0, value, 0.0)), initial=0.0) < 1e-11:
            break
        over = value > 0
        weight_most = np.where(over, 0.5 * weight_most, value)
        weight_least = np.where(over, value, 0.5 * weight_least)
        least, most = np.where(over, point, least), np.where(over, most, point)
    return np.where(at_least > 0, point, least)


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
    moving = np.arange(starts.shape[1])
    for _ in range(steps):
        if not moving.size:
            break
        check()
        following = shared_out(problem, problem.pulls(epsilon[:, moving]))
        reached = problem.values(following)
        better = reached >= value[moving]
        gained = reached - value[moving] > _SETTLED * value[moving]
        epsilon[:, moving[better]] = following[:, better]
        value[moving[better]] = reached[better]
        moving = moving[gained]
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
