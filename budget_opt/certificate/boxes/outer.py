"""The outer maxima of all attributes and the price of the first row that goes with them (GLOBAL_SOLVER 4.1).

psi_i(z; mu) depends on the price mu of the first row through -mu b_i e. Each pass takes one Newton step of
every attribute
at the current price, sorts the prices at which attributes would rather stay at their lower ends, and moves
the price
to where the row is spent exactly: between two of them, or at one, whose attribute is then mixed of both ends.
Any price and any points give a bound; the passes only make it good.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.boxes.maxima import Psi, second_piece
from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, IntArray

_UNIT = 2.0**-53
_TINY = 1e-100
"""Nats below which a budget is tiny."""
_PASSES = 4
_UP = 6.0
"""Nats beyond log r from which a Newton step leads down well."""
_QUICK = 3.0
"""The most that epsilon responds to the logarithm of the price; far up it is 1."""
_SMALLEST = 1e-13
"""Of gain a nat; a smaller price is as good as 0."""
_FAR = 3.0
"""The most that the logarithm of the price moves in one pass."""


Hints = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Floors:
    """log lambda over-estimated by tangents at v; `pull` (M, B) sums the multipliers of its floors.

    `slope` d log lambda / d e, `log_v`, `e_v`, `v` at the tangent point.
    """

    pull: FloatArray
    slope: FloatArray
    log_v: FloatArray
    e_v: FloatArray
    v: FloatArray


@dataclass(frozen=True)
class OuterProblem:
    """psi without first price and floors; `row` (M, 1 or B), `limit` (B,), `rest` the other prices.

    `least`, `most` are epsilon at the ends; `start` where to begin:
    points, and points left and right of which the maxima should be; `price` (B,) a price to begin at.
    """

    psi: Psi
    row: FloatArray
    limit: FloatArray
    rest: FloatArray
    least: FloatArray
    most: FloatArray
    floors: Floors | None
    start: Hints
    price: FloatArray


@dataclass(frozen=True)
class Outer:
    """The price (B,) found and the maxima there, summed (B,) and each (M, B).

    `inside` leaves out the lower ends; `psi` is as maximized;
    theta of floors (M, B).

    `hints` serve the next evaluation; `on` (M, B) is the share with which an attribute stands at its
    stationary
    point, not at its lower end.
    """

    price: FloatArray
    value: FloatArray
    each: FloatArray
    inside: FloatArray
    psi: Psi
    theta: FloatArray | None
    hints: Hints
    on: FloatArray

    @property
    def point(self) -> FloatArray:
        """The stationary points (M, B)."""
        return self.hints[0]


def outer_maxima(problem: OuterProblem, passes: int = _PASSES) -> Outer:
    """The maxima at the best price found."""
    # no lambda is above `high`; of tiny budgets prices would overflow without it, of others the passes that
    # there are get farther from the larger floor
    most = np.where(problem.limit < _TINY, problem.psi.high, 1.0)
    gain = (np.abs(problem.psi.c) + np.abs(problem.psi.d) + problem.psi.d2) * most
    least_price = _SMALLEST * np.max(gain, axis=0) / np.maximum(problem.limit, 1e-300) + 1e-200
    price = np.maximum(problem.price, least_price)
    low, high = problem.psi.low, problem.psi.high
    z, left, right = (np.clip(hint, low, high) for hint in problem.start)
    far_up = np.clip(np.log(problem.psi.cardinality) + _UP, problem.least, problem.most)
    far = np.clip(rr.retention(far_up, problem.psi.cardinality), low, high)
    on = np.ones_like(z)
    for _ in range(passes):
        psi, _ = at_price(problem, price)
        step = _newton(psi, z, *_enclosure(psi, left, right, far))
        left, right = step.left, step.right
        price, on, e = _knapsack(problem, price, step)
        price = np.maximum(price, least_price)
        z = np.clip(rr.retention(e, psi.cardinality), psi.low, psi.high)
    psi, theta = at_price(problem, price)
    inside = _safe(psi, z, *_enclosure(psi, left, right, far))
    troubled = second_piece(psi)
    if troubled is not None:
        inside = np.maximum(inside, troubled)
    each = np.maximum(inside, psi.value(psi.low))
    return Outer(price, np.sum(each, axis=0), each, inside, psi, theta, (z, left, right), on)


def at_price(problem: OuterProblem, price: FloatArray) -> tuple[Psi, FloatArray | None]:
    """psi at a price of the first row, with floors' tangents mixed so that every price of e is >= 0."""
    paid = problem.row * price + problem.rest
    floors = problem.floors
    if floors is None:
        return replace(problem.psi, mu=paid), None
    wanted = floors.pull * floors.slope
    theta = np.clip(1.0 - np.divide(paid, wanted, out=np.ones_like(wanted), where=wanted > 0), 0.0, 1.0)
    paid = np.maximum(paid - (1.0 - theta) * wanted, 0.0)
    d = problem.psi.d + floors.pull * theta / floors.v
    return replace(problem.psi, mu=paid, d=d), theta


def _enclosure(
    psi: Psi, left: FloatArray, right: FloatArray, far: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where psi is convex: `left`, else the lower end; concave and falling: `right`, `far`, or the upper end.

    What held at another price need not hold at this one.
    """
    convex = psi.slopes(left)[1] >= 0
    beyond = psi.high
    for place in (far, right):
        g, s = psi.slopes(place)
        beyond = np.where((g < 0) & (s < 0), place, beyond)
    return np.where(convex, left, psi.low), beyond


@dataclass(frozen=True)
class _Step:
    """One Newton step: the epsilon it leads to, and the gain over the lower end there.

    `response` is that of epsilon to the logarithm
    of an attribute's price (<= 0), and what now encloses the stationary point.
    """

    e: FloatArray
    gain: FloatArray
    response: FloatArray
    left: FloatArray
    right: FloatArray


def _newton(psi: Psi, z: FloatArray, left: FloatArray, right: FloatArray) -> _Step:
    """A Newton step in e from z; to the middle where that leads outside."""
    r = psi.cardinality
    e = rr.epsilon_for_retention(z, r)
    p, p1 = inverse.slope_product(z, r)
    per = r / p
    charge = psi.nu * (z - psi.low) + psi.mu
    g = psi.c + psi.d + psi.d2 * z - psi.nu * e - charge * per
    s = psi.d2 + (charge * p1 / p - 2.0 * psi.nu) * per
    slope, bend = g / per, (s / per + g * p1 / r) / per
    convex, falls = s >= 0, (s < 0) & (g < 0)
    left = np.maximum(left, np.where(convex, z, left))
    right = np.minimum(right, np.where(falls, z, right))
    # psi rises by gross and falls by charge: the root of log gross - log charge, nearly linear in e
    gross, more = slope + charge, psi.nu / per
    usable = ~convex & (gross > 0) & (charge > 0)
    steep = np.divide(bend + more, gross, out=np.full_like(slope, -1.0), where=usable)
    steep -= np.divide(more, charge, out=np.zeros_like(slope), where=usable)
    usable &= steep < -1e-6
    steep = np.where(usable, steep, -1.0)
    ratio = np.divide(gross, charge, out=np.ones_like(slope), where=usable)
    own = np.divide(psi.mu, charge, out=np.zeros_like(slope), where=usable)
    e_left, e_right = rr.epsilon_for_retention(left, r), rr.epsilon_for_retention(right, r)
    new = e - np.log(ratio) / steep
    middle = 0.5 * (e_left + e_right)
    new = np.where(usable & (new >= e_left) & (new <= e_right), new, middle)
    # nothing falls below the upper end: that is the place
    at_end = ~falls & (right == psi.high) & ((psi.slopes(psi.high)[0] >= 0) | (psi.slopes(psi.high)[1] >= 0))
    new = np.where(at_end, e_right, new)
    gain = psi.value(z) - psi.value(psi.low) + np.where(convex, 1.0, 0.5) * slope * (new - e)
    return _Step(new, gain, np.where(usable & ~at_end, np.maximum(own / steep, -_QUICK), 0.0), left, right)


def _knapsack(
    problem: OuterProblem, price: FloatArray, step: _Step
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The price that spends the row, the share of each attribute that is on, and its epsilon there.

    Between two prices epsilon is taken to be linear in the logarithm of the price.
    """
    row = np.broadcast_to(problem.row, step.e.shape)
    wide = row * np.maximum(step.e - problem.least, 0.0)
    own = row * price
    response = step.response * np.divide(
        own, own + problem.rest, out=np.ones_like(own), where=own + problem.rest > own
    )
    # the relative price at which an attribute is indifferent between its point and its lower end
    paid = wide * price
    told = paid > 1e-100 * np.abs(step.gain)
    free = 1e100 * np.sign(step.gain)
    ratio = 1.0 + np.divide(step.gain, paid, out=free, where=told & (paid > 0))
    never = ratio <= 0  # better off at the lower end at any price
    wide, response = np.where(never, 0.0, wide), np.where(never, 0.0, response)
    switch = np.log(np.clip(ratio, np.exp(-_FAR), np.exp(_FAR)))
    order = np.argsort(-switch, axis=0, kind="stable")
    ranked = np.take_along_axis(switch, order, axis=0)
    widths = np.cumsum(np.take_along_axis(wide, order, axis=0), axis=0)
    responses = np.cumsum(np.take_along_axis(row * response, order, axis=0), axis=0)
    room = problem.limit - np.sum(row * problem.least, axis=0)
    spent = widths + ranked * responses  # at an attribute's own switch, with it on
    count = np.sum(spent < room, axis=0)  # so many are on for certain
    shift, partly = _crossing(ranked, widths, responses, room, count)
    shift = np.clip(shift, -_FAR, _FAR)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(order))[:, None], axis=0)
    on = ((rank < count) + (rank == count) * partly) * ~never
    e = np.clip(step.e + shift * response, problem.least, problem.most)
    return price * np.exp(shift), on, e


def _crossing(
    ranked: FloatArray,
    widths: FloatArray,
    responses: FloatArray,
    room: FloatArray,
    count: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """The log of the relative price that spends the row, and the share of the attribute at the crossing."""
    last = len(ranked) - 1
    here = np.minimum(count, last)
    above = np.maximum(count - 1, 0)

    def at(values: FloatArray, index: IntArray) -> FloatArray:
        taken: FloatArray = np.take_along_axis(values, index[None], axis=0)[0]
        return taken

    some = count > 0
    width, response = at(widths, above) * some, at(responses, above) * some
    switch = at(ranked, here)
    without = width + switch * response  # spent just before the next attribute turns on
    exact = np.divide(width - room, -response, out=np.full_like(room, -np.inf), where=response < 0)
    everyone = count > last
    between = everyone | (without >= room)
    shift = np.where(between, np.where(np.isfinite(exact), exact, switch), switch)
    shift = np.where(everyone & ~np.isfinite(exact), -_FAR, shift)
    gained = at(widths, here) + switch * at(responses, here) - without
    partly = np.divide(room - without, gained, out=np.zeros_like(room), where=gained > 0)
    return shift, np.where(between, 0.0, np.clip(partly, 0.0, 1.0))


def _safe(psi: Psi, z: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """An upper bound of psi on [L, U] outside its value at L, from any z (GLOBAL_SOLVER_PROOFS 1)."""
    g, s = psi.slopes(z)
    left, slack = np.minimum(left, z), psi.evaluation_error(z)
    far = np.maximum(right, z)
    bound = psi.value(z) + np.maximum((g + slack) * (far - z), (slack - g) * (z - left))
    right_g, right_s = psi.slopes(right)
    ends = right_s >= 0
    # the stationary point lies left of `right`, under the tangent there, and right of z where psi is convex
    nearest = np.where(s >= 0, np.minimum(z, right), np.minimum(left, right))
    fall = np.maximum(psi.evaluation_error(right) - right_g, 0.0) * (right - nearest)
    under = psi.value(right) + np.where(ends, 0.0, fall)
    bound = np.where((s >= 0) | ends, under, np.minimum(bound, np.where(right_g < 0, under, np.inf)))
    return bound + psi.evaluation_error(left) * (left - psi.low)
